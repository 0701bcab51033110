"""What a strategy is given: the windows, whether pieces may overlap, and the cost to reduce."""

from __future__ import annotations

from dataclasses import dataclass

from muntin.cost import CostModel
from muntin.errors import StrategyError, did_you_mean
from muntin.slicing import SLICINGS
from muntin.windows import Window


@dataclass(frozen=True, slots=True)
class Problem:
    """One planning problem; `slicing` is how each window of an execution tree is cut."""

    windows: tuple[Window, ...]
    idempotent: bool
    cost: CostModel
    slicing: str = "pairs"

    def __post_init__(self) -> None:
        if self.slicing not in SLICINGS:
            known = did_you_mean(self.slicing, SLICINGS)
            raise StrategyError(f"unknown slicing {self.slicing!r}: {known}")

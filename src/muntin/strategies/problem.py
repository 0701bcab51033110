"""What a strategy is given: the windows, whether pieces may overlap, and the cost to reduce."""

from __future__ import annotations

from dataclasses import dataclass

from muntin.cost import CostModel
from muntin.windows import Window


@dataclass(frozen=True, slots=True)
class Problem:
    """One planning problem."""

    windows: tuple[Window, ...]
    idempotent: bool
    cost: CostModel

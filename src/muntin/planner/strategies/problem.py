"""What a strategy is given: windows, whether pieces may overlap, the cost to reduce, a budget."""

from __future__ import annotations

from dataclasses import dataclass, field

from muntin.cost import CostModel
from muntin.errors import StrategyError, is_one_of, unknown
from muntin.model.windows import Window
from muntin.plan.coverage import EdgeKind
from muntin.plan.slicing import SLICINGS, cuts_ends
from muntin.planner.strategies.budget import Budget


@dataclass(frozen=True, slots=True)
class Problem:
    """One planning problem; `slicing` is how each window of an execution tree is cut.

    Searches count their steps in `budget`, which has no limit unless one is given.
    """

    windows: tuple[Window, ...]
    idempotent: bool
    cost: CostModel
    slicing: str = "pairs"
    budget: Budget = field(default_factory=Budget, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not is_one_of(self.slicing, SLICINGS):
            raise StrategyError(unknown("slicing", self.slicing, SLICINGS))

    def kind(self, window: Window) -> EdgeKind:
        """How the window reads the slices of its tree, which are cut at its ends or are not.

        The other windows of the tree do not matter: if one of them happens to cut there, the last
        slice that is read is already complete.
        """
        return EdgeKind.WHOLE if cuts_ends(window, self.slicing) else EdgeKind.PREFIX

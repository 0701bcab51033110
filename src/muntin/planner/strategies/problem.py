"""What a strategy is given: windows, whether pieces may overlap, the cost to reduce, a budget.

The budget says how much work a strategy may do, counted and never timed.

A step is about a microsecond's work on an ordinary core: an edge weighed, a few cuts compared. What
a strategy has to do depends on the windows alone, and so does whether it is within the budget: a
plan is the same on every machine, however fast or busy.

    steps a strategy may take     BASE + EACH · windows, but of no more than MANY windows

That is 117,000 steps for 20 windows and 950,000 for 1,000. Some strategies have more or fewer
shares of it (`strategies.SHARES`): `steiner` and weaving, which find the cheapest plans, have two;
those that look at every pair of windows or more have none, which leaves them BASE.
Nor may planning take longer than it could save: under `auto` all strategies together take no more
than WORTH steps for each second that a plan could be faster than the best so far, by the least that
each operator's plans take; and each strategy that finds nothing better halves what is expected of
the next. So strategies that find much in few steps come first.

A strategy over its budget stops (`BudgetError`): "auto" leaves it out and explain() says so;
one that the user named may take `NAMED` times as much, and is refused beyond. Strategies that
divide windows into trees stop; `steiner`, which improves a plan that it has, ends with that plan.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from muntin.cost import CostModel
from muntin.errors import BudgetError, StrategyError, is_one_of, unknown
from muntin.model.windows import Window
from muntin.plan.coverage import EdgeKind
from muntin.plan.slicing import SLICINGS, cuts_ends

BASE = 100_000
"""Steps for any number of windows."""
EACH = 850
"""More steps for each window."""
MANY = 1_125
"""Windows beyond which there are no more steps: a few of the simpler strategies serve thousands."""
WORTH = 250_000
"""Steps for each second that a better plan could save: a quarter of it."""
NAMED = 10
"""How many times the budget a strategy has that was asked for by name."""


@dataclass(slots=True)
class Budget:
    """Counts steps, and ends a search that takes too many.

    >>> budget = Budget(100)
    >>> budget.spend(60); budget.left
    40
    >>> budget.spend(60)
    Traceback (most recent call last):
    muntin.errors.BudgetError: over the planning budget of 100 steps
    """

    limit: float = inf
    spent: int = 0

    @property
    def left(self) -> float:
        """Steps that may still be taken."""
        return self.limit - self.spent

    def spend(self, steps: int) -> None:
        self.require(steps)
        self.spent += steps

    def require(self, steps: int) -> None:
        """Stop now if these steps, which are sure to come, are too many."""
        if steps > self.left:
            raise BudgetError(f"over the planning budget of {self.limit:,.0f} steps")


UNLIMITED = Budget()
"""For callers that do not count."""


def budget_for(windows: int, shares: int = 1, named: bool = False, worth: float = inf) -> Budget:
    """What a strategy with so many shares may do for so many windows, or for what that is worth.

    >>> [budget_for(1_000, shares).limit for shares in (0, 1, 2)]
    [100000, 950000, 1900000]
    >>> budget_for(20).limit, budget_for(1_000, named=True).limit
    (117000, 9500000)
    """
    growing, least = EACH * min(windows, MANY), max(shares, 1)
    if named:
        return Budget(NAMED * least * (BASE + growing))
    return Budget(min(BASE * least + growing * shares, worth))


def worth_planning(saved: float, fruitless: int, spent: int) -> float:
    """Steps that are still worth taking, where no plan saves more than so many seconds.

    `fruitless` strategies in a row found nothing better.

    >>> worth_planning(2.0, 0, 60_000), worth_planning(2.0, 1, 60_000)
    (440000.0, 190000.0)
    """
    return max(WORTH * saved / 2.0**fruitless - spent, 0.0)


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

"""distinct: the distinct items of every window, each kept once by the instant it was last seen.

Nested windows share one state (`muntin.nesting`): a group of them is decided by the widest.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import get_args

from muntin.errors import QueryError, StrategyError, is_one_of, unknown
from muntin.model.choices import NestedLayout
from muntin.nesting.groups import Group
from muntin.nesting.questions import DistinctItems
from muntin.physical.operators.base import DataOperator
from muntin.physical.question import Question
from muntin.plan import SharingPlan
from muntin.plan.slicing.cuts import Cut, Slices, cut_everywhere, ends


class Distinct(DataOperator):
    """The operator of mt.distinct, on batches, on streams and in process."""

    name = "distinct"
    card = "the distinct items of every window, each kept once by the instant it was last seen"
    for_data_windows = False
    aggregates = False
    reserved: tuple[str, ...] = ("window_end", "last_seen", "expires", "windows")
    """Columns of the result that no key may be named as."""

    def refusal(self, plan: SharingPlan, question: Question) -> str | None:
        """It computes no aggregates."""
        return f"it runs mt.{self.name}, which has no aggregates"

    def check(self, layout: str, names: Sequence[str]) -> None:
        """Refuse an unknown layout, and columns that the result has itself."""
        if not is_one_of(layout, get_args(NestedLayout)):
            raise StrategyError(unknown("layout", layout, get_args(NestedLayout)))
        for name in names:
            if name in self.reserved:
                raise QueryError(f"{name!r} is a column of the result: rename it first")


DISTINCT = Distinct()

BATCH_STEPS = (
    "of each item and stretch between two ends the last appearance counts, until the next one"
)
"""How a batch finds the items, on Spark and in process alike."""

WRITTEN_OUT = 64
"""Up to this many kinds of ends are written out in one expression."""

_LAYOUTS = {
    "nested": "one row for each item and end of a group, for all windows that end there",
    "long": "one row for each window instance and item",
}


def describe(asked: DistinctItems, where: str, how: str) -> list[str]:
    """What mt.distinct runs, line by line: where, and how rows become items of windows."""
    query = asked.query
    filtered = [] if query.where is None else [f"rows where {query.where}"]
    return [
        f"distinct {', '.join(query.keys)} by {query.time}: {DISTINCT.name}, {where}",
        "",
        *filtered,
        *how.splitlines(),
        *(f"  group {number}: {_levels(group)}" for number, group in enumerate(asked.groups, 1)),
        f"result: {_LAYOUTS[asked.layout]}",
    ]


def _levels(group: Group) -> str:
    """The windows of a group, narrowest first; those that take a level's answers in brackets."""
    each = (
        " ".join([level.window.id, *(f"[{rider.id}]" for rider in level.piggybacked.values())])
        for level in group.levels
    )
    return " ⊂ ".join(each)


def stretches(groups: Sequence[Group]) -> Slices:
    """Slices between the ends of all seeds, and so of all windows.

    Within one, only the last appearance counts. Where there are too many kinds of ends for one
    expression, even steps that have them all.
    """
    cuts = cut_everywhere(ends(group.seed) for group in groups).cuts
    if len(cuts) > WRITTEN_OUT:
        step = gcd(*(n for cut in cuts for n in (cut.step, cut.phase - cuts[0].phase)))
        cuts = (Cut(step, cuts[0].phase % step),)
    return Slices(cuts)

"""distinct: the distinct items of every window, each kept once by the instant it was last seen.

Nested windows share one state (`muntin.nesting`): a group of them is decided by the widest.
"""

from __future__ import annotations

from muntin.physical.operators.base import DataOperator
from muntin.physical.question import Question
from muntin.plan import SharingPlan


class Distinct(DataOperator):
    """The operator of mt.distinct, on batches and on streams."""

    name = "distinct"
    card = "the distinct items of every window, each kept once by the instant it was last seen"
    for_data_windows = False
    aggregates = False

    def refusal(self, plan: SharingPlan, question: Question) -> str | None:
        """It computes no aggregates."""
        return f"it runs mt.{self.name}, which has no aggregates"


DISTINCT = Distinct()

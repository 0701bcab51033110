"""join: pairs of rows that meet in a window, each found once by the times of both.

Nested windows share one state (`muntin.nesting`): a group of them is decided by the widest.
"""

from __future__ import annotations

from muntin.physical.operators.base import DataOperator
from muntin.physical.question import Question
from muntin.plan import SharingPlan


class Join(DataOperator):
    """The operator of mt.join, on batches and on streams."""

    name = "join"
    card = "pairs of rows that meet in a window, each found once by the times of both"
    for_data_windows = False
    aggregates = False

    def refusal(self, plan: SharingPlan, question: Question) -> str | None:
        """It computes no aggregates."""
        return "it runs mt.join, which has no aggregates"


JOIN = Join()

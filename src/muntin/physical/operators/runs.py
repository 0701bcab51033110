"""runs: sessions of runs without a pause, found and merged by NumPy."""

from __future__ import annotations

from muntin.physical.lowering import PhysicalPlan
from muntin.physical.operators.base import LOOKED_AT, DataOperator
from muntin.physical.operators.sessions import SESSIONS
from muntin.physical.question import Question
from muntin.plan import SharingPlan


class Runs(DataOperator):
    """Sessions of one another, where slices would hold few records."""

    name = "runs"
    card = "runs without a pause first, then merged by NumPy"

    def refusal(self, plan: SharingPlan, question: Question) -> str | None:
        """Only sessions are unions of one another."""
        return SESSIONS.refusal(plan, question) or question.stranger

    def seconds(self, physical: PhysicalPlan, question: Question) -> dict[int, float]:
        """Every record is looked at once more, to find the runs."""
        found = super().seconds(physical, question)
        for root in physical.roots:
            found[root.number] += LOOKED_AT * question.statistics.rows
        return found


RUNS = Runs()

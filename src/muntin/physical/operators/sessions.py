"""sessions: slices first, then merged in SQL, one sort for all gaps."""

from __future__ import annotations

from muntin.model.data_windows import Session
from muntin.physical.lowering import FROM_SOURCE, PhysicalNode, PhysicalPlan
from muntin.physical.operators.base import LOOKED_AT, DataOperator
from muntin.physical.question import Question
from muntin.plan import SharingPlan
from muntin.plan.slicing import Slices

SORTED = 7 * LOOKED_AT
"""Seconds to sort a slice in SQL: where slices have fewer than 6 records, NumPy is faster (for 10
million records, 5 in a slice, 6.4 against 5.6 seconds; with 10 in a slice 4.0 against 5.9)."""


class Sessions(DataOperator):
    """Sessions of one another, where slices hold many records."""

    name = "sessions"
    card = "slices first, then merged in SQL, one sort for all gaps"

    def refusal(self, plan: SharingPlan, question: Question) -> str | None:
        """Only sessions are unions of one another."""
        if all(isinstance(node.shape, Slices | Session) for node in plan.nodes):
            return None
        return "it merges sessions of slices, and no other windows"

    def seconds(self, physical: PhysicalPlan, question: Question) -> dict[int, float]:
        """One sort of the slices."""
        found = super().seconds(physical, question)
        for root in physical.roots:
            for child in physical.children(root.number):
                found[child.number] *= SORTED / LOOKED_AT
        return found

    def how(self, node: PhysicalNode, physical: PhysicalPlan, question: Question) -> str:
        """The first level are slices."""
        return "slices" if node.parent == FROM_SOURCE else self.name


SESSIONS = Sessions()

"""bucketed: columnar state for each bucket of keys, evaluated by NumPy.

    rows ─ pieces of the first level ─ state of a bucket ─ the tree below, for what is due ─ results
           in Python                   columns, all keys together

A bucket pays for each batch, and little for a key or a result.
"""

from __future__ import annotations

from muntin.physical.lowering import FROM_SOURCE, PhysicalPlan
from muntin.physical.operators.base import Rewrite
from muntin.physical.operators.streamed import (
    BATCHES,
    Streamed,
    over_all,
    price_evaluation,
    price_grouping,
)
from muntin.physical.question import Question
from muntin.plan import SharingPlan, close, slice_roots

BATCH = 1.5
"""Seconds for one more batch, however few its rows."""
EMITTED = 1.5e-6
"""Seconds to hand a result back."""


TECHNIQUES = {
    "b-int": "a ladder of combined blocks, repaired where a late row falls",
    "two-stacks": "blocks combined up to a flip and from it on",
    "panes": "every slice of every window",
}
"""What answers windows when they are due (`muntin.state.cores`), the default first."""


def named_technique(given: str) -> str:
    """The technique asked for; "auto" is the first, which late rows slow least."""
    return next(iter(TECHNIQUES)) if given == "auto" else given


class Bucketed(Streamed):
    """For many keys: a key costs a few array elements."""

    name = "bucketed"
    card = "state in columns for each bucket of keys, evaluated by NumPy when windows are due"

    def notes(self, question: Question) -> tuple[str, ...]:
        """By what the windows that are due are answered."""
        technique = named_technique(question.technique)
        return (f"windows that are due are answered by {technique}: {TECHNIQUES[technique]}",)

    def refusal(self, plan: SharingPlan, question: Question) -> str | None:
        """All partials are merged in Python."""
        return question.not_in_python

    def rewrites(self, question: Question) -> tuple[Rewrite, ...]:
        """Its state keeps disjoint pieces."""
        return (close, slice_roots)

    def seconds(self, physical: PhysicalPlan, question: Question) -> dict[int, float]:
        """Grouping, evaluating what is due, and handing it back."""
        held, found = over_all(question).held, price_grouping(physical, question)
        found[FROM_SOURCE] += BATCHES * BATCH
        for node in physical.nodes:
            if node.parent != FROM_SOURCE:
                found[node.number] = price_evaluation(physical, node, question, kept=True)
            if not node.hidden:
                found[node.number] += EMITTED * held(node.shape)
        return found


BUCKETED = Bucketed()

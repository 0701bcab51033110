"""controlled: bucketed, with windows that come and go while the stream runs.

All windows of the moment are made of one set of slices, cut wherever one of them begins or ends:
a window that joins changes the cuts, and no tree that was planned at the start would last.
"""

from __future__ import annotations

from muntin.model.windows import Window
from muntin.physical.lowering import PhysicalPlan
from muntin.physical.operators.base import Rewrite
from muntin.physical.operators.bucketed import Bucketed
from muntin.physical.question import Question
from muntin.plan import SharingPlan
from muntin.plan.slicing import shared_pairs
from muntin.plan.tree import slices_node, unused_id, window_node


class Controlled(Bucketed):
    """For streams with a control."""

    name = "controlled"
    card = "as bucketed, on one set of slices for all windows of the moment"
    chosen = False
    fixed_windows = False

    def rewrites(self, question: Question) -> tuple[Rewrite, ...]:
        """One set of slices, whatever was planned."""
        return (share_one_set,)

    def due_technique(self, physical: PhysicalPlan, given: str) -> tuple[str, dict[str, float]]:
        """A ladder bounds what is read, whatever windows come; so nothing is predicted."""
        return ("b-int" if given == "auto" else given), {}


def share_one_set(plan: SharingPlan) -> SharingPlan:
    """All windows asked for on the slices that they share."""
    windows = [n.shape for n in plan.nodes if not n.hidden and isinstance(n.shape, Window)]
    id = unused_id("slices", {w.id for w in windows}, mark="'")
    nodes = [slices_node(shared_pairs(windows), id), *(window_node(w, id) for w in windows)]
    return SharingPlan.build(nodes, plan.idempotent)


CONTROLLED = Controlled()

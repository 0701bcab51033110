"""Close open slices: the same plan for engines that group whole pieces.

A prefix edge reads a slice that is still open. A stream engine that holds the open partial can do
that at any instant; an engine that groups rows into slices first cannot. For it the slices are cut
where such instances end, too, and so are all finer slices that they are made of. What is computed
is the same; there are more slices (Cutty's become shared pairs), and the cost of the result is what
such an engine pays. Every lowering begins here; nodes keep their ids and their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from muntin.coverage import EdgeKind
from muntin.plan.tree import Node, SharingPlan
from muntin.slicing import Cut, Slices, cut_everywhere
from muntin.slicing.cuts import ends
from muntin.windows import Window


def close(plan: SharingPlan) -> SharingPlan:
    """A plan without prefix edges; the plan itself if it has none.

    >>> from muntin.plan.tree import reading_all, sliced
    >>> from muntin.slicing import cutty
    >>> window = Window(14, 8, id="w")
    >>> reading = reading_all(window, "slices", kind=EdgeKind.PREFIX)
    >>> plan = SharingPlan.build([sliced(cutty(window)), reading], idempotent=False)
    >>> str(plan.nodes[0].shape), str(close(plan).nodes[0].shape)
    ('8ℤ', '8ℤ ∪ 6 mod 8')
    """
    missing: dict[str, list[Cut]] = {}
    for node in plan.nodes:
        if node.pieces.kind is EdgeKind.PREFIX:
            assert isinstance(node.shape, Window), "the checker allows windows only"
            above = node.parent
            while above is not None:
                missing.setdefault(above, []).append(ends(node.shape))
                above = plan.node(above).parent
    if not missing:
        return plan
    nodes = (_closed(node, missing.get(node.id, ())) for node in plan.nodes)
    return SharingPlan(tuple(nodes), plan.idempotent)


def _closed(node: Node, cuts: Sequence[Cut]) -> Node:
    pieces = replace(node.pieces, kind=EdgeKind.WHOLE)
    shape = node.shape
    if isinstance(shape, Slices) and cuts:
        shape = cut_everywhere((*shape.cuts, *cuts), f"closed {shape.kind}")
    return replace(node, shape=shape, pieces=pieces)

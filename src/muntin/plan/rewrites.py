"""Rewrites: a sharing plan as a plan of the form that an operator needs; what is computed stays.

close        An engine that groups rows into slices cannot read a slice that is still open (a prefix
             edge): slices are cut where such instances end, too, and so are all finer slices that
             they are made of. There are more slices (Cutty's become shared pairs).
refine       An engine that keeps partials in order can: the running partial of a slice, where such
             an instance ends, is what it reads. Rows come to it grouped, so these slices are made
             of fragments, cut there too; windows still read one piece for each slice.
slice_roots  A stream keeps each row in one piece, however many instances it belongs to: a window
             that reads the source and overlaps itself is made of its pairs instead.
unshare      Every window asked for reads the source by itself: what operators run that share
             nothing, such as Spark's own window() queries.

Each gives the plan itself where there is nothing to do; nodes keep their ids and their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from muntin.model.windows import Window
from muntin.plan.coverage import DATA_DEPENDENT, EdgeKind
from muntin.plan.slicing import Cut, Slices, cut_everywhere, pairs
from muntin.plan.slicing.cuts import ends
from muntin.plan.tree import Node, SharingPlan, slices_node, unused_id, window_node


def close(plan: SharingPlan) -> SharingPlan:
    """A plan without prefix edges; the plan itself if it has none.

    >>> from muntin.plan.slicing import cutty
    >>> window = Window(14, 8, id="w")
    >>> reading = window_node(window, "slices", kind=EdgeKind.PREFIX)
    >>> plan = SharingPlan.build([slices_node(cutty(window)), reading], idempotent=False)
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
    nodes = (_close(node, missing.get(node.id, ())) for node in plan.nodes)
    return SharingPlan(tuple(nodes), plan.idempotent)


def _close(node: Node, cuts: Sequence[Cut]) -> Node:
    if node.pieces.kind is EdgeKind.PREFIX:
        node = replace(node, pieces=replace(node.pieces, kind=EdgeKind.WHOLE))
    return _cut_at(node, cuts, "closed")


def _cut_at(node: Node, cuts: Sequence[Cut], how: str) -> Node:
    """The node, cut there too if it is slices that are not; `how` tells that in their kind."""
    if not isinstance(node.shape, Slices) or all(map(node.shape.cuts_at, cuts)):
        return node
    shape = cut_everywhere((*node.shape.cuts, *cuts), f"{how} {node.shape.kind}")
    return replace(node, shape=shape)


def refine(plan: SharingPlan) -> SharingPlan:
    """A plan whose open slices are made of slices that are cut where they are read.

    A prefix that is a whole slice, since others are cut there, is taken as one.

    >>> from muntin.plan.slicing import cutty
    >>> window = Window(14, 8, id="w")
    >>> reading = window_node(window, "slices", kind=EdgeKind.PREFIX)
    >>> plan = SharingPlan.build([slices_node(cutty(window)), reading], idempotent=False)
    >>> [(node.id, str(node.shape), node.parent) for node in refine(plan).nodes[:2]]
    [('fragments of slices', '8ℤ ∪ 6 mod 8', None), ('slices', '8ℤ', 'fragments of slices')]
    """
    plan = _take_whole(plan)
    missing: dict[str, list[Cut]] = {}
    split: dict[str, list[Cut]] = {}
    for node in plan.nodes:
        if node.pieces.kind is EdgeKind.PREFIX:
            assert isinstance(node.shape, Window), "the checker allows windows only"
            assert node.parent is not None, "the checker allows windows on slices only"
            own, above = ends(node.shape), plan.node(node.parent).parent
            if above is None:
                split.setdefault(node.parent, []).append(own)
            while above is not None:
                missing.setdefault(above, []).append(own)
                above = plan.node(above).parent
    taken, nodes = {node.id for node in plan.nodes}, list[Node]()
    for node in plan.nodes:
        fine = _cut_at(node, missing.get(node.id, ()), "finer")
        if node.id in split:
            id = unused_id(f"fragments of {node.id}", taken)
            taken.add(id)
            assert isinstance(fine.shape, Slices), "only slices are read open"
            cuts = cut_everywhere((*fine.shape.cuts, *split[node.id]), "fragments")
            nodes.append(slices_node(cuts, id))
            fine = replace(fine, parent=id)
        nodes.append(fine)
    if all(after is before for after, before in zip(nodes, plan.nodes, strict=False)):
        return plan
    return SharingPlan(tuple(nodes), plan.idempotent)


def _take_whole(plan: SharingPlan) -> SharingPlan:
    """The plan without prefixes that are whole slices."""
    nodes = []
    for parent, node in plan.edges():
        if node.pieces.kind is EdgeKind.PREFIX and isinstance(node.shape, Window):
            assert isinstance(parent, Slices), "the checker allows windows on slices only"
            if parent.cuts_at(ends(node.shape)):
                node = replace(node, pieces=replace(node.pieces, kind=EdgeKind.WHOLE))
        nodes.append(node)
    if all(after is before for after, before in zip(nodes, plan.nodes, strict=True)):
        return plan
    return SharingPlan(tuple(nodes), plan.idempotent)


def slice_roots(plan: SharingPlan) -> SharingPlan:
    """The same plan with slices above such windows; the plan itself if there is none.

    >>> wide = Window(10, 4, id="wide")
    >>> plan = slice_roots(SharingPlan.build([window_node(wide)], idempotent=True))
    >>> [(node.id, str(node.shape), node.parent) for node in plan.nodes]
    [('slices of wide', '4ℤ ∪ 2 mod 4', None), ('wide', 'W(10, 4)', 'slices of wide')]
    """
    taken = {node.id for node in plan.nodes}
    nodes: list[Node] = []
    for node in plan.nodes:
        if node.parent is None and isinstance(node.shape, Window) and not node.shape.tumbling:
            id = unused_id(f"slices of {node.id}", taken, mark="'")
            taken.add(id)
            nodes += [slices_node(pairs(node.shape), id), window_node(node.shape, id, node.hidden)]
        else:
            nodes.append(node)
    if len(nodes) == len(plan.nodes):
        return plan
    return SharingPlan.build(nodes, plan.idempotent)


def unshare(plan: SharingPlan) -> SharingPlan:
    """Every node that was asked for, below the source; the plan itself if it is that already."""
    if all(node.parent is None and not node.hidden for node in plan.nodes):
        return plan
    nodes = [
        window_node(n.shape)
        if isinstance(n.shape, Window)
        else Node(n.id, n.shape, None, DATA_DEPENDENT)
        for n in plan.nodes
        if not n.hidden
    ]
    return SharingPlan.build(nodes, plan.idempotent)

"""Put first-level windows that overlap themselves on slices: for engines that keep disjoint pieces.

A stream keeps each row in one piece, however many instances it belongs to. So a window that reads
the source and overlaps itself is made of its pairs instead: they are cut wherever one of its
instances begins or ends. What is made of its instances stays below it.
"""

from __future__ import annotations

from muntin.plan.tree import Node, SharingPlan, reading_all, sliced
from muntin.slicing import pairs
from muntin.windows import Window


def slice_roots(plan: SharingPlan) -> SharingPlan:
    """The same plan with slices above such windows; the plan itself if there is none.

    >>> wide = Window(10, 4, id="wide")
    >>> plan = slice_roots(SharingPlan.build([reading_all(wide)], idempotent=True))
    >>> [(node.id, str(node.shape), node.parent) for node in plan.nodes]
    [('slices of wide', '4ℤ ∪ 2 mod 4', None), ('wide', 'W(10, 4)', 'slices of wide')]
    """
    taken = {node.id for node in plan.nodes}
    nodes: list[Node] = []
    for node in plan.nodes:
        if node.parent is None and isinstance(node.shape, Window) and not node.shape.tumbling:
            id = f"slices of {node.id}"
            while id in taken:
                id += "'"
            taken.add(id)
            nodes += [sliced(pairs(node.shape), id), reading_all(node.shape, id, node.hidden)]
        else:
            nodes.append(node)
    if len(nodes) == len(plan.nodes):
        return plan
    return SharingPlan.build(nodes, plan.idempotent)

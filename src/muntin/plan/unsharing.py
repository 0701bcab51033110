"""Take a plan apart: every window asked for reads the source by itself.

What operators run that share nothing: Spark's own window() queries, and a stream's rows copied into
the instances that they belong to.
"""

from __future__ import annotations

from muntin.coverage import DATA_DEPENDENT, every
from muntin.plan.tree import Node, SharingPlan
from muntin.windows import Window


def unshare(plan: SharingPlan) -> SharingPlan:
    """Every node that was asked for, below the source; the plan itself if it is that already."""
    if all(node.parent is None and not node.hidden for node in plan.nodes):
        return plan
    nodes = [
        Node(
            n.id,
            n.shape,
            None,
            every(n.shape.range) if isinstance(n.shape, Window) else DATA_DEPENDENT,
        )
        for n in plan.nodes
        if not n.hidden
    ]
    return SharingPlan.build(nodes, plan.idempotent)

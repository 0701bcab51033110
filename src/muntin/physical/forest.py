"""What the kernel evaluates: below each node that the engine groups, a tree of disjoint pieces.

The engine groups the source into the first level of the plan. From there on every window is
computed from its nearest ancestor with disjoint pieces; a first-level window that overlaps itself
can only be emitted, so a plan that computes something from it needs another operator.
"""

from __future__ import annotations

from muntin.kernels.tree import Branch
from muntin.plan import Node, SharingPlan
from muntin.slicing import Slices
from muntin.windows import Window


def disjoint(node: Node) -> bool:
    """Whether the pieces of a node do not overlap."""
    if isinstance(node.shape, Window):
        return node.shape.tumbling
    return isinstance(node.shape, Slices)


def forest(plan: SharingPlan) -> dict[int, tuple[Branch, ...]] | None:
    """The branches below each first-level node by its number; None where one overlaps itself."""
    number = {node.id: i for i, node in enumerate(plan.nodes)}
    grown: dict[int, tuple[Branch, ...]] = {}
    for root in plan.children(None):
        if not disjoint(root) and plan.children(root.id):
            return None
        grown[number[root.id]] = branches_below(plan, root, number)
    return grown


def branches_below(plan: SharingPlan, base: Node, number: dict[str, int]) -> tuple[Branch, ...]:
    """Every window that takes `base` as its nearest disjoint ancestor, however deep it stands."""
    found: list[Branch] = []
    for node in plan.children(base.id):
        if isinstance(node.shape, Window):
            below = branches_below(plan, node, number)
            if disjoint(node):
                found.append(Branch(number[node.id], node.shape, not node.hidden, below))
            else:
                if not node.hidden:
                    found.append(Branch(number[node.id], node.shape, asked=True))
                found += below
        else:
            found += branches_below(plan, node, number)
    return tuple(found)

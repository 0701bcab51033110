"""Bases: the disjoint pieces into which a stream's rows are grouped before any state is touched.

A stream is pre-aggregated batch by batch, and every window asked for is then made of the pieces of
its first-level ancestor. So a plan comes down to a few bases:

    slices                  themselves
    a tumbling window       its instances
    a window that overlaps  its pairs: cut wherever one of its instances begins or ends, so that
                            whatever is made of its instances is made of whole pairs

Below a base stands the tree that the kernel evaluates (muntin.physical.forest).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from muntin.kernels.tree import Branch
from muntin.physical.forest import branches_below, disjoint
from muntin.plan import Node, SharingPlan, closed
from muntin.slicing import Slices, begins, pairs
from muntin.windows import Window


@dataclass(frozen=True, slots=True)
class Base:
    """Disjoint pieces under the number of their first-level node, and what is made of them."""

    node: int
    slices: Slices
    branches: tuple[Branch, ...]

    @property
    def windows(self) -> dict[int, Window]:
        """The windows asked for that are made of these pieces, by number."""
        return dict(_asked(self.branches))


def bases(plan: SharingPlan) -> tuple[Base, ...]:
    """The bases of a plan, one for each first-level node.

    >>> from muntin.plan.tree import reading_all
    >>> wide = Window(10, 4, id="wide")
    >>> [base] = bases(SharingPlan.build([reading_all(wide)], idempotent=True))
    >>> str(base.slices), base.windows == {0: wide}
    ('4ℤ ∪ 2 mod 4', True)
    """
    plan = closed(plan)
    number = {node.id: i for i, node in enumerate(plan.nodes)}
    return tuple(_base(plan, root, number) for root in plan.children(None))


def _base(plan: SharingPlan, root: Node, number: dict[str, int]) -> Base:
    own = number[root.id]
    if isinstance(root.shape, Slices):
        return Base(own, root.shape, branches_below(plan, root, number))
    assert isinstance(root.shape, Window), "windows that the data decides have no bases"
    if disjoint(root):
        below = branches_below(plan, root, number)
        slices = Slices((begins(root.shape),), "instances")
        if root.hidden:
            return Base(own, slices, below)
        return Base(own, slices, (Branch(own, root.shape, asked=True), *below))
    flat = [
        Branch(number[node.id], node.shape, asked=True)
        for node in _descendants(plan, root)
        if isinstance(node.shape, Window) and not node.hidden
    ]
    return Base(own, pairs(root.shape), tuple(flat))


def _descendants(plan: SharingPlan, node: Node) -> Iterator[Node]:
    yield node
    for child in plan.children(node.id):
        yield from _descendants(plan, child)


def _asked(branches: tuple[Branch, ...]) -> Iterator[tuple[int, Window]]:
    for branch in branches:
        if branch.asked:
            yield branch.node, branch.window
        yield from _asked(branch.branches)

"""The kernel's view of a physical plan: below each first-level node, the tree that NumPy evaluates.

The engine groups rows into the pieces of the first level; the kernel makes everything below. A
stream keeps the pieces of first-level nodes as state, so there they must be disjoint: `Base`.
"""

from __future__ import annotations

from dataclasses import dataclass

from muntin.kernels.tree import Branch
from muntin.model.windows import Window
from muntin.physical.lowering import PhysicalNode, PhysicalPlan
from muntin.physical.programs import Congruence
from muntin.plan.feeds import Feed
from muntin.plan.slicing import Slices, begins


@dataclass(frozen=True, slots=True)
class Base:
    """Disjoint pieces under the number of their first-level node, and what is made of them."""

    node: int
    slices: Slices
    branches: tuple[Branch, ...]

    @property
    def windows(self) -> dict[int, Window]:
        """The windows asked for that are made of these pieces, by number."""
        return {number: w for branch in self.branches for number, w in branch.windows.items()}


def trees(physical: PhysicalPlan) -> dict[int, tuple[Branch, ...]]:
    """The branches below each first-level node, by its number."""
    return {root.number: branches_below(physical, root) for root in physical.roots}


def bases(physical: PhysicalPlan) -> tuple[Base, ...]:
    """The bases of a plan whose first level is disjoint; a root asked for is emitted as it is."""
    return tuple(_base(physical, root) for root in physical.roots)


def _base(physical: PhysicalPlan, root: PhysicalNode) -> Base:
    below = branches_below(physical, root)
    if isinstance(root.shape, Slices):
        return Base(root.number, root.shape, below)
    assert isinstance(root.shape, Window), "windows that the data decides have no bases"
    assert root.disjoint, "first-level windows that overlap themselves are put on slices"
    own = () if root.hidden else (Branch(root.number, root.shape, asked=True),)
    return Base(root.number, Slices((begins(root.shape),), "instances"), (*own, *below))


def branches_below(physical: PhysicalPlan, node: PhysicalNode) -> tuple[Branch, ...]:
    """What is computed from a node; feeds only where its pieces overlap, or are not all read."""
    found = []
    for child in physical.children(node.number):
        assert isinstance(child.shape, Window | Slices), "the kernel's pieces are periodic"
        feeds = () if node.disjoint else _feeds(child)
        below = branches_below(physical, child)
        found.append(Branch(child.number, child.shape, not child.hidden, below, feeds))
    return tuple(found)


def _feeds(child: PhysicalNode) -> tuple[Feed, ...]:
    assert isinstance(child.program, Congruence), "slices are never made of windows"
    return child.program.feeds

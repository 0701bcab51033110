"""The sharing tree: who is computed from whom.

A plan is a tree rooted at the source. Every other node is `Slices` (disjoint consecutive pieces of
time) or a `Window` (asked for, or hidden: a factor window), and has exactly one parent and the
`pieces` of that parent which make one of its instances. Every technique of the papers is such a
tree; they differ only in its shape.

    direct               Source ─▶ every window
    panes, pairs         Source ─▶ Slices ─▶ window           (one Slices a window, or one for all)
    coverage graph       Source ─▶ window ─▶ window ─▶ …
    factor windows       the same, with hidden windows
    weaving              Source ─▶ several Slices, each ─▶ its windows
    three-level weaving  Source ─▶ Slices ─▶ Slices ─▶ windows
    stairs               Source ─▶ Slices ─▶ window ─▶ window ─▶ …     (suffix edges)

An edge has a kind (`coverage.EdgeKind`): windows on Cutty's slices read the last one while it is
open. Operators in Python run that, on slices made of fragments (`refine`); those that group whole
pieces, such as SQL's, rewrite the plan (`close`), which cuts slices there. A stair is one instance
of the narrower window below it and a delta, which is read from the slices that the lowest stair
stands on (`SharingPlan.foot`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from muntin.errors import PlanError
from muntin.model.data_windows import DataWindow
from muntin.model.windows import Window
from muntin.plan.coverage import SOURCE, EdgeKind, EdgePieces, Source, every
from muntin.plan.slicing import Slices

Shape = Source | Slices | Window | DataWindow


@dataclass(frozen=True, slots=True)
class Node:
    """One node: its shape, its parent's id (None: the source), and the pieces it is made of."""

    id: str
    shape: Slices | Window | DataWindow
    parent: str | None
    pieces: EdgePieces
    hidden: bool = False


@dataclass(frozen=True)
class SharingPlan:
    """Nodes in an order in which every parent comes before its children.

    >>> ten, twenty = Window(10, 10, id="ten"), Window(20, 20, id="twenty")
    >>> plan = SharingPlan.build([window_node(ten), window_node(twenty)], idempotent=True)
    >>> [(node.id, node.parent) for node in plan.nodes]
    [('ten', None), ('twenty', None)]
    """

    nodes: tuple[Node, ...]
    idempotent: bool

    @staticmethod
    def build(nodes: Iterable[Node], idempotent: bool) -> SharingPlan:
        """Order the nodes by depth; refuse unknown parents, repeated ids and cycles."""
        waiting = list(nodes)
        if len({node.id for node in waiting}) < len(waiting):
            raise PlanError(f"two nodes have the same id: {sorted(n.id for n in waiting)}")
        placed: dict[str | None, Node | None] = {None: None}
        ordered: list[Node] = []
        while waiting:
            ready = [node for node in waiting if node.parent in placed]
            if not ready:
                raise PlanError(f"no path from the source to {sorted(n.id for n in waiting)}")
            placed.update((node.id, node) for node in ready)
            ordered += ready
            waiting = [node for node in waiting if node.id not in placed]
        return SharingPlan(tuple(ordered), idempotent)

    @cached_property
    def _by_id(self) -> dict[str, Node]:
        return {node.id: node for node in self.nodes}

    @cached_property
    def _by_parent(self) -> dict[str | None, list[Node]]:
        below: dict[str | None, list[Node]] = {}
        for node in self.nodes:
            below.setdefault(node.parent, []).append(node)
        return below

    def node(self, id: str) -> Node:
        return self._by_id[id]

    def shape(self, id: str | None) -> Shape:
        """The shape of a node, or the source for None."""
        return SOURCE if id is None else self.node(id).shape

    def children(self, id: str | None) -> list[Node]:
        """The nodes computed from this one (None: from the source)."""
        return self._by_parent.get(id, [])

    def foot(self, node: Node) -> str | None:
        """What stairs stand on: the parent of the lowest one; of any other node its own parent."""
        while node.pieces.kind is EdgeKind.SUFFIX and node.parent is not None:
            node = self.node(node.parent)
        return node.parent

    def levels(self) -> list[list[Node]]:
        """The nodes by their distance from the source, nearest first."""
        depth: dict[str | None, int] = {None: 0}
        levels: list[list[Node]] = []
        for node in self.nodes:
            depth[node.id] = depth[node.parent] + 1
            if depth[node.id] > len(levels):
                levels.append([])
            levels[depth[node.id] - 1].append(node)
        return levels

    def edges(self) -> Iterator[tuple[Shape, Node]]:
        """Every node with the shape of its parent."""
        for node in self.nodes:
            yield self.shape(node.parent), node


def window_node(
    window: Window,
    parent: str | None = None,
    hidden: bool = False,
    kind: EdgeKind = EdgeKind.WHOLE,
) -> Node:
    """A window that reads every record, or every slice, within its instance."""
    return Node(window.id, window, parent, every(window.range, kind), hidden)


def slices_node(slices: Slices, id: str = "slices", parent: str | None = None) -> Node:
    """Slices of the source, or of finer slices."""
    return Node(id, slices, parent, every(1), hidden=True)


def unused_id(id: str, taken: Collection[str], mark: str = "′") -> str:
    """An id for a node that nobody asked for: marked as often as a node of that id is there.

    >>> unused_id("slices", ["an hour"]), unused_id("slices", ["slices", "slices′"])
    ('slices', 'slices′′')
    """
    while id in taken:
        id += mark
    return id

"""The one lowering: a sharing plan as numbered nodes, each with the program of its edge.

Every engine runs a `PhysicalPlan` and nothing else. An operator first rewrites the sharing plan
into one that it can run (`physical.operators`), the checker proves the result, explain() prints it,
and this turns it into numbers: rows of all nodes travel together, and each carries the number of
its node and the start of its piece. What an operator makes of the plan (levels, trees below the
first level) are views: they add, drop and re-parent nothing.

Programs say how the pieces of a parent become those of its child, whatever the engine:

    Cut          each row or piece falls into one slice: the latest cut at or before it
    Congruence   a piece belongs to the instances that a linear congruence gives (`plan.feeds`);
                 read forwards, rows are exploded into instances (expand, SQL); read backwards, an
                 instance gathers its pieces (the kernel)
    Prefix       an instance is the slices within it, the last one as far as the instance goes: the
                 running partial of that slice, over finer ones that are cut where it is read
    Suffix       two congruences: one piece of the parent, a narrower window, and before it those of
                 the slices that the stairs stand on
    ByData       which pieces make an instance only the records tell
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from muntin.cost.statistics import Statistics
from muntin.errors import PlanError
from muntin.model.data_windows import DataWindow
from muntin.model.windows import Window
from muntin.plan import Node, SharingPlan
from muntin.plan.coverage import EdgeKind, EdgePieces, every
from muntin.plan.feeds import Feed, feeds_of
from muntin.plan.slicing import Slices, ends

FROM_SOURCE = -1
"""The number of the source."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Each piece falls into one of these slices."""

    slices: Slices


@dataclass(frozen=True)
class Congruence:
    """Which pieces make an instance of a window; its feeds are found when they are needed."""

    node: int
    window: Window
    pieces: EdgePieces

    @cached_property
    def feeds(self) -> tuple[Feed, ...]:
        """The feeds of all progressions."""
        return tuple(feeds_of(self.node, self.window, self.pieces))


@dataclass(frozen=True, slots=True)
class Prefix:
    """Slices from the begin of an instance of this window, the last one open where it ends."""

    window: Window


@dataclass(frozen=True, slots=True)
class Suffix:
    """An instance of the parent, and before it the pieces of a node further up, by its number."""

    piece: Congruence
    foot: int
    delta: Congruence
    length: int
    """How long the delta is."""


@dataclass(frozen=True, slots=True)
class ByData:
    """The records decide."""


Program = Cut | Congruence | Prefix | Suffix | ByData


@dataclass(frozen=True, slots=True)
class PhysicalNode:
    """A node by number: its parent's number, and the program that makes it of its parent."""

    number: int
    id: str
    shape: Slices | Window | DataWindow
    parent: int
    program: Program
    hidden: bool

    @property
    def disjoint(self) -> bool:
        """Whether its pieces never overlap."""
        return self.shape.tumbling if isinstance(self.shape, Window) else True


@dataclass(frozen=True)
class PhysicalPlan:
    """The nodes in an order in which every parent comes before its children; `plan` is theirs.

    `planned_for` is what was known of the data, or taken to be so.
    """

    nodes: tuple[PhysicalNode, ...]
    plan: SharingPlan
    planned_for: Statistics | None = field(default=None, compare=False, repr=False)

    @cached_property
    def _by_parent(self) -> dict[int, tuple[PhysicalNode, ...]]:
        below: dict[int, list[PhysicalNode]] = {}
        for node in self.nodes:
            below.setdefault(node.parent, []).append(node)
        return {parent: tuple(nodes) for parent, nodes in below.items()}

    @property
    def roots(self) -> tuple[PhysicalNode, ...]:
        """The nodes that rows of the source are grouped into."""
        return self.children(FROM_SOURCE)

    @property
    def outputs(self) -> tuple[PhysicalNode, ...]:
        """The nodes that were asked for."""
        return tuple(node for node in self.nodes if not node.hidden)

    @cached_property
    def depths(self) -> dict[int, int]:
        """How many edges lead from the source to each node."""
        depths = {FROM_SOURCE: 0}
        for node in self.nodes:
            depths[node.number] = depths[node.parent] + 1
        return depths

    @cached_property
    def depth(self) -> int:
        """How many edges the longest path from the source has."""
        return max(self.depths.values())

    def children(self, number: int) -> tuple[PhysicalNode, ...]:
        """The nodes computed from this one."""
        return self._by_parent.get(number, ())

    def edges(self) -> Iterator[tuple[PhysicalNode | None, PhysicalNode]]:
        """Every node with its parent; None is the source."""
        for node in self.nodes:
            yield (None if node.parent == FROM_SOURCE else self.nodes[node.parent]), node


def lower(plan: SharingPlan) -> PhysicalPlan:
    """Number the nodes and find the program of every edge.

    >>> from muntin.plan.tree import window_node
    >>> plan = SharingPlan.build([window_node(Window(10, 4, id="ten"))], idempotent=True)
    >>> [(node.number, node.parent, node.program.feeds[0].count) for node in lower(plan).nodes]
    [(0, -1, 10)]
    """
    number: dict[str | None, int] = {None: FROM_SOURCE}
    number.update((node.id, i) for i, node in enumerate(plan.nodes))
    nodes = tuple(
        PhysicalNode(
            i, node.id, node.shape, number[node.parent], _program(node, number, plan), node.hidden
        )
        for i, node in enumerate(plan.nodes)
    )
    return PhysicalPlan(nodes, plan)


def _program(node: Node, numbers: Mapping[str | None, int], plan: SharingPlan) -> Program:
    if isinstance(node.shape, DataWindow) or isinstance(plan.shape(node.parent), DataWindow):
        return ByData()
    if node.pieces.kind is EdgeKind.PREFIX:
        return _prefix(node, plan)
    if isinstance(node.shape, Slices):
        return Cut(node.shape)
    read = Congruence(numbers[node.id], node.shape, node.pieces)
    if node.pieces.kind is not EdgeKind.SUFFIX:
        return read
    [piece] = node.pieces.progressions
    delta = Congruence(read.node, node.shape, every(piece.offset))
    return Suffix(read, numbers[plan.foot(node)], delta, piece.offset)


def _prefix(node: Node, plan: SharingPlan) -> Prefix:
    assert isinstance(node.shape, Window), "the checker allows windows only"
    assert node.parent is not None, "the checker allows windows on slices only"
    finer = plan.shape(plan.node(node.parent).parent)
    if isinstance(finer, Slices) and finer.cuts_at(ends(node.shape)):
        return Prefix(node.shape)
    raise PlanError(
        f"{node.id!r} reads an open slice, and what that is made of is not cut where the window "
        "ends: refine or close the plan"
    )

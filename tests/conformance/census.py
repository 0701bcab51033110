"""Which kinds of edges the plans contained that a suite ran: what it can say it has tried.

A property test proves something only of the plans that its draws lead to. So every run counts the
kinds of edges of the plans that really ran, and fails where a kind falls under its quota.
"""

from collections import Counter
from collections.abc import Iterable

from muntin.model.query import Query
from muntin.model.windows import Window
from muntin.plan import Node, SharingPlan
from muntin.plan.coverage import EdgeKind, Source
from muntin.plan.slicing import Slices
from muntin.plan.tree import Shape

KINDS = (
    "source → window",
    "source → slices",
    "slices → window",
    "slices → open slice",
    "slices → slices",
    "tumbling ← tumbling",
    "hopping ← tumbling",
    "tumbling ← hopping",
    "hopping ← hopping, disjoint",
    "window ← hopping, overlapping",
    "window ← window, one piece",
    "window ← window and slices",
)
"""Every kind of edge that strategies build."""

CLASSES = ("idempotent", "not idempotent", "both")
"""What aggregates a query has: pieces may overlap for all of them, for none, or for some."""


def edge_kind(parent: Shape, node: Node) -> str:
    """The kind of the edge from a parent to the node."""
    match parent, node.shape:
        case Source(), Slices():
            return "source → slices"
        case Slices(), Slices():
            return "slices → slices"
        case Source(), _:
            return "source → window"
        case Slices(), _:
            is_open = node.pieces.kind is EdgeKind.PREFIX
            return "slices → open slice" if is_open else "slices → window"
        case Window() as feeding, Window() as window:
            return _between_windows(feeding, window, node)
    raise AssertionError(f"an edge of no known kind: {parent} → {node}")


def _between_windows(parent: Window, window: Window, node: Node) -> str:
    if node.pieces.kind is EdgeKind.SUFFIX:
        return "window ← window and slices"
    if node.pieces.count == 1:
        return "window ← window, one piece"
    if not parent.tumbling and node.pieces.count * parent.range > window.range:
        return "window ← hopping, overlapping"
    kinds = ["tumbling" if w.tumbling else "hopping" for w in (window, parent)]
    both = kinds == ["hopping", "hopping"]
    return " ← ".join(kinds) + (", disjoint" if both else "")


def aggregate_class(query: Query) -> str:
    """Whether pieces may overlap for all aggregates of the query, for none, or for some."""
    flags = {a.function.idempotent for a in query.aggregates}
    return "both" if len(flags) == 2 else CLASSES[0] if flags == {True} else CLASSES[1]


def traits(plan: SharingPlan, query: Query) -> set[str]:
    """What makes a plan worth trying: the kinds of its edges, and the class of the aggregates."""
    return {edge_kind(parent, node) for parent, node in plan.edges()} | {aggregate_class(query)}


class Census:
    """Counts of what ran."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def note(self, plan: SharingPlan, query: Query) -> None:
        """One plan that ran: each of its traits counts once."""
        self.counts.update(["plans", *traits(plan, query)])

    def rarest(self, plan: SharingPlan, query: Query) -> int:
        """How often the rarest trait of the plan was met before."""
        return min(self.counts[trait] for trait in traits(plan, query))

    def demand(self, quota: int, kinds: Iterable[str] = (*KINDS, *CLASSES)) -> None:
        """Fail where one of these was met less often than the quota."""
        short = {kind: self.counts[kind] for kind in kinds if self.counts[kind] < quota}
        assert not short, f"fewer than {quota} plans of some kinds: {short}; all: {self}"

    def __str__(self) -> str:
        return ", ".join(f"{kind}: {self.counts[kind]}" for kind in ("plans", *KINDS, *CLASSES))

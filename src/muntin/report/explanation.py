"""What there is to say about a plan: the facts that text, pictures and HTML all show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from muntin.cost import CostModel, node_costs
from muntin.cost.partials import partials
from muntin.coverage import EdgeKind, Pieces, Source
from muntin.data_windows import Begins, DataWindow, Session
from muntin.durations import duration_text
from muntin.plan import Node, Shape, SharingPlan
from muntin.printable import shortened
from muntin.slicing import Slices, edge_rate
from muntin.windows import Window


@dataclass(frozen=True, slots=True)
class Alternative:
    """A strategy that was tried: its cost and predicted seconds, or why it was left out.

    `steps` is what it took of the planning budget: the same on every machine.
    """

    strategy: str
    cost: float | None
    seconds: float | None = None
    note: str = ""
    steps: int = 0


@dataclass(frozen=True, slots=True)
class Folded:
    """Strategies of equal cost: the one that speaks for them, and the others by name."""

    first: Alternative
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """A chosen plan, its cost model, and what it was compared with."""

    strategy: str
    plan: SharingPlan
    model: CostModel
    alternatives: tuple[Alternative, ...]
    operators: Mapping[str, str]
    notes: tuple[str, ...] = ()

    @property
    def costs(self) -> dict[str, float]:
        """The cost of every node."""
        return node_costs(self.model, self.plan)

    @property
    def direct(self) -> float | None:
        """The cost of evaluating every window by itself."""
        return next((a.cost for a in self.alternatives if a.strategy == "direct"), None)

    @property
    def folded(self) -> list[Folded]:
        """The alternatives in order, those shown with equal cost and seconds (or reason) as one.

        The strategy that was chosen speaks for its group, else the first of it.
        """
        groups: dict[tuple[str, str, str], list[Alternative]] = {}
        for a in self.alternatives:
            figures = (number(a.cost or 0.0), number(a.seconds or 0.0), a.note)
            groups.setdefault(figures, []).append(a)
        found = []
        for group in groups.values():
            first = next((a for a in group if a.strategy == self.strategy), group[0])
            found.append(Folded(first, tuple(a.strategy for a in group if a is not first)))
        return found

    def headline(self) -> str:
        """The cost of the plan, and how far it is below direct evaluation."""
        cost = sum(self.costs.values())
        line = f"cost {number(cost)} {self.model.unit}"
        if self.direct and self.strategy != "direct":
            return f"{line}, {times(self.direct / cost)} below direct ({number(self.direct)})"
        return line

    def label(self, node: Node) -> str:
        """What a node is called."""
        if isinstance(node.shape, Slices):
            return slices_label(node.shape)
        if isinstance(node.shape, Begins):
            return "slices where windows begin"
        return shortened(node.id)

    def made_of(self, node: Node) -> str:
        """What an instance of the node is made of."""
        parent = self.plan.shape(node.parent)
        return made_of(parent, node.shape, node.pieces)


def slices_label(slices: Slices) -> str:
    """Slices in words: their length if they are equal, their number in an hour if not."""
    if len(slices.cuts) == 1:
        return f"{slices.kind} of {duration_text(slices.cuts[0].step)}"
    return f"{slices.kind}, {number(float(edge_rate(slices)) * 3_600_000_000)} an hour"


def made_of(parent: Shape, child: Slices | Window | DataWindow, pieces: Pieces) -> str:
    """An edge in words."""
    match parent, child:
        case Source(), Slices() | DataWindow():
            return "each row once"
        case Session(), Session():
            return f"sessions of {shortened(parent.id)} without a longer pause"
        case Slices(), Session():
            return "slices without a pause"
        case Begins(), _:
            return "slices from its begin, the last one open"
        case Source(), Window():
            many = "" if child.tumbling else f", each in {number(child.overlap)} instances"
            return f"every row{many}"
        case Slices(), Slices():
            return "each finer slice once"
        case Slices(), Window():
            count = number(float(partials(child, parent, pieces.kind)))
            open_ = ", the last still open (prefix)" if pieces.kind is EdgeKind.PREFIX else ""
            return f"{count} slice{'' if count == '1' else 's'}{open_}"
        case _:
            assert isinstance(parent, Window), "slices are never made of windows"
            overlap = pieces.count * parent.range > child.range if isinstance(child, Window) else 0
            name = "piece" if pieces.count == 1 else "pieces"
            overlapping = ", overlapping" if overlap else ""
            return f"{pieces.count} {name} of {shortened(parent.id)}{overlapping}"


def number(value: float) -> str:
    """Three digits that matter, thousands separated.

    >>> number(1234567.0), number(12.34), number(0.001234), number(3.0)
    ('1,234,567', '12.3', '0.00123', '3')
    """
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def times(ratio: float) -> str:
    """A ratio with a times sign."""
    return f"{ratio:,.0f}×" if ratio >= 100 else f"{ratio:.3g}×"

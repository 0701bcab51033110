"""What there is to say about a plan: the facts that text, pictures and HTML all show."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from muntin.cost import CostModel, node_costs
from muntin.errors import shortened
from muntin.model.data_windows import Begins, DataWindow, Session
from muntin.model.durations import duration_text
from muntin.model.windows import Window
from muntin.physical import FROM_SOURCE, Question
from muntin.plan import Node, Shape, SharingPlan
from muntin.plan.coverage import EdgeKind, EdgePieces, Source
from muntin.plan.slicing import Slices, edge_rate, slices_within
from muntin.planner.choice import Choice
from muntin.planner.found import Alternative

MOST_CLOSE = 3
"""Alternatives that are called close: those next to the best."""
CLOSE = 1.1
"""An alternative within this factor of the best is called close: predictions are not exact."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """A plan as it runs, what is predicted for it, and what it was compared with.

    `model` is a paper's cost where plans were judged by one, with the cost of the plan as a whole
    and `direct` that of every window by itself; None where they were judged by seconds.
    """

    strategy: str
    choice: Choice
    question: Question
    alternatives: tuple[Alternative, ...]
    unshared: float | None
    model: CostModel | None = None
    cost: float = 0.0
    direct: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def plan(self) -> SharingPlan:
        """The plan that runs."""
        return self.choice.plan

    @property
    def title(self) -> str:
        """The strategy and the operator."""
        return f"{self.strategy} by {self.choice.operator.name}"

    @property
    def figures(self) -> dict[str, str]:
        """What each node costs: its share of the time, or its cost under a paper's model."""
        if self.model is not None:
            return {id: number(cost) for id, cost in node_costs(self.model, self.plan).items()}
        whole, nodes = self.choice.seconds, self.choice.physical.nodes
        shares = {node.id: self.choice.by_node[node.number] / whole for node in nodes}
        return {id: percent(share) for id, share in shares.items()}

    @property
    def rest(self) -> str:
        """The share of the time that no node accounts for: reading rows, stages, batches."""
        if self.model is not None:
            return ""
        return percent(self.choice.by_node[FROM_SOURCE] / self.choice.seconds)

    @property
    def operators(self) -> dict[str, str]:
        """What makes each node."""
        operator, physical = self.choice.operator, self.choice.physical
        return {n.id: operator.how(n, physical, self.question) for n in physical.nodes}

    @property
    def folded(self) -> list[tuple[Alternative, list[str]]]:
        """The alternatives in order, each with the names of those that show equal figures.

        The strategy that was chosen speaks for its group, else the first of it.
        """
        groups: dict[tuple[str, ...], list[Alternative]] = {}
        for a in self.alternatives:
            figures = (number(a.cost or 0.0), number(a.seconds or 0.0), a.operator or "", a.note)
            groups.setdefault(figures, []).append(a)
        found = []
        for group in groups.values():
            first = next((a for a in group if a.strategy == self.strategy), group[0])
            found.append((first, [a.strategy for a in group if a is not first]))
        return sorted(found, key=lambda each: self._rank(each[0]))

    def _rank(self, alternative: Alternative) -> float:
        own = alternative.cost if self.model is not None else alternative.seconds
        return inf if own is None else own

    def headline(self) -> str:
        """One number: the seconds predicted, or the cost under a paper's model."""
        if self.model is not None:
            line = f"cost {number(self.cost)} {self.model.unit}"
            if self.direct and self.strategy != "direct":
                below = times(self.direct / self.cost)
                return f"{line}, {below} below direct ({number(self.direct)})"
            return line
        line = f"predicted {number(self.choice.seconds)} s"
        if self.unshared is None:
            return line
        ratio = self.unshared / self.choice.seconds
        if not self.choice.operator.shares:
            return f"{line}: Spark's own window() queries"
        against = f"{self.choice.operator.than} ({number(self.unshared)} s)"
        if abs(ratio - 1) < 0.005:
            return f"{line}, as long as {against}"
        faster = f"{times(ratio)} faster" if ratio > 1 else f"{times(1 / ratio)} slower"
        return f"{line}, {faster} than {against}"

    @property
    def remarks(self) -> list[str]:
        """The notes, then the strategies that are predicted to take about as long, if any."""
        if self.model is not None:
            return list(self.notes)
        best = self.choice.seconds
        near = [
            f"{a.strategy} by {a.operator} ({times(a.seconds / best)})"
            for a, _ in self.folded
            if a.seconds is not None and a.strategy != self.strategy and a.seconds <= CLOSE * best
        ]
        return [*self.notes, f"close: {', '.join(near[:MOST_CLOSE])}"] if near else [*self.notes]

    def label(self, node: Node) -> str:
        """What a node is called: slices by their length, or by their number in an hour."""
        match node.shape:
            case Slices(kind=kind, cuts=(cut,)):
                return f"{kind} of {duration_text(cut.step)}"
            case Slices(kind=kind):
                return f"{kind}, {number(float(edge_rate(node.shape)) * 3_600_000_000)} an hour"
            case Begins():
                return "slices where windows begin"
            case _:
                return shortened(node.id)

    def made_of(self, node: Node) -> str:
        """What an instance of the node is made of."""
        made = _made_of(self.plan.shape(node.parent), node.shape, node.pieces)
        if node.pieces.kind is EdgeKind.SUFFIX and isinstance(node.shape, Window):
            foot, [piece] = self.plan.shape(self.plan.foot(node)), node.pieces.progressions
            assert isinstance(foot, Slices), "the checker allows stairs on slices only"
            before = number(slices_within(node.shape, foot, piece.offset))
            return f"{made} and {_several(before, 'slice')} before it"
        return made


def _made_of(parent: Shape, child: Slices | Window | DataWindow, pieces: EdgePieces) -> str:
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
            return _several(number(float(edge_rate(parent) / edge_rate(child))), "finer slice")
        case Slices(), Window():
            slices = _several(number(slices_within(child, parent)), "slice")
            return f"{slices}, the last one open" if pieces.kind is EdgeKind.PREFIX else slices
        case _:
            assert isinstance(parent, Window), "slices are never made of windows"
            made = f"{_several(f'{pieces.count}', 'piece')} of {shortened(parent.id)}"
            overlap = isinstance(child, Window) and pieces.count * parent.range > child.range
            return f"{made}, overlapping" if overlap else made


def _several(count: str, name: str) -> str:
    return f"{count} {name}{'' if count == '1' else 's'}"


def number(value: float) -> str:
    """Three digits that matter, thousands separated.

    >>> number(1234567.0), number(12.34), number(0.001234), number(3.0)
    ('1,234,567', '12.3', '0.00123', '3')
    """
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def percent(share: float) -> str:
    """A share of a whole.

    >>> percent(0.4321), percent(0.0004)
    ('43 %', '<1 %')
    """
    return f"{share:.0%}".replace("%", " %") if share >= 0.005 else "<1 %"


def times(ratio: float) -> str:
    """A ratio with a times sign."""
    return f"{ratio:,.0f}×" if ratio >= 100 else f"{ratio:.3g}×"

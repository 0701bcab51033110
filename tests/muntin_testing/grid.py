"""A dense grid of records, and what explain() says of the pieces that are read of it.

A hook in each operator counts the pieces that it reads, edge by edge; tests compare.
"""

import re
from collections.abc import Iterator

import numpy as np

import muntin as mt
from muntin.aggregates.columns import PartialColumn
from muntin.api import Plan
from muntin.physical import FROM_SOURCE
from muntin.physical.lowering import Suffix
from muntin.plan import Node
from muntin.report.explanation import number

SECOND = 1_000_000
SPAN = range(0, 480)
"""Seconds, with a record in each."""
INSIDE = range(120, 240)
"""Begins of the instances that are looked at: all their records are there, over a whole period."""

SETS = {
    "hopping": [(10, 2), (20, 4), (60, 20), (120, 60)],
    "uneven": [(14, 8), (12, 4), (24, 24), (48, 24)],
    "tumbling": [(5, 5), (10, 10), (20, 20), (40, 40), (120, 120)],
    "days of hours": [(24, 2), (120, 24), (120, 120)],
    "nested": [(20, 5), (35, 5), (45, 10), (115, 20)],
}
PARTIAL = PartialColumn("p0", "sum(v0)", "sum(p0)", "sum")

Pieces = dict[int, dict[int, int]]
"""Of each node and start (in seconds), how many pieces were read."""


def planned(name: str, strategy: str, engine: str, operator: str, cost: str = "seconds") -> Plan:
    windows = [mt.hopping(f"{r} seconds", f"{s} seconds") for r, s in SETS[name]]
    query = mt.query("ts", windows, [mt.sum("v")])
    words = {"engine": engine, "operator": operator, "strategy": strategy, "cost": cost}
    return mt.optimize(query, rate=1000, rows=1e9, **words)  # type: ignore[call-overload,no-any-return]


def explained(plan: Plan) -> dict[int, str]:
    """The number of pieces that explain() prints beside each node that is made of pieces."""
    lines = plan.explain().split("\n")
    found = {}
    for node in plan.choice.physical.nodes:
        if node.parent != FROM_SOURCE:
            label = plan.explanation().label(plan.tree.node(node.id))
            [line] = _lines(lines, label, plan, node.id)
            numbers = re.findall(r"(?<=  |d )([\d,.]+) (?:finer slice|slice|piece)s?\b", line)
            assert len(numbers) == 1 + isinstance(node.program, Suffix), line
            found[node.number] = number(sum(float(n.replace(",", "")) for n in numbers))
    return found


def _lines(lines: list[str], label: str, plan: Plan, id: str) -> list[str]:
    """The line of a node: several slices may have one label, and are then in the tree's order."""
    own = [line for line in lines if re.search(rf"[├└]─ {re.escape(label)}  ", line)]
    if len(own) == 1:
        return own
    same = [n.id for n in _walk(plan) if plan.explanation().label(n) == label]
    return [own[same.index(id)]]


def _walk(plan: Plan, parent: str | None = None) -> Iterator[Node]:
    for node in plan.tree.children(parent):
        yield node
        yield from _walk(plan, node.id)


class Hook:
    """Adds up the pieces that it is told of."""

    def __init__(self) -> None:
        self.pieces: Pieces = {}

    def __call__(self, node: int, start: np.ndarray, count: np.ndarray) -> None:
        own = self.pieces.setdefault(node, {})
        for at, many in zip((start // SECOND).tolist(), count.tolist(), strict=True):
            own[at] = own.get(at, 0) + many


def averages(pieces: Pieces) -> dict[int, str]:
    """The pieces of an instance, as explain() writes them."""
    found = {}
    for node, own in pieces.items():
        inside = [own[at] for at in own if at in INSIDE]
        found[node] = number(sum(inside) / len(inside))
    return found

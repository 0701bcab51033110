"""wcg: the cheapest parent for each window (Algorithm 1 of the factor-windows paper).

needs  a cost that judges each edge by itself      time  O(n²) for n windows

Each window takes the incoming edge of least cost in the coverage graph; the others are removed.
Every window keeps one parent and the relation is a partial order, so the result is a tree
(Theorem 7), and since the choices are independent it is the cheapest tree without other windows.
Equal ranges with equal slides cannot occur (windows differ), so no two windows feed each other.

Under the `paper` cost an edge takes the paper's covering set and multiplier; under all others the
fewest pieces (W(24 h, 1 min) takes 24 of W(1 h, 1 min), not 1,381).
"""

from __future__ import annotations

from collections.abc import Iterable

from muntin.graph import Coverage, CoverageGraph
from muntin.plan import Node, SharingPlan
from muntin.strategies.problem import Problem
from muntin.windows import Window


def wcg(problem: Problem) -> SharingPlan:
    """The min-cost coverage graph over the windows that were asked for."""
    graph = CoverageGraph(problem.windows, problem.idempotent, problem.cost.fewest)
    chosen = cheapest_parents(graph, problem)
    return SharingPlan.build(map(covered, chosen.values()), problem.idempotent)


def cheapest_parents(graph: CoverageGraph, problem: Problem) -> dict[Window, Coverage]:
    """Lines 2 to 7 of Algorithm 1: the best incoming edge of each window."""

    def cost(edge: Coverage) -> float:
        return problem.cost.edge(edge.parent, edge.child, edge.pieces)

    return {window: min(graph.parents(window), key=cost) for window in graph.windows}


def covered(edge: Coverage, hidden: bool = False) -> Node:
    """The node of a window that is computed along this edge."""
    parent = edge.parent.id if isinstance(edge.parent, Window) else None
    return Node(edge.child.id, edge.child, parent, edge.pieces, hidden)


def nodes_of(chosen: Iterable[Coverage], asked: Iterable[Window]) -> list[Node]:
    """Nodes for the chosen edges; windows that nobody asked for are hidden."""
    wanted = set(asked)
    return [covered(edge, hidden=edge.child not in wanted) for edge in chosen]

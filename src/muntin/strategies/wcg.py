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

from collections.abc import Iterable, Sequence

import numpy as np

from muntin.cost.arrays import WindowArrays, source_costs
from muntin.coverage import SOURCE, Source, covering_pieces, every, fewest_pieces
from muntin.graph import Coverage
from muntin.plan import Node, SharingPlan
from muntin.strategies.edge_costs import edge_costs
from muntin.strategies.problem import Problem
from muntin.windows import Window


def wcg(problem: Problem) -> SharingPlan:
    """The min-cost coverage graph over the windows that were asked for."""
    chosen = cheapest_parents(problem.windows, problem, problem.cost.fewest)
    return SharingPlan.build(map(covered, chosen.values()), problem.idempotent)


def cheapest_parents(
    windows: Sequence[Window], problem: Problem, fewest: bool
) -> dict[Window, Coverage]:
    """Lines 2 to 7 of Algorithm 1: the best incoming edge of each window, the source included.

    All edges of the coverage graph are weighed as one matrix; only those chosen get their pieces.
    """
    table, cost = WindowArrays.of(windows), problem.cost
    between = edge_costs(cost, table, table, problem.idempotent, fewest)
    best = np.vstack([source_costs(cost, table), between]).argmin(axis=0)
    parents: list[Source | Window] = [SOURCE, *windows]
    return {
        child: edge_of(parents[parent], child, problem.idempotent, fewest)
        for child, parent in zip(windows, best.tolist(), strict=True)
    }


def edge_of(parent: Source | Window, child: Window, idempotent: bool, fewest: bool) -> Coverage:
    """An edge that is known to exist, with its pieces."""
    if isinstance(parent, Source):
        return Coverage(parent, child, every(child.range))
    pieces = (fewest_pieces if fewest else covering_pieces)(child, parent, not idempotent)
    assert pieces is not None, f"{child} has no edge from {parent}"
    return Coverage(parent, child, pieces)


def covered(edge: Coverage, hidden: bool = False) -> Node:
    """The node of a window that is computed along this edge."""
    parent = edge.parent.id if isinstance(edge.parent, Window) else None
    return Node(edge.child.id, edge.child, parent, edge.pieces, hidden)


def nodes_of(chosen: Iterable[Coverage], asked: Iterable[Window]) -> list[Node]:
    """Nodes for the chosen edges; windows that nobody asked for are hidden."""
    wanted = set(asked)
    return [covered(edge, hidden=edge.child not in wanted) for edge in chosen]

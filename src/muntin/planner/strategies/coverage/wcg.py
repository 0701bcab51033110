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

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from muntin.cost.arrays import WindowArrays, source_costs
from muntin.model.windows import Window
from muntin.plan import Node, SharingPlan
from muntin.plan.coverage import SOURCE, Source, covering_pieces, every, fewest_pieces
from muntin.plan.graph import Coverage
from muntin.planner.strategies.coverage.edge_costs import edge_costs
from muntin.planner.strategies.problem import Problem

BLOCK = 512
"""Windows whose incoming edges are weighed at once."""


def wcg(problem: Problem) -> SharingPlan:
    """The min-cost coverage graph over the windows that were asked for."""
    chosen = cheapest_parents(problem.windows, problem, problem.cost.fewest)
    return SharingPlan.build(map(covered, chosen.values()), problem.idempotent)


def cheapest_parents(
    windows: Sequence[Window], problem: Problem, fewest: bool
) -> dict[Window, Coverage]:
    """Lines 2 to 7 of Algorithm 1: the best incoming edge of each window, the source included.

    All edges of the coverage graph are weighed as matrices; only those chosen get their pieces. Of
    equally cheap parents the narrowest is taken, so that trees stay flat.
    """
    problem.budget.spend(20 * len(windows) + len(windows) ** 2 // 20)
    narrow = sorted(windows, key=lambda w: w.range)
    parents: list[Source | Window] = [SOURCE, *narrow]
    return {
        child: edge_of(parents[best], child, problem.idempotent, fewest)
        for child, best in zip(windows, _cheapest(narrow, windows, problem, fewest), strict=True)
    }


def _cheapest(
    parents: Sequence[Window], children: Sequence[Window], problem: Problem, fewest: bool
) -> Iterator[int]:
    """The place of each child's cheapest parent, 0 for the source; of equals the first.

    A block of children at a time: a matrix of all edges of many windows would not fit in memory.
    """
    table, cost = WindowArrays.of(parents), problem.cost
    for first in range(0, len(children), BLOCK):
        block = WindowArrays.of(children[first : first + BLOCK])
        between = edge_costs(cost, table, block, problem.idempotent, fewest)
        yield from np.vstack([source_costs(cost, block), between]).argmin(axis=0).tolist()


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

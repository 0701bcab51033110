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

from collections.abc import Sequence

import numpy as np

from muntin.cost.arrays import WindowArrays, source_costs
from muntin.model.windows import Window
from muntin.plan import Node, SharingPlan
from muntin.plan.coverage import SOURCE, Source, covering_pieces, every, fewest_pieces
from muntin.planner.strategies.coverage.edge_costs import BLOCK, edge_costs
from muntin.planner.strategies.problem import Problem


def wcg(problem: Problem) -> SharingPlan:
    """The min-cost coverage graph over the windows that were asked for."""
    parents = cheapest_parents(problem.windows, problem)
    disjoint, fewest = not problem.idempotent, problem.cost.fewest
    nodes = (covered_node(child, above, disjoint, fewest) for child, above in parents.items())
    return SharingPlan.build(nodes, problem.idempotent)


def cheapest_parents(windows: Sequence[Window], problem: Problem) -> dict[Window, Source | Window]:
    """Lines 2 to 7 of Algorithm 1: what each window is best computed from, the source included.

    All edges of the coverage graph are weighed as matrices, for a block of children at a time: one
    matrix of many windows would not fit in memory. Of equally cheap parents the narrowest is taken,
    so that trees stay flat.
    """
    problem.budget.spend(20 * len(windows) + len(windows) ** 2 // 20)
    narrow = sorted(windows, key=lambda w: w.range)
    parents: list[Source | Window] = [SOURCE, *narrow]
    table, cost, places = WindowArrays.of(narrow), problem.cost, list[int]()
    for first in range(0, len(windows), BLOCK):
        block = WindowArrays.of(windows[first : first + BLOCK])
        between = edge_costs(cost, table, block, problem.idempotent, cost.fewest)
        places += np.vstack([source_costs(cost, block), between]).argmin(axis=0).tolist()
    return {child: parents[place] for child, place in zip(windows, places, strict=True)}


def covered_node(
    child: Window, parent: Source | Window, disjoint: bool, fewest: bool, hidden: bool = False
) -> Node:
    """A window that is computed from the source, or from a window that is known to cover it."""
    if isinstance(parent, Source):
        return Node(child.id, child, None, every(child.range), hidden)
    pieces = (fewest_pieces if fewest else covering_pieces)(child, parent, disjoint)
    assert pieces is not None, f"{child} has no edge from {parent}"
    return Node(child.id, child, parent.id, pieces, hidden)

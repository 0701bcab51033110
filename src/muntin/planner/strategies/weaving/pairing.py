"""pairing: the best plan whose trees have at most two windows, by maximum-weight matching.

time  O(n²) edge rates and O(n³) for the matching (Gabow, in rustworkx)

Vertices are windows; an edge weighs what sharing its two windows saves. A matching of the largest
weight is the best pairing, exactly. Appendix of the bound paper, "Query pairing". The library takes
whole numbers as weights: gains are rounded to 2⁻⁵⁰ of the largest.
"""

from __future__ import annotations

from itertools import combinations

import rustworkx as rx

from muntin.plan import SharingPlan
from muntin.planner.strategies.problem import Problem
from muntin.planner.strategies.weaving.execution_trees import Tree, TreeCosts, plan_of, single_trees


def pairing(problem: Problem) -> SharingPlan:
    """Every window alone or with one other."""
    return plan_of(problem, pair_windows(problem, TreeCosts(problem)))


def pair_windows(problem: Problem, costs: TreeCosts) -> list[Tree]:
    """The pairs of the matching, and the windows that stay alone."""
    trees = single_trees(problem)
    costs.require(len(trees) * (len(trees) + 1) // 2)
    gains = {
        (i, j): gain
        for i, j in combinations(range(len(trees)), 2)
        if (gain := costs.gain(trees[i], trees[j])) > 0
    }
    graph: rx.PyGraph[int, int] = rx.PyGraph(multigraph=False)
    graph.add_nodes_from(list(range(len(trees))))
    largest = max(gains.values(), default=1.0)
    graph.add_edges_from([(i, j, round(g / largest * 2**50)) for (i, j), g in gains.items()])
    matched = sorted(map(sorted, rx.max_weight_matching(graph, weight_fn=int)))
    together = {i for pair in matched for i in pair}
    alone = [tree for i, tree in enumerate(trees) if i not in together]
    return [frozenset(pair) for pair in matched] + alone

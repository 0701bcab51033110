"""wcg-fw: the coverage graph with hidden factor windows (Algorithm 2 of the factor-windows paper).

needs  a cost that judges each edge by itself      time  O(n) searches of O(candidates · n) each

For the source and for every window, the one factor window that would save most between it and all
windows computed from it (Figure 9) joins the graph; then every window takes its cheapest parent as
in Algorithm 1. The source's children are the windows that no other covers (section 4.1).

Algorithm 2 alone may end worse than Algorithm 1: each factor window is judged as if all its
children would take it, but they choose their parents freely, and its own cost remains. So factor
windows that nobody reads are dropped, and the better of the two plans is returned (section 4.3).

Under the `paper` cost edges take the paper's covering set (and `partitioned by` uses Algorithm 4);
under all others the fewest pieces, which also lets hopping factor windows serve sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from muntin.cost import PaperCost, total
from muntin.cost.arrays import WindowArrays, source_costs
from muntin.model.windows import Window, common_unit
from muntin.plan import Node, SharingPlan
from muntin.plan.coverage import SOURCE, Source
from muntin.plan.tree import unused_id
from muntin.planner.strategies.coverage.edge_costs import children_of, edge_costs
from muntin.planner.strategies.coverage.factor_benefit import best_tumbling_factor
from muntin.planner.strategies.coverage.factor_candidates import candidates
from muntin.planner.strategies.coverage.wcg import cheapest_parents, covered_node, wcg
from muntin.planner.strategies.problem import Problem

CELLS = 2_000_000
"""Edges from candidates to children that are weighed at once; of more, every second, third …"""


def wcg_fw(problem: Problem) -> SharingPlan:
    """The better of Algorithm 1 and Algorithm 2."""
    plans = [wcg(problem), with_factor_windows(problem)]
    return min(plans, key=lambda plan: total(problem.cost, plan))


def with_factor_windows(problem: Problem) -> SharingPlan:
    """Algorithm 2 alone."""
    return plan_over(problem, best_factors(problem))


def plan_over(problem: Problem, factors: Iterable[Window]) -> SharingPlan:
    """Every window's cheapest parent among the asked windows and these; unused ones are dropped."""
    windows = [*problem.windows, *name_factors(factors, problem.windows)]
    parents, asked = cheapest_parents(windows, problem), set(problem.windows)
    disjoint, fewest = not problem.idempotent, problem.cost.fewest
    nodes: dict[Window, Node] = {}
    for window in problem.windows:
        child: Source | Window = window
        while isinstance(child, Window) and child not in nodes:
            above, hidden = parents[child], child not in asked
            nodes[child] = covered_node(child, above, disjoint, fewest, hidden)
            child = above
    return SharingPlan.build(nodes.values(), problem.idempotent)


def best_factors(problem: Problem) -> list[Window]:
    """Lines 3 to 5 of Algorithm 2: the best factor window under the source and each window."""
    windows = problem.windows
    problem.budget.spend(20 * len(windows) + len(windows) ** 2 // 20)
    fed = children_of(windows, problem.idempotent, problem.cost.fewest)
    covered = {child for children in fed for child in children}
    uncovered = [i for i in range(len(windows)) if i not in covered]
    patterns: list[tuple[Source | Window, list[int]]] = [(SOURCE, uncovered)]
    patterns += zip(windows, fed, strict=True)
    found = (
        best_factor(problem, target, [windows[i] for i in children])
        for target, children in patterns
        if children
    )
    return list(dict.fromkeys(factor for factor in found if factor is not None))


def best_factor(
    problem: Problem, target: Source | Window, children: Sequence[Window]
) -> Window | None:
    """FindBestFactorWindow: the largest saving by Equation 2, or None if nothing saves.

    >>> pair = (Window(20, 20), Window(30, 30))
    >>> print(best_factor(Problem(pair, True, PaperCost(pair)), SOURCE, pair))
    W(10, 10)
    """
    cost, idempotent = problem.cost, problem.idempotent
    if isinstance(cost, PaperCost) and not idempotent and not cost.fewest:
        return best_tumbling_factor(cost, target, children)
    problem.budget.spend(60 + len(problem.windows) // 4)
    asked, unit = frozenset(problem.windows), common_unit(problem.windows)
    found = candidates(target, children, asked, unit, idempotent, cost.fewest, problem.budget)
    if not found:
        return None
    found = found[:: -(-len(found) * len(children) // CELLS)]
    problem.budget.spend(100 + len(found) * len(children) // 10)
    factors, targets = WindowArrays.rows(found), WindowArrays.of(children)
    serve = edge_costs(cost, factors, targets, idempotent, cost.fewest).sum(axis=1)
    if isinstance(target, Source):
        own, before = source_costs(cost, factors), source_costs(cost, targets).sum()
    else:
        root = WindowArrays.of([target])
        own = edge_costs(cost, root, factors, idempotent, cost.fewest)[0]
        before = edge_costs(cost, root, targets, idempotent, cost.fewest).sum()
    change = serve + own - before
    best = int(np.argmin(change))
    return factors.window(best) if change[best] <= 0 else None


def name_factors(factors: Iterable[Window], asked: Sequence[Window]) -> list[Window]:
    """The factor windows with ids that no window of the user has."""
    taken = {w.id for w in asked}
    plain = (Window(f.range, f.slide, f.offset) for f in factors)
    return [Window(f.range, f.slide, f.offset, unused_id(f"factor {f.id}", taken)) for f in plain]

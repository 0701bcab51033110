"""steiner: several factor windows and slices chosen together, on the fewest pieces.

needs  a cost that judges each edge by itself      space  O((windows + candidates)²)
time   bounded by the planning budget: some 20 ms for 10 windows, a second for 1,000

Beyond the factor-windows paper, whose Algorithm 2 picks one factor window under each window, each
for itself. Here candidates for the whole set (`steiner_candidates`, `slice_candidates`) are chosen
by a local search (`steiner_search`) that sees chains (24 hours from 6 hours from 1 hour), factor
windows shared by several, and ladders (slices under slices). All edges take the fewest pieces,
under every cost, so that hopping factor windows serve sums too: W(24 h, 1 min) from W(1 h, 1 min).

The search descends once from the factor windows of `wcg-fw`, once from shared pairs and once from
all candidates, and goes on from the best end. The cheapest of the search's plan and those of
`wcg-fw` and `shared-pairs` is returned: never worse than either.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from muntin.cost import total
from muntin.cost.arrays import Ints, WindowArrays
from muntin.model.windows import Window
from muntin.plan import SharingPlan
from muntin.planner.strategies.coverage.factor_windows import wcg_fw
from muntin.planner.strategies.coverage.slice_candidates import slice_candidates
from muntin.planner.strategies.coverage.steiner_candidates import steiner_candidates
from muntin.planner.strategies.coverage.steiner_graph import SteinerGraph
from muntin.planner.strategies.coverage.steiner_search import GAIN, SteinerSearch
from muntin.planner.strategies.problem import Problem, budget_for
from muntin.planner.strategies.slices import on_shared_pairs

SLICES = 64
"""Slices to choose among."""
CELLS = 250
"""Matrix cells that are visited in one step of the planning budget."""


def steiner(problem: Problem) -> SharingPlan:
    """The cheapest plan found with any number of factor windows and slices.

    Under the paper's cost slices are left out: it counts their instances in another way.
    """
    if not problem.cost.fewest:
        return window_tree(problem)
    greedy = wcg_fw(problem)
    plans = [on_shared_pairs(problem), greedy, search_plan(problem, greedy, SLICES)]
    return cheapest(plans, problem)


def window_tree(problem: Problem) -> SharingPlan:
    """The cheapest plan found of windows alone.

    >>> from muntin.cost import RateCost
    >>> day = (Window("24 hours", "1 minute", id="day"),)
    >>> plan = window_tree(Problem(day, idempotent=False, cost=RateCost()))
    >>> sum(node.pieces.count for node in plan.nodes[1:])       # of 1,440 minutes
    21
    """
    greedy = wcg_fw(problem)
    return cheapest([greedy, search_plan(problem, greedy)], problem)


def cheapest(plans: Sequence[SharingPlan], problem: Problem) -> SharingPlan:
    """The plan that costs least; of those that differ by rounding only, the first."""
    costs = [total(problem.cost, plan) for plan in plans]
    least = min(costs) * (1 + GAIN)
    return next(plan for plan, cost in zip(plans, costs, strict=True) if cost <= least)


def search_plan(problem: Problem, greedy: SharingPlan, slices: int = 0) -> SharingPlan:
    """The plan that the search ends with, with so many slices to choose among.

    The factor windows of `greedy` are a set to begin from.
    """
    asked = WindowArrays.of(problem.windows)
    hidden = [n.shape for n in greedy.nodes if n.hidden and isinstance(n.shape, Window)]
    hinted = sorted({(w.range, w.slide, w.offset) for w in hidden})
    others = [r for r in steiner_candidates(problem).triples() if r not in hinted]
    windows = asked.join(WindowArrays.rows([*hinted, *others]))
    even = windows.take(np.flatnonzero(windows.range == windows.slide))
    graph = SteinerGraph.of(
        problem, windows, slice_candidates(problem, even, slices) if slices else []
    )
    first, count = len(asked), len(graph.source)
    factors, shared = range(first, first + len(hinted)), range(len(windows), count)[:1]
    return graph.plan(_search(graph, [factors, shared, range(first, count)]))


def _search(graph: SteinerGraph, starts: Iterable[range]) -> Ints:
    """The nodes of the cheapest tree found from these sets, by numbers."""
    budget, first, count = graph.problem.budget, len(graph.problem.windows), len(graph.source)
    spare = 50 * count + count**2 // 10  # for the plans to be built and compared
    cells = min(cells_for(first), CELLS * max(budget.left - spare, 0))
    search = SteinerSearch(graph.cost, graph.source, first, cells)
    ends: dict[tuple[int, ...], float] = {}
    for start in starts:
        search.start(start)
        search.descend()
        ends[tuple(search.chosen.tolist())] = search.total
    best = min(ends, key=ends.__getitem__)
    search.start(best)
    search.improve()
    budget.spend(int(cells - max(search.budget, 0)) // CELLS)
    return search.chosen


def cells_for(windows: int) -> float:
    """Matrix cells that a search may visit: at most one of the two shares that `steiner` has."""
    return min(2.5e6 + 1e4 * windows**2, CELLS * budget_for(windows).limit)

"""steiner: several factor windows chosen together, on the fewest pieces.

needs  a cost that judges each edge by itself      space  O((windows + candidates)²)
time   bounded by the planning budget: some 20 ms for 10 windows, half a second for 1,000

Beyond the factor-windows paper, whose Algorithm 2 picks one factor window under each window, each
for itself. Here candidates for the whole set (`steiner_candidates`) are chosen by a local search
(`steiner_search`) that sees chains (24 hours from 6 hours from 1 hour) and factor windows shared by
several. All edges take the fewest pieces, under every cost, so that hopping factor windows serve
sums too: W(24 h, 1 min) from W(1 h, 1 min).

The search descends once from the factor windows of `wcg-fw` and once from all candidates, and goes
on from the better end. The tree is rooted in the source; where reading it once is best, the search
finds a tumbling factor window, which is what a pane is. Slices of unequal length are no window:
where ranges are unrelated, shared pairs have fewer pieces than any pane. The cheapest of the
search's plan and those of `wcg-fw` and `shared-pairs` is returned: never worse than either.
"""

from __future__ import annotations

from collections.abc import Sequence

from muntin.cost import total
from muntin.cost.arrays import WindowArrays, source_costs
from muntin.plan import SharingPlan
from muntin.strategies.budget import budget_for
from muntin.strategies.edge_costs import edge_costs
from muntin.strategies.factor_windows import plan_over, wcg_fw
from muntin.strategies.problem import Problem
from muntin.strategies.shared_slices import on_shared_pairs
from muntin.strategies.steiner_candidates import Limits, steiner_candidates
from muntin.strategies.steiner_search import SteinerSearch
from muntin.windows import Window

LIMITS = Limits(classes=120, lengths=60, candidates=600)
"""A few windows never reach these; for many they bound the matrix of edge costs."""


CELLS = 250
"""Matrix cells that are visited in one step of the planning budget."""


def steiner(problem: Problem) -> SharingPlan:
    """The cheapest plan found with any number of factor windows, or on shared pairs.

    Under the paper's cost slices are left out: it counts their instances in another way.
    """
    tree = window_tree(problem)
    if not problem.cost.fewest:
        return tree
    return min([tree, on_shared_pairs(problem)], key=lambda plan: total(problem.cost, plan))


def window_tree(problem: Problem) -> SharingPlan:
    """The cheapest plan found of windows alone.

    >>> from muntin.cost import RateCost
    >>> day = (Window("24 hours", "1 minute", id="day"),)
    >>> plan = window_tree(Problem(day, idempotent=False, cost=RateCost()))
    >>> sum(node.pieces.count for node in plan.nodes[1:])       # of 1,440 minutes
    21
    """
    greedy = wcg_fw(problem)
    hidden = [node.shape for node in greedy.nodes if node.hidden]
    factors = chosen_factors(problem, [shape for shape in hidden if isinstance(shape, Window)])
    plans = [plan_over(problem, factors, fewest=True), greedy]
    return min(plans, key=lambda plan: total(problem.cost, plan))


def chosen_factors(problem: Problem, hints: Sequence[Window]) -> list[Window]:
    """The set of factor windows that the search ends with; `hints` are a set to begin from."""
    asked = WindowArrays.of(problem.windows)
    hinted = {(w.range, w.slide, w.offset) for w in hints}
    others = [row for row in steiner_candidates(problem, LIMITS).triples() if row not in hinted]
    nodes = asked.joined(WindowArrays.rows([*sorted(hinted), *others]))
    problem.budget.spend(len(nodes) ** 2 // 20)
    costs = edge_costs(problem.cost, nodes, nodes, problem.idempotent, fewest=True)
    first, count = len(asked), len(nodes)
    spare = 50 * count + count**2 // 10  # for the plans to be built and compared
    cells = min(cells_for(first), CELLS * max(problem.budget.left - spare, 0))
    search = SteinerSearch(costs, source_costs(problem.cost, nodes), first, cells)
    ends: dict[tuple[int, ...], float] = {}
    for start in (range(first, first + len(hinted)), range(first, count)):
        search.start(start)
        search.descend()
        ends[tuple(search.chosen.tolist())] = search.total
    best = min(ends, key=ends.__getitem__)
    search.start(best)
    search.improve()
    problem.budget.spend(int(cells - max(search.budget, 0)) // CELLS)
    return [nodes.window(i) for i in search.chosen[first:].tolist()]


def cells_for(windows: int) -> float:
    """Matrix cells that a search may visit: at most one of the two shares that `steiner` has."""
    return min(2.5e6 + 1e4 * windows**2, CELLS * budget_for(windows).limit)

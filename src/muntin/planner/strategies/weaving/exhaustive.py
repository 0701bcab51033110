"""exhaustive: the best division into trees, by dynamic programming over sets of windows.

time  O(3ⁿ) sums and 2ⁿ edge rates      space  O(2ⁿ)      limit  12 windows

best(S) = min over trees T ⊆ S that hold the first window of S:  cost(T) + best(S - T)

The optimum that the others are held against (the problem is NP-hard: section 3.1.1 of the
multi-query paper).
"""

from __future__ import annotations

from muntin.errors import StrategyError
from muntin.plan import SharingPlan
from muntin.planner.strategies.problem import Problem
from muntin.planner.strategies.weaving.execution_trees import Tree, TreeCosts, plan_of

MOST = 12
"""Windows: 2¹² trees are 4,096 edge rates."""


def exhaustive(problem: Problem) -> SharingPlan:
    """The cheapest division into trees."""
    return plan_of(problem, best_trees(problem, TreeCosts(problem)))


def best_trees(problem: Problem, costs: TreeCosts) -> list[Tree]:
    """The optimum, as trees."""
    count = len(problem.windows)
    if count > MOST:
        raise StrategyError(
            f"strategy 'exhaustive' would look at 2^{count} trees of {count} windows: "
            f"use it for at most {MOST}, or 'weave-plus'"
        )
    costs.require(1 << count)
    problem.budget.spend(3**count // 5)
    members = [frozenset(i for i in range(count) if s >> i & 1) for s in range(1 << count)]
    cost = [costs(tree) if tree else 0.0 for tree in members]
    best, choice = [0.0] * (1 << count), [0] * (1 << count)
    for all_of in range(1, 1 << count):
        first = all_of & -all_of
        rest = others = all_of ^ first
        found = float("inf")
        while True:  # every subset of the others, from all of them down to none
            value = cost[first | others] + best[rest ^ others]
            if value < found or not choice[all_of]:  # costs may be infinite
                found, choice[all_of] = value, first | others
            if not others:
                break
            others = (others - 1) & rest
        best[all_of] = found
    trees, left = [], (1 << count) - 1
    while left:
        trees.append(members[choice[left]])
        left ^= choice[left]
    return trees

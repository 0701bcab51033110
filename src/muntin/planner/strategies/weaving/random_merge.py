"""random-merge: merge two random trees while that saves ("Random" in the bound paper).

time  O(n²) edge rates      deterministic  for its seed

Pairs of trees are drawn at random; a pair whose merge saves is merged. It ends when no pair saves,
which a last round over all pairs in random order finds out.
"""

from __future__ import annotations

from itertools import combinations
from random import Random

from muntin.plan import SharingPlan
from muntin.planner.strategies.problem import Budget, Problem
from muntin.planner.strategies.weaving.execution_trees import Tree, TreeCosts, plan_of, single_trees


def random_merge(problem: Problem, seed: int = 0) -> SharingPlan:
    """Trees merged in random order."""
    costs, random = TreeCosts(problem), Random(seed)
    trees = single_trees(problem)
    costs.require(2 * len(trees))
    while (pair := _pair_that_saves(trees, costs, random, problem.budget)) is not None:
        one, other = pair
        trees = [tree for tree in trees if tree not in pair] + [one | other]
    return plan_of(problem, trees)


def _pair_that_saves(
    trees: list[Tree], costs: TreeCosts, random: Random, budget: Budget
) -> tuple[Tree, Tree] | None:
    budget.spend(3 * len(trees) ** 2 // 5)
    pairs = list(combinations(trees, 2))
    random.shuffle(pairs)
    return next((pair for pair in pairs if costs.gain(*pair) > 0), None)

"""local-search: begin with a random division, move single windows while that saves.

time  O(n·m) edge rates a round      deterministic  for its seed

Section 2.4 of the bound paper. Windows are taken in turn; each moves to the tree (or to a tree of
its own) where it costs least. It ends after a round without a move.
"""

from __future__ import annotations

from itertools import cycle
from random import Random

from muntin.plan import SharingPlan
from muntin.planner.strategies.problem import Problem
from muntin.planner.strategies.weaving.execution_trees import Tree, TreeCosts, plan_of

NOTHING: Tree = frozenset()


def local_search(problem: Problem, seed: int = 0) -> SharingPlan:
    """Single windows moved until none gains."""
    random, count = Random(seed), len(problem.windows)
    divided: dict[int, set[int]] = {}
    for window in range(count):
        divided.setdefault(random.randrange(count), set()).add(window)
    trees = [frozenset(tree) for tree in divided.values()]
    costs = TreeCosts(problem)
    costs.require(len(trees) ** 2 // 2)  # the first windows alone look at as many
    return plan_of(problem, move_windows(trees, costs, count))


def move_windows(trees: list[Tree], costs: TreeCosts, count: int) -> list[Tree]:
    """Every window where it costs least, the others given; rounds until nothing moves.

    A move must save more than rounding could: else two equal plans would alternate.
    """
    still = 0
    for window in cycle(range(count)):
        trees, changed = _move(trees, costs, window)
        still = 0 if changed else still + 1
        if still >= count:
            break
    return trees


def _move(trees: list[Tree], costs: TreeCosts, window: int) -> tuple[list[Tree], bool]:
    one = frozenset({window})
    home = next(tree for tree in trees if window in tree)
    rest = home - one
    others = [tree for tree in trees if tree is not home]
    saved = costs(home) - (costs(rest) if rest else 0.0)

    def added(target: Tree) -> float:
        return costs(target | one) - (costs(target) if target else 0.0)

    target = min([*others, NOTHING], key=added)
    if not saved - added(target) > 1e-9 * costs(home):
        return trees, False
    kept = [tree for tree in (*others, rest) if tree and tree is not target]
    return [*kept, target | one], True

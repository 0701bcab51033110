"""weave-plus: weave, then move, swap, split and merge until nothing improves.

time  O(n·m) edge rates a round of moves, O(n²) of swaps      space  every tree looked at

Beyond the papers. Greedy merging never takes a window out of a tree again. From the division that
weave-share ends with, and from that of insert-then-weave, four steps are tried until none saves:

    move    a window to another tree, or to a tree of its own
    swap    two windows of different trees
    split   a tree in two: grown from the two of its windows that lose most by being together
    merge   two trees

Every step lowers the cost, so the result is never worse than weave-share's.
"""

from __future__ import annotations

from itertools import combinations

from muntin.plan import SharingPlan
from muntin.planner.strategies.problem import Problem
from muntin.planner.strategies.weaving.execution_trees import Tree, TreeCosts, plan_of, single_trees
from muntin.planner.strategies.weaving.insert_then_weave import insert_windows, merge_trees
from muntin.planner.strategies.weaving.local_search import move_windows
from muntin.planner.strategies.weaving.weave_share import weave_trees

MOST_SWAPS = 5_000
"""Pairs of windows that a round of swaps looks at; beyond it swaps are left out."""


def weave_plus(problem: Problem) -> SharingPlan:
    """Woven trees, improved."""
    costs = TreeCosts(problem)
    costs.require(3 * len(problem.windows))
    starts = [weave_trees(problem), insert_windows(single_trees(problem), costs)]
    improved = [improve(trees, costs, len(problem.windows)) for trees in starts]
    return plan_of(problem, min([starts[0], *improved], key=costs.total))


def improve(trees: list[Tree], costs: TreeCosts, count: int) -> list[Tree]:
    """All four steps in turn until a round saves nothing."""
    while True:
        before = costs.total(trees)
        moved = move_windows(trees, costs, count)
        split = [part for tree in moved for part in _halves(tree, costs)]
        trees = _swap(merge_trees(split, costs), costs)
        if not costs.total(trees) < before * (1 - 1e-9):
            return trees


def _halves(tree: Tree, costs: TreeCosts) -> list[Tree]:
    """The tree, or two trees that cost less."""
    pairs = list(combinations(sorted(tree), 2))
    if not pairs or len(pairs) > MOST_SWAPS:
        return [tree]
    seeds = min(pairs, key=lambda pair: costs.gain(frozenset(pair[:1]), frozenset(pair[1:])))
    halves = [frozenset({seeds[0]}), frozenset({seeds[1]})]
    for window in sorted(tree - set(seeds)):
        one = frozenset({window})
        best = max((0, 1), key=lambda half: costs.gain(halves[half], one))
        halves[best] |= one
    return halves if costs.total(halves) < costs(tree) * (1 - 1e-9) else [tree]


def _swap(trees: list[Tree], costs: TreeCosts) -> list[Tree]:
    """The first swap that saves, again and again."""
    count = sum(map(len, trees))
    if count * (count - 1) // 2 > MOST_SWAPS:
        return trees
    trees = list(trees)
    while (found := _swap_that_saves(trees, costs)) is not None:
        i, j, one, other = found
        trees[i], trees[j] = one, other
    return trees


def _swap_that_saves(trees: list[Tree], costs: TreeCosts) -> tuple[int, int, Tree, Tree] | None:
    for i, j in combinations(range(len(trees)), 2):
        limit = (costs(trees[i]) + costs(trees[j])) * (1 - 1e-9)
        for x in sorted(trees[i]):
            for y in sorted(trees[j]):
                one, other = trees[i] - {x} | {y}, trees[j] - {y} | {x}
                if costs(one) + costs(other) < limit:
                    return i, j, one, other
    return None

"""insert-then-weave: put each window into the tree it weaves best with, then weave the trees.

time  O(n·m) edge rates, m trees      paper  section 2.4 of the bound paper

Windows come one by one, in the order given, as queries do that are registered at run time. Each
joins the tree that saves most, or begins a tree of its own where none saves anything; at the end
trees are merged as in weave-share.
"""

from __future__ import annotations

from collections.abc import Iterable

from muntin.plan import SharingPlan
from muntin.planner.strategies.problem import Problem
from muntin.planner.strategies.weaving.execution_trees import Tree, TreeCosts, plan_of, single_trees


def insert_then_weave(problem: Problem) -> SharingPlan:
    """Trees grown by insertion, then merged."""
    costs = TreeCosts(problem)
    costs.require(2 * len(problem.windows))
    return plan_of(problem, merge_trees(insert_windows(single_trees(problem), costs), costs))


def insert_windows(windows: Iterable[Tree], costs: TreeCosts) -> list[Tree]:
    """Each in the best tree so far, or in a new one."""
    trees: list[Tree] = []
    for window in windows:
        best = max(trees, key=lambda tree: costs.gain(tree, window), default=None)
        if best is not None and costs.gain(best, window) > 0:
            trees[trees.index(best)] = best | window
        else:
            trees.append(window)
    return trees


def merge_trees(trees: list[Tree], costs: TreeCosts) -> list[Tree]:
    """The merge that saves most, again and again: for few trees, written out."""
    trees = list(trees)
    while len(trees) > 1:
        pairs = [(a, b) for i, a in enumerate(trees) for b in trees[i + 1 :]]
        one, other = max(pairs, key=lambda pair: costs.gain(*pair))
        if not costs.gain(one, other) > 0:
            break
        trees = [tree for tree in trees if tree not in (one, other)] + [one | other]
    return trees

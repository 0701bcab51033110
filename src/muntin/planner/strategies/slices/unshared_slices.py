"""unshared-panes, unshared-pairs: each window on slices of its own.

time  O(n)      cost  one pass over the source a window, then as many slices as its instance holds

    source ─▶ slices of W₁ ─▶ W₁
    source ─▶ slices of W₂ ─▶ W₂

Panes are gcd(range, slide) long (Li et al., "No pane, no gain", 2005); pairs cut only where
instances begin and end, so at most two a slide (Krishnamurthy et al., 2006). Section 5.1 of the
factor-windows paper, Table 1: the partial aggregates alone cost n·T.
"""

from __future__ import annotations

from collections.abc import Callable

from muntin.model.windows import Window
from muntin.plan import Node, SharingPlan
from muntin.plan.slicing import Slices, pairs, panes
from muntin.plan.tree import reading_all, sliced
from muntin.planner.strategies.hidden_ids import unused_id
from muntin.planner.strategies.problem import Problem


def unshared_panes(problem: Problem) -> SharingPlan:
    """Every window on its own panes."""
    return _unshared(problem, panes)


def unshared_pairs(problem: Problem) -> SharingPlan:
    """Every window on its own pairs."""
    return _unshared(problem, pairs)


def _unshared(problem: Problem, cut: Callable[[Window], Slices]) -> SharingPlan:
    problem.budget.spend(30 * len(problem.windows))
    taken = {window.id for window in problem.windows}
    nodes: list[Node] = []
    for window in problem.windows:
        slices = sliced(cut(window), unused_id(f"slices of {window.id}", taken))
        nodes += [slices, reading_all(window, slices.id)]
    return SharingPlan.build(nodes, problem.idempotent)

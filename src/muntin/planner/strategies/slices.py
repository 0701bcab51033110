"""direct, unshared-panes, unshared-pairs, shared-panes, shared-pairs, cutty: windows on slices.

    direct                            source ─▶ every window
    unshared-panes, unshared-pairs    source ─▶ slices of W₁ ─▶ W₁,  source ─▶ slices of W₂ ─▶ W₂, …
    shared-panes, shared-pairs, cutty source ─▶ slices ─▶ W₁, W₂, …

time  O(n); shared: O(n²) to leave out cuts within cuts

`direct` is the yardstick: no sharing, one query for each window. Unshared slices cost one pass over
the source a window, and as many slices as its instance holds. Panes are gcd(range, slide) long (Li
et al., "No pane, no gain", 2005); pairs cut only where instances begin and end, so at most two a
slide (Krishnamurthy et al., 2006). Section 5.1 of the factor-windows paper, Table 1: the partial
aggregates alone cost n·T.

Shared slices cost one pass over the source, then, for each window, the slices in its instance:
T + Σ E·(r_i/s_i) with E edges in a period (Table 1). Shared panes are as long as the gcd of all
ranges, slides and offsets; shared pairs cut wherever any instance begins or ends, and no coarser
slices of whole pieces serve all windows (Theorem 1 of Krishnamurthy et al., 2006). Cutty cuts only
where instances begin, and reads the slice that is open where one ends (an edge of kind `prefix`):
⌈r/s⌉ partials where pairs take 2⌊r/s⌋ + 1 (sections 5 and 6 of the Cutty paper). Operators that run
in Python make such slices of fragments; SQL, which groups whole slices, cuts there too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from muntin.model.windows import Window
from muntin.plan import Node, SharingPlan
from muntin.plan.slicing import Slices, pairs, panes, shared_panes, shared_slices
from muntin.plan.tree import slices_node, unused_id, window_node
from muntin.planner.strategies.problem import Problem


def direct(problem: Problem) -> SharingPlan:
    """Every window under the source."""
    problem.budget.spend(10 * len(problem.windows))
    return SharingPlan.build(map(window_node, problem.windows), problem.idempotent)


def _unshared(cut: Callable[[Window], Slices], problem: Problem) -> SharingPlan:
    """Every window on slices of its own."""
    problem.budget.spend(30 * len(problem.windows))
    taken = {window.id for window in problem.windows}
    nodes: list[Node] = []
    for window in problem.windows:
        slices = slices_node(cut(window), unused_id(f"slices of {window.id}", taken))
        nodes += [slices, window_node(window, slices.id)]
    return SharingPlan.build(nodes, problem.idempotent)


def _shared(slicing: str, problem: Problem) -> SharingPlan:
    """All windows on one set of slices."""
    windows, problem = problem.windows, replace(problem, slicing=slicing)
    problem.budget.spend(30 * len(windows) + len({w.slide for w in windows}) ** 2 // 50)
    slices = shared_panes(windows) if slicing == "panes" else shared_slices(windows, slicing)
    root = slices_node(slices, unused_id("slices", [w.id for w in windows]))
    below = (window_node(w, root.id, kind=problem.kind(w)) for w in windows)
    return SharingPlan.build([root, *below], problem.idempotent)


unshared_panes = partial(_unshared, panes)
unshared_pairs = partial(_unshared, pairs)
on_shared_panes = partial(_shared, "panes")
on_shared_pairs = partial(_shared, "pairs")
on_cutty = partial(_shared, "cutty")

"""shared-panes, shared-pairs, cutty: one set of slices for all windows.

time  O(n²) to leave out cuts within cuts      cost  one pass over the source, then, for each
window, the slices in its instance

    source ─▶ slices ─▶ W₁, W₂, …

Shared panes are as long as the gcd of all ranges, slides and offsets; shared pairs cut wherever any
instance begins or ends, and no coarser slices of whole pieces serve all windows (Theorem 1 of
Krishnamurthy et al., 2006). Section 5.1 of the factor-windows paper, Table 1: T + Σ E·(r_i/s_i)
with E edges in a period. Cutty cuts only where instances begin, and reads the slice that is open
where one ends (an edge of kind `prefix`): ⌈r/s⌉ partials where pairs take 2⌊r/s⌋ + 1 (sections 5
and 6 of the Cutty paper). Engines that group whole slices cut there too: they run shared pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from muntin.model.windows import Window
from muntin.plan import SharingPlan
from muntin.plan.slicing import Slices, shared_pairs, shared_panes, shared_slices
from muntin.plan.tree import reading_all, sliced
from muntin.planner.strategies.hidden_ids import unused_id
from muntin.planner.strategies.problem import Problem


def on_shared_panes(problem: Problem) -> SharingPlan:
    """All windows on panes of one length."""
    return _shared(problem, "panes", shared_panes)


def on_shared_pairs(problem: Problem) -> SharingPlan:
    """All windows on the coarsest slices that serve them whole."""
    return _shared(problem, "pairs", shared_pairs)


def on_cutty(problem: Problem) -> SharingPlan:
    """All windows on slices that begin where instances do."""
    return _shared(problem, "cutty", partial(shared_slices, slicing="cutty"))


def _shared(
    problem: Problem, slicing: str, cut: Callable[[Sequence[Window]], Slices]
) -> SharingPlan:
    problem = replace(problem, slicing=slicing)
    different = len({window.slide for window in problem.windows})
    problem.budget.spend(30 * len(problem.windows) + different**2 // 50)
    slices = cut(problem.windows)
    root = sliced(slices, unused_id("slices", [window.id for window in problem.windows]))
    windows = (reading_all(w, root.id, kind=problem.kind(w)) for w in problem.windows)
    return SharingPlan.build([root, *windows], problem.idempotent)

"""no-share, all-share: every window a tree of its own, and one tree for all windows.

"No Share" and "Shared" in section 2.4 of the bound paper. No-share is the plan N that savings are
measured from: R(X) = C(N) - C(X). All-share takes one pass over the source and the shortest slices
of all divisions: shared pairs under the name that the weaving papers give them.
"""

from __future__ import annotations

from muntin.plan import SharingPlan
from muntin.planner.strategies.problem import Problem
from muntin.planner.strategies.weaving.execution_trees import plan_of, single_trees


def no_share(problem: Problem) -> SharingPlan:
    """Every window on its own slices."""
    return plan_of(problem, single_trees(problem))


def all_share(problem: Problem) -> SharingPlan:
    """All windows in one tree."""
    return plan_of(problem, [frozenset(range(len(problem.windows)))])

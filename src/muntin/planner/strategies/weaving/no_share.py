"""no-share: every window a tree of its own ("No Share" in the bound paper, section 2.4).

The plan N that savings are measured from: R(X) = C(N) - C(X).
"""

from __future__ import annotations

from muntin.plan import SharingPlan
from muntin.planner.strategies.problem import Problem
from muntin.planner.strategies.weaving.execution_trees import plan_of, single_trees


def no_share(problem: Problem) -> SharingPlan:
    """Every window on its own slices."""
    return plan_of(problem, single_trees(problem))

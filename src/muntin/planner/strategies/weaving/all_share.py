"""all-share: one tree for all windows ("Shared" in the bound paper, section 2.4).

One pass over the source, and the shortest slices of all divisions: shared pairs under the name that
the weaving papers give them.
"""

from __future__ import annotations

from muntin.plan import SharingPlan
from muntin.planner.strategies.problem import Problem
from muntin.planner.strategies.weaving.execution_trees import plan_of


def all_share(problem: Problem) -> SharingPlan:
    """All windows in one tree."""
    return plan_of(problem, [frozenset(range(len(problem.windows)))])

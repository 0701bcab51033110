"""all-share: one tree for all windows ("Shared" in the bound paper, section 2.4).

One pass over the source, and the shortest slices of all divisions: shared pairs under the name that
the weaving papers give them.
"""

from __future__ import annotations

from muntin.plan import SharingPlan
from muntin.strategies.execution_trees import plan_of
from muntin.strategies.problem import Problem


def all_share(problem: Problem) -> SharingPlan:
    """All windows in one tree."""
    return plan_of(problem, [frozenset(range(len(problem.windows)))])

"""direct: every window reads the source, as one query for each window would.

The yardstick: no sharing, and the cost that all others are compared with.
"""

from __future__ import annotations

from muntin.plan import SharingPlan
from muntin.plan.tree import reading_all
from muntin.planner.strategies.problem import Problem


def direct(problem: Problem) -> SharingPlan:
    """Every window under the source."""
    problem.budget.spend(10 * len(problem.windows))
    return SharingPlan.build(map(reading_all, problem.windows), problem.idempotent)

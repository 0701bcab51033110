"""tri-weave: one pass makes the finest slices, and woven trees aggregate these into their own.

time  as weave-share      space  as weave-share

    source ─▶ slices of all ─▶ slices of tree i ─▶ its windows        C = λ + m·E_all + Σ E_i·Ω_i

One more tree costs E_all, which is less than λ unless records are rare: more trees, longer slices.
Section 3.1.1 of the multi-query paper, which gives no formula: see DESIGN section 6 and
`muntin.cost.weave`.
"""

from __future__ import annotations

from muntin.plan import SharingPlan
from muntin.plan.slicing import shared_slices
from muntin.plan.slicing.edges import edge_work
from muntin.planner.strategies.problem import Problem
from muntin.planner.strategies.weaving.execution_trees import plan_of
from muntin.planner.strategies.weaving.weave_share import woven_trees


def tri_weave(problem: Problem) -> SharingPlan:
    """The woven trees under slices that serve all windows."""
    finest = shared_slices(problem.windows, problem.slicing)
    problem.budget.spend(edge_work(finest))
    return plan_of(problem, woven_trees(problem, finest), three_levels=True)

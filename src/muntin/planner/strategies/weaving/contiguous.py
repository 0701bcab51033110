"""contiguous: the best plan whose trees are runs of windows in the order given.

time  O(n²) edge rates      space  O(n)

    c_i = min over j ≥ i of  cost(q_i … q_j) + c_{j+1}        π_i = the j that gives it

Appendix of the bound paper, "Continuous query sharing". With queries in the order in which they
expire, the plan after the first has gone is already in the table: it costs c_2, and π_2 begins it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from muntin.plan import SharingPlan
from muntin.planner.strategies.problem import Problem
from muntin.planner.strategies.weaving.execution_trees import Tree, TreeCosts, plan_of


@dataclass(frozen=True, slots=True)
class Table:
    """c_i and π_i, counted from zero; c_n = 0.

    >>> Table((5.0, 3.0, 2.0, 0.0), (1, 1, 2)).trees(first=0)
    [frozenset({0, 1}), frozenset({2})]
    """

    costs: Sequence[float]
    ends: Sequence[int]

    def trees(self, first: int = 0) -> list[Tree]:
        """The best plan without the windows before `first`, which have expired."""
        trees = []
        while first < len(self.ends):
            trees.append(frozenset(range(first, self.ends[first] + 1)))
            first = self.ends[first] + 1
        return trees


def contiguous(problem: Problem) -> SharingPlan:
    """The best division into runs."""
    return plan_of(problem, table_of(problem, TreeCosts(problem)).trees())


def table_of(problem: Problem, costs: TreeCosts) -> Table:
    """The dynamic programme, from right to left."""
    count = len(problem.windows)
    costs.require(count * (count + 1) // 2)
    best, ends = [0.0] * (count + 1), [0] * count
    for i in reversed(range(count)):
        choices = [costs(frozenset(range(i, j + 1))) + best[j + 1] for j in range(i, count)]
        best[i] = min(choices)
        ends[i] = i + choices.index(best[i])
    return Table(best, ends)

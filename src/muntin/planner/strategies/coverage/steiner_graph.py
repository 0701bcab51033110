"""What `steiner` searches: windows and slices, the cost of every edge, and the plan of a choice.

space  O(nodes²)      time  vectorised

    nodes    the asked windows, then factor windows, then slices
    edges    windows from windows with the fewest pieces, windows from slices that are cut where
             they begin and end, slices from finer slices

Two slices that refine each other are one and the same, and listed once: so there is no cycle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from muntin.cost.arrays import Floats, Ints, WindowArrays, slice_costs, source_costs
from muntin.plan import SharingPlan
from muntin.plan.coverage import SOURCE
from muntin.plan.slicing import Slices
from muntin.plan.slicing.edges import edge_work
from muntin.plan.tree import slices_node, unused_id, window_node
from muntin.planner.strategies.coverage.edge_costs import edge_costs
from muntin.planner.strategies.coverage.factor_windows import name_factors
from muntin.planner.strategies.coverage.slice_candidates import refines, serves
from muntin.planner.strategies.coverage.wcg import covered_node
from muntin.planner.strategies.problem import Problem
from muntin.planner.strategies.weaving.greedy_merging import PATIENCE, planning_rate


@dataclass(frozen=True, slots=True)
class SteinerGraph:
    """Numbered nodes; `cost[p, v]` is that of v from p, `source[v]` that of v from the source."""

    problem: Problem
    windows: WindowArrays
    slices: tuple[Slices, ...]
    cost: Floats
    source: Floats

    @staticmethod
    def of(problem: Problem, windows: WindowArrays, slices: Sequence[Slices]) -> SteinerGraph:
        """The graph of these windows, the asked ones first, and these slices."""
        count = len(windows)
        problem.budget.spend((count + len(slices)) ** 2 // 20)
        cost = np.full((count + len(slices),) * 2, np.inf)
        cost[:count, :count] = edge_costs(
            problem.cost, windows, windows, problem.idempotent, fewest=True
        )
        source = source_costs(problem.cost, windows)
        if slices:
            cuts = sum(len(each.cuts) for each in slices)
            problem.budget.spend(sum(edge_work(each, PATIENCE) for each in slices))
            problem.budget.spend(cuts * (count + cuts) // 100 + 5 * len(slices) ** 2)
            edges = np.array([planning_rate(each) for each in slices])
            found = slice_costs(problem.cost, slices, edges, windows)
            cost[count:, :count] = np.where(serves(slices, windows), found.windows, np.inf)
            cost[count:, count:] = np.where(refines(slices), found.slices, np.inf)
            source = np.concatenate([source, found.source])
        return SteinerGraph(problem, windows, tuple(slices), cost, source)

    def plan(self, chosen: Ints) -> SharingPlan:
        """Every chosen node from its cheapest parent among them; unused ones are dropped."""
        used = self._used(chosen)
        asked, count = len(self.problem.windows), len(self.windows)
        taken = {window.id for window in self.problem.windows}
        factors = [i for i in used if asked <= i < count]
        hidden = name_factors(map(self.windows.window, factors), self.problem.windows)
        shapes = dict(enumerate(self.problem.windows)) | dict(zip(factors, hidden, strict=True))
        fine = sorted((i for i in used if i >= count), key=lambda i: self.source[i], reverse=True)
        numbers = [""] if len(fine) == 1 else [f" {n}" for n in range(1, len(fine) + 1)]
        ids = {i: unused_id(f"slices{n}", taken) for i, n in zip(fine, numbers, strict=True)}
        nodes = []
        for node, parent in used.items():
            if node >= count:
                nodes.append(slices_node(self.slices[node - count], ids[node], ids.get(parent)))
            elif parent in ids:
                nodes.append(window_node(shapes[node], ids[parent], hidden=node >= asked))
            else:
                above = SOURCE if parent < 0 else shapes[parent]
                disjoint = not self.problem.idempotent
                nodes.append(covered_node(shapes[node], above, disjoint, True, node >= asked))
        return SharingPlan.build(nodes, self.problem.idempotent)

    def _used(self, chosen: Ints) -> dict[int, int]:
        """The nodes on some path to an asked window, each with its parent; -1 for the source.

        Of equally cheap parents the source, then the narrowest window, then slices: flat trees.
        """
        lengths = np.concatenate([self.windows.range, np.full(len(self.slices), 2**62)])
        narrow = chosen[np.lexsort((chosen, lengths[chosen]))]
        edges = np.vstack([self.source[chosen], self.cost[np.ix_(narrow, chosen)]])
        parents = np.concatenate([[-1], narrow])[edges.argmin(axis=0)]
        above = dict(zip(chosen.tolist(), parents.tolist(), strict=True))
        used: dict[int, int] = {}
        for node in range(len(self.problem.windows)):
            while node >= 0 and node not in used:
                used[node] = above[node]
                node = above[node]
        return used

"""The optimum over trees of windows and slices, for costs in which slices pay.

needs  scipy (HiGHS)      time  exponential at worst; for about six small windows

The programme of `optimum`, with slices among its nodes: those of every set of asked windows, by
pairs and by panes. Slices that serve some windows and nothing else need no other cuts (Theorem 1 of
Krishnamurthy et al., 2006), and a pane is all that a tumbling factor window is. So of the trees of
this library only those are left out whose slices are cut for hopping factor windows alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from lab.experiments.optimum import all_candidates, least_tree
from muntin.cost import CostModel
from muntin.cost.arrays import Floats, WindowArrays, source_costs
from muntin.model.windows import Window
from muntin.plan.coverage import SOURCE, every
from muntin.plan.slicing import Slices, begins, ends, shared_pairs, shared_panes
from muntin.planner.strategies import Problem
from muntin.planner.strategies.coverage.edge_costs import edge_costs


def optimum_with_slices(problem: Problem, known: float = np.inf) -> float:
    """The least cost of any tree; `known` is the cost of some tree, if there is one.

    >>> from muntin.cost import RateCost
    >>> windows = Window(14, 8), Window(10, 6)             # nothing but pairs serves both
    >>> model = RateCost(rate=1e6)
    >>> round(optimum_with_slices(Problem(windows, False, model)) / 1e6, 3)
    2.424
    """
    windows = WindowArrays.of(problem.windows).join(all_candidates(problem))
    shapes = [windows.window(i) for i in range(len(windows))]
    slices = all_slices(problem.windows)
    between = edge_costs(problem.cost, windows, windows, problem.idempotent, fewest=True)
    never = np.full((len(windows), len(slices)), np.inf)
    costs = np.block([[between, never], [from_slices(problem.cost, slices, shapes)]])
    own = [problem.cost.edge(SOURCE, each, every(1)) for each in slices]
    source = np.concatenate([source_costs(problem.cost, windows), own])
    return least_tree(costs, source, len(problem.windows), known)


def all_slices(windows: Sequence[Window]) -> list[Slices]:
    """The pairs and the panes of every set of these windows, each once."""
    sets = [some for n in range(len(windows)) for some in combinations(windows, n + 1)]
    return list(dict.fromkeys(cut(some) for some in sets for cut in (shared_pairs, shared_panes)))


def from_slices(model: CostModel, slices: Sequence[Slices], windows: Sequence[Window]) -> Floats:
    """The cost of every window, then of all slices, from each of the slices; infinite for none."""
    costs = np.full((len(slices), len(windows) + len(slices)), np.inf)
    for i, parent in enumerate(slices):
        for j, window in enumerate(windows):
            if parent.cuts_at(begins(window)) and parent.cuts_at(ends(window)):
                costs[i, j] = model.edge(parent, window, every(window.range))
        for j, child in enumerate(slices):
            if i != j and all(map(parent.cuts_at, child.cuts)):
                costs[i, len(windows) + j] = model.edge(parent, child, every(1))
    return costs

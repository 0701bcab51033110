"""The true optimum of a planning problem, by mixed-integer programming.

needs  scipy (HiGHS)      time  exponential at worst; well under a second for ten small windows

The candidate set is complete: every window, in units of the common unit, that covers an asked one
with the fewest pieces. A factor window in a useful tree covers some asked window, because coverage
is transitive, so no tree of windows is left out. With y_v = 1 for windows in the tree and x_pv = 1
for its edges (p may be the source):

    minimise Σ cost(p, v)·x_pv
    Σ_p x_pv = y_v      every window in the tree has one parent
    x_pv ≤ y_p          and the parent is in the tree
    y_v = 1             for the asked windows
    Σ_v x_source,v ≥ 1  some window reads the source (implied, but it tightens the relaxation)

An edge that costs no less than reading the source is left out. Given the cost of some plan, the
relaxation (x and y between 0 and 1) is solved first. If it costs as much, the plan is optimal;
otherwise every variable whose reduced cost exceeds the difference is zero in all better trees and
leaves the programme, which is what makes 500 problems bearable.

`optimum_with_slices`, for about six small windows and costs in which slices pay, adds nodes: the
slices of every set of asked windows, by pairs and by panes. Slices that serve some windows and
nothing else need no other cuts (Theorem 1 of Krishnamurthy et al., 2006), and a pane is all that a
tumbling factor window is. So of the trees of this library only those are left out whose slices are
cut for hopping factor windows alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from muntin.cost import CostModel
from muntin.cost.arrays import Floats, Ints, WindowArrays, source_costs
from muntin.errors import StrategyError
from muntin.model.windows import Window, common_unit
from muntin.plan.coverage import SOURCE, every
from muntin.plan.slicing import Slices, begins, ends, shared_pairs, shared_panes
from muntin.planner.strategies import Problem
from muntin.planner.strategies.coverage.divisors import divisors, divisors_between
from muntin.planner.strategies.coverage.edge_costs import edge_costs

EQUAL = 1e-9
"""Costs closer than this, relative to each other, are equal: linear programmes are not exact."""


def all_candidates(problem: Problem) -> WindowArrays:
    """Every window that is not asked for and covers an asked one."""
    unit = common_unit(problem.windows)
    asked = {(w.range, w.slide, w.offset) for w in problem.windows}
    found = {
        (length, slide, window.offset % slide)
        for window in problem.windows
        for slide in (unit * d for d in divisors(window.slide // unit))
        for length in _ranges(window, slide, problem.idempotent)
    }
    return WindowArrays.rows(sorted(found - asked))


def _ranges(window: Window, slide: int, idempotent: bool) -> list[int]:
    if idempotent:
        rest = window.range % slide
        return list(range(slide + rest, window.range + 1, slide))
    return [*divisors_between(slide, window.range), window.range]


def optimum(problem: Problem, known: float = np.inf) -> float:
    """The least cost of any tree of windows; `known` is the cost of some tree, if there is one.

    >>> from muntin.cost import PaperCost
    >>> tumbling = tuple(Window(r, r) for r in (20, 30, 40))
    >>> round(optimum(Problem(tumbling, True, PaperCost(tumbling))), 6)
    150.0
    """
    nodes = WindowArrays.of(problem.windows).join(all_candidates(problem))
    source = source_costs(problem.cost, nodes)
    costs = edge_costs(problem.cost, nodes, nodes, problem.idempotent, fewest=True)
    return least_tree(costs, source, len(problem.windows), known)


def least_tree(costs: Floats, source: Floats, asked: int, known: float = np.inf) -> float:
    """The programme above; rows 0 … asked - 1 are the asked windows."""
    scale = float(source[:asked].sum())
    programme = _programme(costs / scale, source / scale, asked)
    relaxed = _solve(programme | {"integrality": None})
    if relaxed.fun >= known / scale * (1 - EQUAL):
        return known
    spare = known / scale - relaxed.fun
    if np.isfinite(spare):
        least, most = programme["bounds"].T
        most[(relaxed.lower.marginals > spare + EQUAL) & (least == 0)] = 0
    return float(min(known, _solve(programme).fun * scale))


def _programme(costs: Floats, source: Floats, asked: int) -> dict[str, Any]:
    """What `linprog` takes; variables are x between windows, x from the source, y."""
    count = len(source)
    parents, children = np.nonzero(costs < source)
    edges, own = len(parents), np.arange(count)
    numbers, size = np.arange(edges), edges + 2 * count
    x, y = edges + own, edges + count + own
    into = _matrix((children, numbers, 1), (own, x, 1), (own, y, -1), shape=(count, size))
    # One row more than edges: something reads the source, which relaxations would spread thinly.
    root = np.full(count, edges)
    terms = (numbers, numbers, 1), (numbers, y[parents], -1), (root, x, -1)
    bounds = np.tile([0.0, 1.0], (size, 1))
    bounds[y[:asked], 0] = 1
    return {
        "c": np.concatenate([costs[parents, children], source, np.zeros(count)]),
        "A_ub": _matrix(*terms, shape=(edges + 1, size)),
        "b_ub": np.append(np.zeros(edges), -1),
        "A_eq": into,
        "b_eq": np.zeros(count),
        "bounds": bounds,
        "integrality": np.repeat([0, 1], [edges + count, count]),
    }


def _matrix(*terms: tuple[Ints, Ints, int], shape: tuple[int, int]) -> Any:
    """A sparse matrix with each value at its rows and columns."""
    from scipy.sparse import csr_array  # type: ignore[import-untyped]

    values = np.concatenate([np.full(len(rows), value) for rows, _, value in terms])
    rows = np.concatenate([rows for rows, _, _ in terms])
    columns = np.concatenate([columns for _, columns, _ in terms])
    return csr_array((values.astype(float), (rows, columns)), shape=shape)


def _solve(programme: dict[str, Any]) -> Any:
    from scipy.optimize import linprog  # type: ignore[import-untyped]

    answer = linprog(**programme, options={"mip_rel_gap": 0.0})
    if not answer.success:
        raise StrategyError(f"the optimum was not found: {answer.message}; try smaller windows")
    return answer


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

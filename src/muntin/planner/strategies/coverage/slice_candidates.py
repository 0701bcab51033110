"""Candidate slices for a whole set of windows, for `steiner` to choose among.

time  as weaving for up to `FEW` different cuts      space  at most `limit`

    the coarsest slices that serve all windows        (shared pairs)
    the trees that weaving merges on the way to its own, under those slices: rungs of a ladder
    every window's own pairs
    panes: slices as long as each tumbling window that is asked for or a candidate

Slices cost less to make than the tumbling window of the same length where the kernel runs: pieces
are folded into one slice each, and nothing is scanned twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from muntin.cost.arrays import WindowArrays
from muntin.plan.slicing import Cut, Slices, pairs, shared_pairs
from muntin.planner.strategies.problem import Problem
from muntin.planner.strategies.weaving.weave_share import loom_over

Flags = NDArray[np.bool_]
FEW = 64
"""Different cuts of windows, beyond which weaving takes too long for candidates alone."""


def slice_candidates(problem: Problem, tumbling: WindowArrays, limit: int) -> list[Slices]:
    """Slices that may be worth making, the most useful ones first.

    >>> from muntin.cost import RateCost
    >>> from muntin.model.windows import Window
    >>> problem = Problem((Window(4, 4), Window(6, 6), Window(9, 9)), False, RateCost())
    >>> [str(s) for s in slice_candidates(problem, WindowArrays.rows([(2, 2, 0)]), limit=9)]
    ['4ℤ ∪ 6ℤ ∪ 9ℤ', '4ℤ ∪ 6ℤ', '4ℤ', '6ℤ', '9ℤ', '2ℤ']
    """
    problem.budget.spend(20 * len(problem.windows))
    finest = shared_pairs(problem.windows)
    own = Counter(pairs(window) for window in problem.windows)
    found = [finest]
    if len(own) <= FEW:
        loom = loom_over(problem, finest)
        loom.weave()
        found += reversed(loom.merged)
    found += [slices for slices, _ in own.most_common()]
    found += [Slices((Cut(slide, offset),)) for _, slide, offset in tumbling.triples()]
    different: dict[frozenset[Cut], Slices] = {}
    for slices in found:
        different.setdefault(frozenset(slices.cuts), slices)
    return list(different.values())[:limit]


def serves(slices: Sequence[Slices], windows: WindowArrays) -> Flags:
    """Which windows (columns) begin and end where each of the slices (rows) is cut.

    A class of instants that only several cuts have together is not looked for.

    >>> serves([Slices((Cut(4, 0), Cut(6, 2)))], WindowArrays.rows([(4, 4, 0), (6, 6, 0)])).tolist()
    [[True, False]]
    """
    end = windows.offset + windows.range
    rows = [
        _cut_at(s, windows.slide, windows.offset) & _cut_at(s, windows.slide, end) for s in slices
    ]
    return np.array(rows).reshape(len(slices), len(windows))


def refines(slices: Sequence[Slices]) -> Flags:
    """Which slices (columns) are made of each of them (rows), other than of themselves."""
    cuts = [_columns(s.cuts) for s in slices]
    found = np.array([[bool(_cut_at(one, *other).all()) for other in cuts] for one in slices])
    np.fill_diagonal(found, False)
    return found.reshape(len(slices), len(slices))


def _cut_at(slices: Slices, steps: NDArray[np.int64], phases: NDArray[np.int64]) -> Flags:
    """Which of the classes of instants lie within one of the cuts."""
    step, phase = (column[:, None] for column in _columns(slices.cuts))
    found: Flags = ((steps % step == 0) & ((phases - phase) % step == 0)).any(axis=0)
    return found


def _columns(cuts: Iterable[Cut]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    table = np.array([(cut.step, cut.phase) for cut in cuts], dtype=np.int64)
    return table[:, 0], table[:, 1]

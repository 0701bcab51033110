"""Candidate factor windows for a whole set of windows, for `steiner` to choose among.

time  O(candidates · windows), vectorised      space  at most `CANDIDATES`

A window's class is (slide, offset mod slide, range mod slide). Within a class a longer window is
covered by every shorter one (Theorem 1). The *meet* of two classes is the coarsest class whose
windows cover members of both: its slide is the gcd of the slides, of the distance of the offsets
and of the distance of the ranges. Among factor windows for the same members those of the meet have
the fewest instances, so finer slides need not be tried. The *pane* of a class is the coarsest class
below it with range mod slide = 0: the one that has a tumbling window.

    classes = every window's own class and pane, and all their meets

Candidates are windows W(a·slide + rest, slide) of every class that serves asked windows. The
lengths a are those at which some member needs one piece less (`fewer_pieces`), or the divisors of a
member's length where pieces must be disjoint; the shortest, a = 1, always stays. A longer one stays
if it would save something for the asked windows when computed from the shortest of its class; if
too many do, those that save most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from muntin.cost.arrays import Floats, Ints, WindowArrays
from muntin.planner.strategies.coverage.divisors import divisors, trials
from muntin.planner.strategies.coverage.edge_costs import edge_costs
from muntin.planner.strategies.coverage.factor_candidates import fewer_pieces
from muntin.planner.strategies.problem import UNLIMITED, Budget, Problem

CLASSES = 120
"""Classes that are looked at; a few windows never reach these limits."""
LENGTHS = 60
"""Lengths that are looked at in each class."""
CANDIDATES = 600
"""Candidates in all, which bound the matrix of edge costs."""
SIZES = 2_000
"""Different members whose lengths are looked up, in all classes."""


def steiner_candidates(problem: Problem) -> WindowArrays:
    """Windows that may be worth computing though nobody asked for them."""
    asked, budget = WindowArrays.of(problem.windows), problem.budget
    classes = classes_for(asked, problem.idempotent, CLASSES, budget)
    serves = members(classes, asked)
    roots = WindowArrays(classes[:, 0] + classes[:, 2], classes[:, 0], classes[:, 1])
    most = max(SIZES // len(classes), 10)
    lengths = [
        _lengths(asked.range[served] // slide, problem.idempotent, most, budget)
        for slide, served in zip(classes[:, 0], serves, strict=True)
    ]
    base = np.repeat(np.arange(len(classes)), [len(each) for each in lengths])
    slides = classes[base, 0]
    steps = np.array([a for each in lengths for a in each], dtype=np.int64)
    longer = WindowArrays(steps * slides + classes[base, 2], slides, classes[base, 1])
    budget.spend((len(roots) + 2 * len(longer)) * len(asked) // 25)
    gains = _gains(problem, asked, roots, longer, base)
    kept = np.flatnonzero(gains > 0)
    kept = kept[np.argsort(-gains[kept], kind="stable")]
    room = max(0, CANDIDATES - len(roots))
    found = roots.join(longer.take(kept[:room])).triples()
    taken = set(asked.triples())
    return WindowArrays.rows(row for row in dict.fromkeys(found) if row not in taken)


def _lengths(sizes: Ints, idempotent: bool, most: int, budget: Budget) -> list[int]:
    """Lengths beyond one slide that help members of these sizes, the most helpful ones first."""
    shorter = fewer_pieces if idempotent else divisors
    helped: Counter[int] = Counter()
    for size, times in Counter(sizes.tolist()).most_common(most):
        found = shorter(size)
        budget.spend(trials(size) + len(found) // 5)
        helped.update(dict.fromkeys(found, times))
    del helped[1]
    return [length for length, _ in helped.most_common(LENGTHS)]


def _gains(
    problem: Problem, asked: WindowArrays, roots: WindowArrays, longer: WindowArrays, base: Ints
) -> Floats:
    """What each longer window saves beside the shortest window of its class."""
    cost, idempotent = problem.cost, problem.idempotent
    before = edge_costs(cost, roots, asked, idempotent, fewest=True)[base]
    after = edge_costs(cost, longer, asked, idempotent, fewest=True)
    better = after < before
    saved = np.where(better, before, 0.0) - np.where(better, after, 0.0)
    # The shortest window of a class makes a longer one from as many pieces as it has steps.
    own = [
        edge_costs(cost, roots.take(base[i : i + 1]), longer.take(at), idempotent, fewest=True)[0]
        for i, at in _runs(base)
    ]
    gains: Floats = saved.sum(axis=1) - (np.concatenate(own) if own else 0.0)
    return gains


def _runs(base: Ints) -> Iterable[tuple[int, Ints]]:
    """Where each class begins, and the positions of its windows."""
    if not len(base):
        return ()
    starts = np.flatnonzero(np.diff(base, prepend=-1))
    return zip(starts.tolist(), np.split(np.arange(len(base)), starts[1:]), strict=True)


def classes_for(
    windows: WindowArrays, idempotent: bool, limit: int, budget: Budget = UNLIMITED
) -> Ints:
    """One row (slide, offset, rest) a class; the most useful ones if there are more than `limit`.

    Pieces that must be disjoint tile a window only if slides divide ranges: panes alone then.

    >>> windows = WindowArrays.rows([(20, 20, 0), (30, 30, 0), (14, 8, 0)])
    >>> classes_for(windows, idempotent=False, limit=10).tolist()
    [[2, 0, 0], [10, 0, 0], [20, 0, 0], [30, 0, 0]]
    """
    own = np.stack([windows.slide, windows.offset, windows.range % windows.slide], axis=1)
    seed = np.concatenate([own, _panes(own)]) if idempotent else _panes(own)
    budget.spend(2 * len(seed) + len(seed) * len(windows) // 30)
    known = _most_useful(np.unique(seed, axis=0), windows, limit)
    while True:
        budget.spend(200 + 2 * len(known) ** 2)
        left, right = np.triu_indices(len(known), k=1)
        meets = _meets(known[left], known[right])
        grown = np.unique(np.concatenate([known, meets, _panes(meets)]), axis=0)
        budget.spend(len(grown) * len(windows) // 30 if len(grown) > limit else 0)
        grown = _most_useful(grown, windows, limit)
        if np.array_equal(grown, known):
            return known
        known = grown


def members(classes: Ints, windows: WindowArrays) -> NDArray[np.bool_]:
    """Which windows (columns) each class (row) can serve."""
    slide = classes[:, :1]
    fits: NDArray[np.bool_] = windows.slide % slide == 0
    fits &= (windows.offset - classes[:, 1:2]) % slide == 0
    fits &= (windows.range - classes[:, 2:3]) % slide == 0
    return fits


def _panes(classes: Ints) -> Ints:
    slide = np.gcd(classes[:, 0], classes[:, 2])
    return np.stack([slide, classes[:, 1] % slide, np.zeros_like(slide)], axis=1)


def _meets(left: Ints, right: Ints) -> Ints:
    slide = np.gcd(left[:, 0], right[:, 0])
    slide = np.gcd(slide, left[:, 1] - right[:, 1])
    slide = np.gcd(slide, left[:, 2] - right[:, 2])
    return np.stack([slide, left[:, 1] % slide, left[:, 2] % slide], axis=1)


def _most_useful(classes: Ints, windows: WindowArrays, limit: int) -> Ints:
    """The classes with the most members, the coarser before the finer."""
    if len(classes) <= limit:
        return classes
    served = members(classes, windows).sum(axis=1)
    order = np.lexsort((-classes[:, 0], -served))
    return classes[np.sort(order[:limit])]

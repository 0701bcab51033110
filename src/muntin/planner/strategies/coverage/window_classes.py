"""Classes of windows that cover each other, and the coarsest classes that serve several.

time  O(classes²) a round, vectorised      space  at most `limit` classes

A window's class is (slide, offset mod slide, range mod slide). Within a class a longer window is
covered by every shorter one (Theorem 1). The *meet* of two classes is the coarsest class whose
windows cover members of both: its slide is the gcd of the slides, of the distance of the offsets
and of the distance of the ranges. Among factor windows for the same members those of the meet have
the fewest instances, so finer slides need not be tried. The *pane* of a class is the coarsest class
below it with range mod slide = 0: the one that has a tumbling window.

    classes = every window's own class and pane, and all their meets
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from muntin.cost.arrays import Ints, WindowArrays
from muntin.planner.strategies.budget import UNLIMITED, Budget


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

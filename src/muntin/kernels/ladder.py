"""Combinations of any runs of neighbours: one ladder of blocks answers frames of every length.

order  values in order, runs in any order      needs  a monoid, which need not commute; no inverse
time   log₂ n passes over half the values, then one combine a run      space  two arrays

Level k cuts the values into blocks of 2ᵏ. The first and the last value of a run differ in some
highest binary digit k of their positions; so they lie in neighbouring blocks of level k, the two
halves of one block of level k + 1, and

    … | · · l · | · r · · | …        run = suffix of l's block ⊕ prefix of r's block

Suffixes and prefixes of level k + 1 follow from those of level k by one combine for half of the
values: what is in the newer half gets the total of the older before it, what is in the older half
the total of the newer after it. They are renewed in place, and each level answers its own runs
before the next: all frames of all rows, whatever their lengths, climb one ladder. (A disjoint
sparse table that keeps only its current level.) Nothing outside a run is ever combined into it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from muntin.kernels.monoids import Array, Arrays, Monoid


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs of values that are not empty, sorted by the level that answers them.

    Of level 0 are runs of one value; a run of level k is answered by blocks of 2ᵏ⁻¹ values.
    """

    order: Array
    first: Array
    last: Array
    bounds: Array
    """Where each level begins in that order."""

    @staticmethod
    def of(low: Array, high: Array) -> Runs:
        """The runs low … high − 1.

        >>> Runs.of(np.array([3, 0, 2]), np.array([4, 8, 4])).order.tolist()
        [0, 2, 1]
        """
        last = high - 1
        level = np.frexp((low ^ last).astype(np.float64))[1].astype(np.uint8)
        order = np.argsort(level, kind="stable")  # small numbers: linear time
        bounds = np.searchsorted(level[order], np.arange(66))
        return Runs(order, low[order], last[order], bounds)

    @property
    def top(self) -> int:
        """The highest level of a run."""
        return int(np.searchsorted(self.bounds, len(self.order)) - 1)


def combine_runs(values: Arrays, monoid: Monoid, asked: Sequence[Runs]) -> list[Arrays]:
    """The partial of each run, for several lists of runs over the same values.

    >>> from muntin.kernels.monoids import Ufuncs
    >>> runs = Runs.of(np.array([0, 2, 5]), np.array([8, 3, 7]))
    >>> combine_runs((np.arange(8.0),), Ufuncs((np.add,), (0.0,)), [runs])[0][0].tolist()
    [28.0, 2.0, 11.0]
    """
    found = [tuple(np.empty(len(runs.order), dtype=a.dtype) for a in values) for runs in asked]
    for runs, results in zip(asked, found, strict=True):
        own = slice(0, int(runs.bounds[1]))
        _assign(results, runs.order[own], tuple(a[runs.first[own]] for a in values))
    prefixes, suffixes = (tuple(a.copy() for a in values) for _ in range(2))
    highest = max((runs.top for runs in asked), default=0)
    for level in range(1, highest + 1):
        if level > 1:
            _climb(prefixes, suffixes, 1 << (level - 2), monoid)
        for runs, results in zip(asked, found, strict=True):
            own = slice(int(runs.bounds[level]), int(runs.bounds[level + 1]))
            if own.start < own.stop:
                older = tuple(a[runs.first[own]] for a in suffixes)
                newer = tuple(a[runs.last[own]] for a in prefixes)
                _assign(results, runs.order[own], monoid.combine(older, newer))
    return found


def _climb(prefixes: Arrays, suffixes: Arrays, half: int, monoid: Monoid) -> None:
    """From blocks of `half` values to blocks of twice as many, in place."""
    whole = len(prefixes[0]) // (2 * half) * 2 * half
    if whole:
        before, after = (_pairs(each, whole, half) for each in (prefixes, suffixes))
        older = tuple(a[:, 0, -1:] for a in before)
        newer = tuple(a[:, 1, :1].copy() for a in after)
        _fill(tuple(a[:, 1] for a in before), monoid.combine(older, tuple(a[:, 1] for a in before)))
        _fill(tuple(a[:, 0] for a in after), monoid.combine(tuple(a[:, 0] for a in after), newer))
    middle = whole + half
    if middle < len(prefixes[0]):  # the last block is cut short within its newer half
        rest, first = slice(middle, None), slice(whole, middle)
        total = tuple(a[middle - 1 : middle] for a in prefixes)
        _fill(
            tuple(a[rest] for a in prefixes),
            monoid.combine(total, tuple(a[rest] for a in prefixes)),
        )
        total = tuple(a[middle : middle + 1] for a in suffixes)
        _fill(
            tuple(a[first] for a in suffixes),
            monoid.combine(tuple(a[first] for a in suffixes), total),
        )


def _pairs(arrays: Arrays, whole: int, half: int) -> Arrays:
    """Neighbouring blocks side by side, as views."""
    return tuple(a[:whole].reshape(-1, 2, half) for a in arrays)


def _fill(targets: Arrays, values: Arrays) -> None:
    for target, value in zip(targets, values, strict=True):
        target[...] = value


def _assign(targets: Arrays, index: Array, values: Arrays) -> None:
    for target, value in zip(targets, values, strict=True):
        target[index] = value

"""Combinations of any runs of neighbours: one ladder of blocks answers frames of every length.

order  values in order, runs in any order; fastest where both ends of the runs only ever move on
needs  a monoid, which need not commute; no inverse
time   six passes over half the values, then one or two combines a run      space  two arrays

Level k cuts the values into blocks of 2ᵏ. A run within one block of 64 values is answered by the
highest binary digit k in which the positions of its first and its last value differ: they lie in
the two halves of one block of level k + 1, and

    … | · · l · | · r · · | …        run = suffix of l's block ⊕ prefix of r's block

Suffixes and prefixes of level k + 1 follow from those of level k by one combine for half of the
values: what is in the newer half gets the total of the older before it, what is in the older half
the total of the newer after it. They are renewed in place, and each level answers its own runs
before the next. A longer run is

    suffix of l's block of 64 ⊕ the blocks between ⊕ prefix of r's block

and what lies between is a run over the totals of blocks, answered by a ladder of its own. Rows in
order share it: as both ends move on, n values see at most n / 32 different pairs of blocks.
Nothing outside a run is ever combined into it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from muntin.kernels.monoids import Array, Arrays, Monoid

LEVELS = 6
BLOCK = 1 << LEVELS
"""Values of a block that is climbed; longer runs are made of whole blocks."""
_SHORT = 8
"""Halves of blocks up to so long are renewed one position at a time, over all blocks at once."""


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs of values that are not empty, by how they are answered.

    Of level 0 are runs of one value; a run of level k is answered by halves of 2ᵏ⁻¹ values.
    """

    count: int
    order: Array
    """The runs within a block, by level."""
    bounds: Array
    """Where each level begins in that order."""
    first: Array
    last: Array
    far: Far | None
    """The others, if there are any."""

    @staticmethod
    def of(low: Array, high: Array) -> Runs:
        """The runs low … high − 1.

        >>> Runs.of(np.array([3, 0, 2]), np.array([4, 8, 4])).order.tolist()
        [0, 2, 1]
        """
        last = high - 1
        apart = low ^ last
        near = np.flatnonzero(apart < BLOCK)
        far = None if len(near) == len(low) else Far.of(low, last, apart)
        level = np.frexp(apart[near].astype(np.float32))[1].astype(np.uint8)
        by_level = np.argsort(level, kind="stable")  # small numbers: linear time
        order = near[by_level]
        bounds = np.searchsorted(level[by_level], np.arange(LEVELS + 2))
        return Runs(len(low), order, bounds, low[order], last[order], far)

    @property
    def top(self) -> int:
        """The highest level that answers a run."""
        own = int(np.searchsorted(self.bounds, len(self.order)) - 1)
        return own if self.far is None else LEVELS + 1


@dataclass(frozen=True, slots=True)
class Far:
    """Runs that begin and end in two blocks, and the runs of whole blocks between these."""

    place: Array | slice
    first: Array
    last: Array
    turn: Array
    """Which of the pairs of blocks each run has."""
    between: tuple[Array, Array] | None
    """Of each pair the blocks between, as a run of block totals; None where there are none."""

    @staticmethod
    def of(low: Array, last: Array, apart: Array) -> Far:
        """The runs whose ends differ above the digits of a block."""
        far = np.flatnonzero(apart >= BLOCK)
        place = slice(None) if len(far) == len(low) else far
        first, last = low[place], last[place]
        older, newer = first >> LEVELS, last >> LEVELS
        changes = (older[1:] != older[:-1]) | (newer[1:] != newer[:-1])
        turn = np.concatenate(([0], np.cumsum(changes)))
        pair = np.concatenate(([0], np.flatnonzero(changes) + 1))
        between = (older[pair] + 1, newer[pair])
        return Far(place, first, last, turn, between if (between[0] < between[1]).any() else None)

    def middles(self, totals: Arrays, monoid: Monoid) -> Arrays | None:
        """What lies between the two blocks of each pair; the identity where nothing does."""
        if self.between is None:
            return None
        low, high = self.between
        some = np.flatnonzero(low < high)
        [found] = combine_runs(totals, monoid, [Runs.of(low[some], high[some])])
        middles = []
        for nothing, values in zip(monoid.identity, found, strict=True):
            middle = np.empty(len(low), dtype=values.dtype)
            middle.fill(nothing)
            middle[some] = values
            middles.append(middle)
        return tuple(middles)

    def answer(self, suffixes: Arrays, prefixes: Arrays, monoid: Monoid) -> Arrays:
        """End of the first block ⊕ what lies between ⊕ begin of the last."""
        older = tuple(a[self.first] for a in suffixes)
        totals = tuple(a[BLOCK - 1 :: BLOCK] for a in prefixes)
        middles = self.middles(totals, monoid)
        if middles is not None:
            older = monoid.combine(older, tuple(a[self.turn] for a in middles))
        return monoid.combine(older, tuple(a[self.last] for a in prefixes))


def combine_runs(values: Arrays, monoid: Monoid, asked: Sequence[Runs]) -> list[Arrays]:
    """The partial of each run, for several lists of runs over the same values.

    >>> from muntin.kernels.monoids import Ufuncs
    >>> runs = Runs.of(np.array([0, 2, 5]), np.array([8, 3, 7]))
    >>> combine_runs((np.arange(8.0),), Ufuncs((np.add,), (0.0,)), [runs])[0][0].tolist()
    [28.0, 2.0, 11.0]
    """
    found = [tuple(np.empty(runs.count, dtype=a.dtype) for a in values) for runs in asked]
    for runs, results in zip(asked, found, strict=True):
        own = slice(0, int(runs.bounds[1]))
        _assign(results, runs.order[own], tuple(a[runs.first[own]] for a in values))
    prefixes, suffixes = (tuple(a.copy() for a in values) for _ in range(2))
    highest = max((runs.top for runs in asked), default=0)
    for level in range(1, min(highest, LEVELS + 1) + 1):
        if level > 1:
            _climb(prefixes, suffixes, 1 << (level - 2), monoid)
        for runs, results in zip(asked, found, strict=True):
            if level > LEVELS:
                if runs.far is not None:
                    _assign(results, runs.far.place, runs.far.answer(suffixes, prefixes, monoid))
                continue
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
        parts = [slice(i, i + 1) for i in range(half)] if half <= _SHORT else [slice(None)]
        for part in parts:
            ends = tuple(a[:, 1, part] for a in before)
            _fill(ends, monoid.combine(older, ends))
            begins = tuple(a[:, 0, part] for a in after)
            _fill(begins, monoid.combine(begins, newer))
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


def _assign(targets: Arrays, index: Array | slice, values: Arrays) -> None:
    for target, value in zip(targets, values, strict=True):
        target[index] = value

"""Aggregates over arbitrary runs of records: FlatFAT in bulk.

order  records in order      needs  a monoid, which need not commute
time   one pass over the records, then 2·log₂ n vector steps over the runs      space  2n partials

Runs may overlap in any way. The records are cut wherever a run begins or ends, and each piece is
reduced once; so every run is a run of pieces. A tree of partials is built level by level over the
pieces, and all runs walk it together: at each level a run takes the node at an odd left end and
the node before an odd right end, and goes up (the range query of muntin.incremental.flat_fat).
Runs that follow one another, such as the sessions of a gap, need no tree: one pass reduces them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from muntin.kernels.monoids import Array, Arrays, Monoid, Ufuncs


@dataclass(frozen=True, slots=True)
class Cuts:
    """Where records are cut: at every begin and every end of these runs."""

    at: Array
    length: int

    @staticmethod
    def of(runs: Sequence[tuple[Array, Array]], length: int) -> Cuts:
        """The cuts for runs [first, stop) over so many records."""
        # marks and a scan instead of a sort: there are rarely fewer records than cuts
        marked = np.zeros(length + 1, dtype=np.bool_)
        for first, stop in runs:
            marked[first] = True
            marked[stop] = True
        return Cuts(np.flatnonzero(marked), length)

    def reduced(self, partials: Arrays, monoid: Monoid) -> Arrays:
        """The partial of every piece between two cuts."""
        starts, stop = self.at[:-1], int(self.at[-1])
        return reduce_pieces(tuple(a[:stop] for a in partials), starts, monoid)


def reduce_pieces(values: Arrays, starts: Array, monoid: Monoid) -> Arrays:
    """Consecutive pieces, each from its start to the next one's, combined in order.

    >>> from muntin.kernels.monoids import Ufuncs
    >>> total = Ufuncs((np.add,), (0,))
    >>> reduce_pieces((np.arange(6),), np.array([0, 1, 4]), total)[0].tolist()
    [0, 6, 9]
    """
    if isinstance(monoid, Ufuncs):
        with np.errstate(invalid="ignore", over="ignore"):
            return tuple(f.reduceat(a, starts) for f, a in zip(monoid.ufuncs, values, strict=True))
    current = tuple(a[starts[0] :] for a in values)
    first = starts - starts[0]
    length = np.diff(first, append=len(current[0]))
    while int(length.max(initial=1)) > 1:
        current, first, length = _halved(current, first, length, monoid)
    return tuple(a[first] for a in current)


def _halved(
    values: Arrays, first: Array, length: Array, monoid: Monoid
) -> tuple[Arrays, Array, Array]:
    """Combine neighbours within every piece: half as many values, in the same order."""
    place = np.arange(len(values[0])) - np.repeat(first, length)
    even = np.flatnonzero(place % 2 == 0)
    paired = place[even] + 1 < np.repeat(length, (length + 1) // 2)
    left, right = even[paired], even[paired] + 1
    both = monoid.combine(tuple(a[left] for a in values), tuple(a[right] for a in values))
    halved = tuple(a[even] for a in values)
    for target, value in zip(halved, both, strict=True):
        target[paired] = value
    length = (length + 1) // 2
    return halved, np.cumsum(length) - length, length


def spans(pieces: Arrays, low: Array, high: Array, monoid: Monoid) -> Arrays:
    """The partials of pieces low … high - 1, for many such runs at once.

    >>> from muntin.kernels.monoids import Ufuncs
    >>> total = Ufuncs((np.add,), (0,))
    >>> spans((np.arange(8),), np.array([0, 2, 5]), np.array([8, 3, 7]), total)[0].tolist()
    [28, 2, 11]
    """
    alone = high - low <= 1
    if not alone.all() and np.array_equal(high[:-1], low[1:]) and (high > low).all():
        return reduce_pieces(tuple(a[: high[-1]] for a in pieces), low, monoid)
    left = tuple(a[low] for a in pieces)
    if alone.all():
        return left
    rows = np.flatnonzero(~alone)
    merged = _walked(pieces, low[rows], high[rows], monoid)
    for target, value in zip(left, merged, strict=True):
        target[rows] = value
    return left


def _walked(level: Arrays, low: Array, high: Array, monoid: Monoid) -> Arrays:
    low, high = low.copy(), high.copy()
    left = _nothing(level, len(low), monoid)
    right = _nothing(level, len(low), monoid)
    while True:
        odd = np.flatnonzero((low & 1 == 1) & (low < high))
        _assign(left, odd, monoid.combine(_at(left, odd), _at(level, low[odd])))
        low[odd] += 1
        odd = np.flatnonzero((high & 1 == 1) & (low < high))
        _assign(right, odd, monoid.combine(_at(level, high[odd] - 1), _at(right, odd)))
        high[odd] -= 1
        if not (low < high).any():
            return monoid.combine(left, right)
        low, high = low // 2, high // 2
        level = _above(level, monoid)


def _above(level: Arrays, monoid: Monoid) -> Arrays:
    if len(level[0]) % 2:
        level = tuple(
            np.concatenate((a, b)) for a, b in zip(level, _nothing(level, 1, monoid), strict=True)
        )
    return monoid.combine(tuple(a[0::2] for a in level), tuple(a[1::2] for a in level))


def _nothing(like: Arrays, count: int, monoid: Monoid) -> Arrays:
    made = tuple(np.empty(count, dtype=a.dtype) for a in like)
    for array, nothing in zip(made, monoid.identity, strict=True):
        array[:] = nothing
    return made


def _at(arrays: Arrays, index: Array) -> Arrays:
    return tuple(a[index] for a in arrays)


def _assign(arrays: Arrays, index: Array, values: Arrays) -> None:
    for target, value in zip(arrays, values, strict=True):
        target[index] = value

"""Aggregates of frames that no partial of bounded size gives: distinct values and percentiles.

    distinct      a value counts where it appears first: its last appearance lies before the frame
    set           the same values, listed in order
    percentile    the values around a rank, interpolated as Spark does
    nearest       the value at a rank, of the input's own type

All are exact. Ranks within runs come from a wavelet matrix (`kernels.wavelet`). Nulls never count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from muntin.kernels.encoding import valid_of
from muntin.kernels.framed import Framed
from muntin.kernels.grouping import codes_of
from muntin.kernels.monoids import Array
from muntin.kernels.ordering import order_codes
from muntin.kernels.wavelet import Wavelet

EXPANDED = 4_000_000
"""About so many values of frames are listed at a time to make sets of them."""


@dataclass(frozen=True, slots=True)
class Known:
    """The values that are not null: their ranks, where they stand, and each distinct one."""

    ranks: Array
    places: Array
    """How many of them stand before each event, and how many there are."""
    values: pa.Array
    """The distinct values in order; of several columns, none."""

    @staticmethod
    def of(columns: Sequence[pa.Array]) -> Known:
        """The combinations of these columns, where none is null."""
        valid = np.logical_and.reduce([valid_of(column) for column in columns])
        places = np.concatenate(([0], np.cumsum(valid)))
        own = [column.filter(pa.array(valid)) for column in columns]
        if len(own) > 1:
            codes = codes_of([pa.array(order_codes(each)) for each in own], len(own[0]))
        else:
            codes = order_codes(own[0])
        _, first, ranks = np.unique(codes, return_index=True, return_inverse=True)
        values = own[0].take(pa.array(first)) if len(own) == 1 else pa.nulls(0)
        return Known(ranks.reshape(-1), places, values)

    def within(self, frame: Framed) -> tuple[Array, Array]:
        """The frame's runs among these values."""
        return self.places[frame.low], self.places[frame.high]

    def last_seen(self) -> Array:
        """Where the same value stood before, from 1; 0 where nowhere."""
        order = np.argsort(self.ranks, kind="stable")
        again = self.ranks[order][1:] == self.ranks[order][:-1]
        before = np.zeros(len(order), dtype=np.int64)
        before[order[1:][again]] = order[:-1][again] + 1
        return before


def count_distinct(columns: Sequence[pa.Array], share: float, frames: Sequence[Framed]) -> Found:
    """How many distinct values, or combinations, each frame holds."""
    known = Known.of(columns)
    tree = Wavelet.of(known.last_seen(), len(known.ranks) + 1)
    bounds = [known.within(frame) for frame in frames]
    return [pa.array(tree.count_below(low, high, low + 1)) for low, high in bounds]


def percentile(columns: Sequence[pa.Array], share: float, frames: Sequence[Framed]) -> Found:
    """The values around (n − 1) · share, each by how near it is."""
    known = Known.of(columns)
    tree = Wavelet.of(known.ranks, len(known.values))
    numbers = known.values.cast(pa.float64()).to_numpy(zero_copy_only=False)
    found = []
    for frame in frames:
        low, high = known.within(frame)
        some = np.flatnonzero(high > low)
        first, stop = low[some], high[some]
        place = (stop - first - 1) * share
        below = np.floor(place).astype(np.int64)
        above = np.ceil(place).astype(np.int64)
        a, b = (numbers[tree.smallest(first, stop, each)] for each in (below, above))
        with np.errstate(invalid="ignore"):
            between = np.where(a == b, a, a * (below + 1 - place) + b * (place - below))
        found.append(_spread(pa.array(between), some, len(low), pa.float64()))
    return found


def nearest(columns: Sequence[pa.Array], share: float, frames: Sequence[Framed]) -> Found:
    """The least value that a share of the values does not exceed."""
    known = Known.of(columns)
    tree = Wavelet.of(known.ranks, len(known.values))
    found = []
    for frame in frames:
        low, high = known.within(frame)
        some = np.flatnonzero(high > low)
        count = high[some] - low[some]
        place = np.clip(np.ceil(count * share).astype(np.int64) - 1, 0, count - 1)
        chosen = tree.smallest(low[some], high[some], place)
        values = known.values.take(pa.array(chosen))
        found.append(_spread(values, some, len(low), columns[0].type))
    return found


def collect_set(columns: Sequence[pa.Array], share: float, frames: Sequence[Framed]) -> Found:
    """The distinct values of each frame, in order."""
    known = Known.of(columns)
    before = known.last_seen()
    found = []
    for frame in frames:
        low, high = known.within(frame)
        cuts = np.flatnonzero(np.diff(np.cumsum(high - low) // EXPANDED)) + 1
        parts = [
            _sets(known, before, low[a:b], high[a:b])
            for a, b in pairwise([0, *cuts.tolist(), len(low)])
        ]
        found.append(pa.concat_arrays(parts))
    return found


def _sets(known: Known, before: Array, low: Array, high: Array) -> pa.Array:
    length = high - low
    ends = np.cumsum(length)
    total = int(ends[-1]) if len(ends) else 0
    row = np.repeat(np.arange(len(low)), length)
    place = np.arange(total) + np.repeat(low - (ends - length), length)
    first = before[place] <= low[row]
    row, rank = row[first], known.ranks[place[first]]
    order = np.lexsort((rank, row))
    offsets = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=len(low)))))
    values = known.values.take(pa.array(rank[order]))
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values)


def _spread(values: pa.Array, some: Array, count: int, kind: pa.DataType) -> pa.Array:
    """Values of some rows as values of all, null elsewhere."""
    if len(some) == count:
        return values.cast(kind)
    place = np.zeros(count, dtype=np.int64)
    missing = np.ones(count, dtype=np.bool_)
    place[some], missing[some] = np.arange(len(some)), False
    return values.cast(kind).take(pa.array(place, mask=missing))


Found = list[pa.Array]
VALUES: dict[str, Callable[[Sequence[pa.Array], float, Sequence[Framed]], Found]] = {
    "distinct": count_distinct,
    "percentile": percentile,
    "nearest": nearest,
    "set": collect_set,
}
"""How each is computed over frames, by the name that a function declares (`Function.in_frames`)."""

"""The aggregates of frames: every partial column merged over every row's run of events.

Each array of a partial is answered in the cheapest way that is exact:

    integers that are added, xor     the difference of two running totals
    any of, all of                   the same, of how many there are
    all else                         a ladder of blocks (`kernels.ladder`): floats are never
                                     subtracted

A frame without events gets a null here; `count` says where that is, and what the aggregate makes of
no events is the engine's to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.kernels.encoding import Encoded
from muntin.kernels.frames import Bounds
from muntin.kernels.ladder import Runs, combine_runs
from muntin.kernels.monoids import Array, Arrays, Monoid, Ufuncs


@dataclass(frozen=True)
class Framed:
    """Frames of one kind, one for each row, as runs of events."""

    low: Array
    high: Array

    @staticmethod
    def of(bounds: Bounds) -> Framed:
        """The frames of these bounds."""
        return Framed(*bounds)

    @cached_property
    def count(self) -> Array:
        """How many events each frame holds."""
        return np.asarray(self.high - self.low)

    @cached_property
    def runs(self) -> Runs:
        """The same for a ladder, which has no empty runs: these get some event, until `blank`."""
        high = np.maximum(self.high, 1)
        return Runs.of(np.where(self.high > self.low, self.low, high - 1), high)

    def blank(self, values: pa.Array) -> pa.Array:
        """The values of all rows, null where the frame holds no event."""
        held = self.high > self.low
        if held.all():
            return values
        if pa.types.is_primitive(values.type):
            return pc.if_else(pa.array(held), values, pa.scalar(None, values.type))
        return values.take(pa.array(np.arange(len(held)), mask=~held))


def merge_frames(encoded: Encoded, frames: Sequence[Framed], kind: pa.DataType) -> list[pa.Array]:
    """The merged partial of every row, for each kind of frame; `kind` is the type of the column."""
    if not len(encoded.arrays[0]):
        return [pa.nulls(len(frame.low), kind) for frame in frames]
    merged = _merge(encoded.arrays, encoded.monoid, frames)
    return [
        frame.blank(encoded.decode(arrays)) for frame, arrays in zip(frames, merged, strict=True)
    ]


def _merge(arrays: Arrays, monoid: Monoid, frames: Sequence[Framed]) -> list[Arrays]:
    if not isinstance(monoid, Ufuncs):
        return combine_runs(arrays, monoid, [frame.runs for frame in frames])
    totals = [
        _totals(array, ufunc, frames) for array, ufunc in zip(arrays, monoid.ufuncs, strict=True)
    ]
    rest = [i for i, each in enumerate(totals) if each is None]
    if rest:
        part = Ufuncs(
            tuple(monoid.ufuncs[i] for i in rest), tuple(monoid.identity[i] for i in rest)
        )
        climbed = combine_runs(
            tuple(arrays[i] for i in rest), part, [frame.runs for frame in frames]
        )
        for turn, i in enumerate(rest):
            totals[i] = [answers[turn] for answers in climbed]
    return [tuple(each[f] for each in totals if each is not None) for f, _ in enumerate(frames)]


def _totals(array: Array, ufunc: np.ufunc, frames: Sequence[Framed]) -> list[Array] | None:
    """By running totals where taking one from another is exact, or None."""
    whole = array.dtype.kind in "iu"
    if ufunc is np.add and whole:
        total = _running(array, np.add)
        return [total[f.high] - total[f.low] for f in frames]
    if ufunc is np.bitwise_xor and whole:
        total = _running(array, np.bitwise_xor)
        return [total[f.high] ^ total[f.low] for f in frames]
    if ufunc in (np.logical_or, np.logical_and) and array.dtype.kind == "b":
        either = ufunc is np.logical_or
        total = _running((array if either else ~array).astype(np.int64), np.add)
        return [(total[f.high] > total[f.low]) == either for f in frames]
    return None


def _running(values: Array, ufunc: np.ufunc) -> Array:
    """The total of all values before each position, and of all of them."""
    total = np.zeros(len(values) + 1, dtype=values.dtype)
    ufunc.accumulate(values, out=total[1:])
    return total

"""Elements: the records of many keys in order and, before them, slices of those that came earlier.

    key a   [slice] [slice] record record record        key b   record record        key c   [slice]

In a batch there are only records. In a stream what came before is kept as slices, one for each
stretch between the begins of windows that are still open. A slice knows the times of its first and
its last record; a record is a slice of itself. So a window is a run of elements [first, stop) in
both, and is found by the same code: a batch is a stream whose first step is its last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from muntin.aggregates.columns import PartialColumn
from muntin.errors import UserWindowError
from muntin.kernels.keepers import encode_kept
from muntin.kernels.monoids import Array
from muntin.kernels.spans import Cuts, spans

NEVER = int(np.iinfo(np.int64).max)
"""No instant at which time alone ends a window."""

UNDECLARED = int(np.iinfo(np.int64).min)
"""The bounds of an open window that its function has not declared."""

NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Batch:
    """Elements sorted by group (a key, numbered from 0) and time; `column` is of the records.

    `last` is the time of each element's last record, `number` how many records of its key came
    before it, `records` which elements are records; `total` is how many records each key has had.
    """

    group: Array
    time: Array
    column: Callable[[str], pa.Array]
    last: Array
    number: Array
    records: Array
    total: Array

    @staticmethod
    def of_records(group: Array, time: Array, column: Callable[[str], pa.Array]) -> Batch:
        """Records alone: nothing came before them."""
        rows, firsts = np.arange(len(time)), np.flatnonzero(changes(group))
        total = np.diff(firsts, append=len(time))
        return Batch(group, time, column, time, rows - np.repeat(firsts, total), rows, total)

    @property
    def size(self) -> int:
        return len(self.time)

    @cached_property
    def firsts(self) -> Array:
        """Where each group begins."""
        return np.flatnonzero(changes(self.group))

    @cached_property
    def stops(self) -> Array:
        """For every element, where its group stops."""
        bounds = np.append(self.firsts, self.size)
        return np.repeat(bounds[1:], np.diff(bounds))

    def since(self, begun: Array) -> Array:
        """The elements that a kind of window looks at: records, and what its open windows hold."""
        if len(self.records) == self.size:
            return self.records
        from_here = np.full(len(self.firsts), self.size)
        np.minimum.at(from_here, self.group[begun], begun)
        held = np.arange(self.size) >= from_here[self.group]
        held[self.records] = True
        return np.flatnonzero(held)

    def runs(self, first: Array, stop: Array) -> Runs:
        """Runs bounded by the times of their first and last record."""
        return Runs(first, stop, self.time[first], self.last[stop - 1] + 1)

    def runs_from(self, begin: Array) -> Runs:
        """Runs from each of these to the next, or to where the group stops."""
        after = np.append(begin[1:], self.size)[: len(begin)]
        return self.runs(begin, np.minimum(after, self.stops[begin]))

    def holds(self, predicate: str) -> Array:
        """Where a predicate holds: not at nulls, nor at slices of records taken before."""
        column = self.column(predicate)
        if not pa.types.is_boolean(column.type):
            raise UserWindowError(f"{predicate!r} must be a condition: it is {column.type}")
        mask = np.zeros(self.size, dtype=np.bool_)
        mask[self.records] = column.fill_null(False).to_numpy(zero_copy_only=False)
        return mask


@dataclass(frozen=True, slots=True)
class Runs:
    """Windows as runs of elements, with their bounds."""

    first: Array
    stop: Array
    start: Array
    end: Array

    def where(self, wanted: Array) -> Runs:
        return Runs(self.first[wanted], self.stop[wanted], self.start[wanted], self.end[wanted])

    def among(self, rows: Array) -> Runs:
        """Runs over some of the elements, as runs over all: no group has a gap between them."""
        if not len(rows):
            return self
        return Runs(rows[self.first], rows[self.stop - 1] + 1, self.start, self.end)


@dataclass(frozen=True, slots=True)
class Open:
    """Windows that have begun: with which element, and two numbers that a kind may remember."""

    at: Array
    low: Array
    high: Array

    @staticmethod
    def of(at: Array, low: Array | None = None) -> Open:
        """Open windows without numbers, or with one."""
        zeros = np.zeros(len(at), dtype=np.int64)
        return Open(at, zeros if low is None else low, zeros)


NOTHING_OPEN = Open(NONE, NONE, NONE)


@dataclass(frozen=True, slots=True)
class Carry:
    """What a window brings from the step before: open ones, and a value of each group or null."""

    open: Open = NOTHING_OPEN
    value: pa.Array | None = None


NO_CARRY = Carry()


@dataclass(frozen=True, slots=True)
class Clock:
    """Time in a stream: no record before `now` will come; at the step before it was `before`.

    Groups are `tied` that have a record at just that instant, which waits for the next step.
    """

    before: int
    now: int
    tied: Array


@dataclass(frozen=True, slots=True)
class Found:
    """The windows that ended in a step, and what is carried to the next one.

    `due` is the instant at which time alone ends a window of each group.
    """

    closed: Runs
    open: Open = NOTHING_OPEN
    value: pa.Array | None = None
    due: Array | None = None


def changes(values: Array) -> Array:
    """Where a value differs from the one before."""
    return np.concatenate(([True], values[1:] != values[:-1]))[: len(values)]


def lasts(values: Array) -> Array:
    """Where a value differs from the next one."""
    return np.append(values[1:] != values[:-1], True)[: len(values)]


def split_ended(runs: Runs, ended: Array, batch: Batch, due: Array | None = None) -> Found:
    """Runs that ended, and those still open; `due` is when time ends each of them."""
    first = runs.first[~ended]
    soonest = None
    if due is not None:
        soonest = np.full(len(batch.firsts), NEVER)
        np.minimum.at(soonest, batch.group[first], due[~ended])
    return Found(runs.where(ended), Open.of(first), due=soonest)


def merge_runs(
    runs: Sequence[Runs],
    size: int,
    partials: Sequence[PartialColumn],
    column: Callable[[str], pa.Array],
    wraps: bool,
    kept: int = 0,
) -> list[list[pa.Array]]:
    """The partial columns of every run, for each of these sets of runs over `size` elements.

    Elements are cut where any run begins or ends; each piece is reduced once, and every run is
    merged from pieces. The first so many sets are `kept`: their partials will be merged again.
    """
    cuts = Cuts.of([(r.first, r.stop) for r in runs], size)
    if not len(cuts.at):
        return [[column(p.name).slice(0, 0) for p in partials] for _ in runs]
    place = np.zeros(size + 1, dtype=np.int64)
    place[cuts.at] = np.arange(len(cuts.at))
    merged: list[list[pa.Array]] = [[] for _ in runs]
    for partial in partials:
        given = [column(name) for name in (partial.name, *partial.beside)]
        encoded = encode_kept(partial, given, wraps)
        pieces = cuts.reduced(encoded.arrays, encoded.monoid)
        for i, r in enumerate(runs):
            values = spans(pieces, place[r.first], place[r.stop], encoded.monoid)
            back = encoded.keep if i < kept and encoded.keep else encoded.decode
            merged[i].append(back(values))
    return merged


def newest_of_group(runs: Runs, batch: Batch) -> Array:
    """Which runs are the last of their group; runs of a group follow each other."""
    return lasts(batch.group[runs.first])


def numbers(column: pa.Array) -> Array:
    """Whole numbers as they are, others as doubles with NaN for null."""
    if pa.types.is_integer(column.type) and column.null_count == 0:
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.int64)
    try:
        return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False))
    except pa.ArrowException as error:
        raise UserWindowError(f"a window's measure must be a number: {error}") from None

"""Data windows over arrays: all keys of a portion at once, no loop over records.

Records are sorted by group (a key) and time. What a window function says record by record comes to
a run of records for each window, [first, stop), with bounds; `muntin.kernels.spans` aggregates all
runs of all windows together. Only users' functions and thresholds are asked record by record.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from muntin.data_windows import (
    CountWindow,
    DataWindow,
    Landmark,
    MeasureWindow,
    Punctuation,
    Session,
    Snapshot,
    Threshold,
    UserWindow,
)
from muntin.errors import UserWindowError
from muntin.kernels.instances import instances, reached
from muntin.kernels.monoids import Array
from muntin.windows import Window


@dataclass(frozen=True, slots=True)
class Batch:
    """Sorted records: their group, their time, and the columns that windows ask for."""

    group: Array
    time: Array
    column: Callable[[str], pa.Array]

    @property
    def size(self) -> int:
        """How many records."""
        return len(self.time)

    @property
    def firsts(self) -> Array:
        """Where each group begins."""
        return np.flatnonzero(np.concatenate(([True], self.group[1:] != self.group[:-1])))

    @property
    def stops(self) -> Array:
        """For every record, where its group stops."""
        bounds = np.append(self.firsts, self.size)
        return np.repeat(bounds[1:], np.diff(bounds))

    def holds(self, predicate: str) -> Array:
        """Where a predicate holds; null does not."""
        column = self.column(predicate)
        if not pa.types.is_boolean(column.type):
            raise UserWindowError(f"{predicate!r} must be a condition: it is {column.type}")
        return np.asarray(column.fill_null(False).to_numpy(zero_copy_only=False), dtype=np.bool_)

    def numbers(self, name: str) -> Array:
        """Whole numbers as they are, others as doubles with NaN for null."""
        column = self.column(name)
        if pa.types.is_integer(column.type) and column.null_count == 0:
            return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.int64)
        return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False))


@dataclass(frozen=True, slots=True)
class Runs:
    """Windows as runs of records, with their bounds."""

    first: Array
    stop: Array
    start: Array
    end: Array


def runs_of(window: DataWindow | Window, batch: Batch) -> Runs:
    """All windows over a batch that holds whole groups."""
    match window:
        case Window():
            return _periodic(window, batch)
        case Session():
            return _sessions(window, batch)
        case CountWindow():
            return _counted(window, batch)
        case MeasureWindow():
            return _measured(window, batch)
        case Punctuation():
            begin = np.flatnonzero(batch.holds(window.predicate))
            return _until_next(begin, batch, window.incomplete)
        case Snapshot():
            changes = _changes(batch.group) | _changes(batch.time)
            return _until_next(np.flatnonzero(changes), batch, incomplete=True)
        case Landmark():
            return _landmarks(window, batch)
        case Threshold():
            return _until_next(_moved(window, batch), batch, window.incomplete)
        case UserWindow():
            from muntin.userwindows.asked import asked

            return asked(window, batch)
    raise UserWindowError(f"{window!r} cannot be evaluated")


def _changes(values: Array) -> Array:
    return np.concatenate(([True], values[1:] != values[:-1]))


def plain(first: Array, stop: Array, batch: Batch) -> Runs:
    """Runs bounded by the times of their first and last record."""
    return Runs(first, stop, batch.time[first], batch.time[stop - 1] + 1)


def _until_next(begin: Array, batch: Batch, incomplete: bool) -> Runs:
    """Each window ends where the next one of its group begins."""
    if not len(begin):
        return plain(begin, begin, batch)
    limit = batch.stops[begin]
    after = np.append(begin[1:], batch.size)
    ends_itself = after >= limit
    stop = np.minimum(after, limit)
    keep = slice(None) if incomplete else ~ends_itself
    return plain(begin[keep], stop[keep], batch)


def _periodic(window: Window, batch: Batch) -> Runs:
    found = list(instances(batch.group, batch.time, window))
    start = np.concatenate([f.start for f in found])
    first = np.concatenate([f.first for f in found])
    last = np.concatenate([f.last for f in found])
    return Runs(first, last + 1, start, start + window.range)


def sessions_over(group: Array, lo: Array, hi: Array, gap: int) -> Runs:
    """Sessions over records, or over slices in order, by their first and last times."""
    pause = np.concatenate(([True], lo[1:] - hi[:-1] > gap))
    begin = np.flatnonzero(pause | _changes(group))
    stop = np.append(begin[1:], len(lo))
    return Runs(begin, stop, lo[begin], hi[stop - 1] + gap)


def _sessions(window: Session, batch: Batch) -> Runs:
    runs = sessions_over(batch.group, batch.time, batch.time, window.gap)
    if window.maximum is None:
        return runs
    begin = _split(runs.first, runs.stop, batch.time, window.maximum)
    stop = np.append(begin[1:], batch.size)
    end = np.minimum(batch.time[stop - 1] + window.gap, batch.time[begin] + window.maximum)
    return Runs(begin, stop, batch.time[begin], end)


def _split(begin: Array, stop: Array, time: Array, maximum: int) -> Array:
    """Begin anew wherever a session has reached its maximum: sessions that do are walked."""
    long = time[stop - 1] - time[begin] >= maximum
    more = []
    for low, high in zip(begin[long].tolist(), stop[long].tolist(), strict=True):
        times = time[low:high]
        place = 0
        while (place := int(np.searchsorted(times, times[place] + maximum))) < len(times):
            more.append(low + place)
    return np.sort(np.concatenate((begin, np.asarray(more, dtype=begin.dtype))))


def _counted(window: CountWindow, batch: Batch) -> Runs:
    firsts = batch.firsts
    place = np.arange(batch.size) - np.repeat(firsts, np.diff(firsts, append=batch.size))
    begin = np.flatnonzero(place % window.slide == 0)
    limit = batch.stops[begin]
    whole = begin + window.range <= limit
    keep = slice(None) if window.incomplete else whole
    return plain(begin[keep], np.minimum(begin + window.range, limit)[keep], batch)


def _measured(window: MeasureWindow, batch: Batch) -> Runs:
    position, rows = _positions(window.measure, batch)
    if not len(rows):
        return plain(rows, rows, batch)
    group = batch.group[rows]
    newest = _slides(position, window.slide)
    oldest = _slides(position - window.range, window.slide) + 1
    found = list(reached(group, oldest, newest, 1))
    first = rows[np.concatenate([f.first for f in found])]
    stop = rows[np.concatenate([f.last for f in found])] + 1
    if not window.incomplete:
        m = np.concatenate([f.start for f in found])
        furthest = position[
            np.searchsorted(group, group[np.concatenate([f.first for f in found])], side="right")
            - 1
        ]
        passed = _slides(furthest - window.range, window.slide) >= m
        first, stop = first[passed], stop[passed]
    return plain(first, stop, batch)


def _positions(measure: str, batch: Batch) -> tuple[Array, Array]:
    """The measure of every record from the first that has one, and which records these are."""
    position = batch.numbers(measure)
    rows = np.arange(batch.size)
    if position.dtype == np.float64:
        known = np.where(np.isnan(position), -1, rows)
        known = np.maximum.accumulate(known)
        rows = rows[known >= np.repeat(batch.firsts, np.diff(batch.firsts, append=batch.size))]
        position = position[known[rows]]
    group = batch.group[rows]
    falls = np.flatnonzero((position[1:] < position[:-1]) & (group[1:] == group[:-1]))
    if len(falls):
        at = int(falls[0])
        raise UserWindowError(
            f"{measure} falls from {position[at]} to {position[at + 1]} at time "
            f"{int(batch.time[rows[at + 1]])}: windows over a measure need one that never falls"
        )
    return position, rows


def _slides(position: Array, slide: int | float) -> Array:
    whole = position.dtype == np.int64 and isinstance(slide, int)
    return position // slide if whole else np.floor(position / slide).astype(np.int64)


def _landmarks(window: Landmark, batch: Batch) -> Runs:
    begin = np.flatnonzero(batch.holds(window.predicate))
    limit = batch.stops[begin]
    stop = limit.copy()
    if window.until is not None:
        ends = np.append(np.flatnonzero(batch.holds(window.until)), batch.size)
        stop = np.minimum(stop, ends[np.searchsorted(ends[:-1], begin, side="right")])
    timed = np.zeros(len(begin), dtype=np.bool_)
    if window.length is not None:
        stop = np.minimum(stop, _reach(begin, limit, batch.time, window.length))
        timed[:] = True
    keep = (stop < limit) | timed | window.incomplete
    return plain(begin[keep], stop[keep], batch)


def _reach(begin: Array, limit: Array, time: Array, length: int) -> Array:
    """Where the records of each one's group reach `length` after it."""
    stop = np.empty_like(begin)
    if not len(begin):
        return stop
    for low, high in pairwise([*np.flatnonzero(_changes(limit)).tolist(), len(begin)]):
        base, end = int(begin[low]), int(limit[low])
        due = time[begin[low:high]] + length
        stop[low:high] = base + np.searchsorted(time[base:end], due)
    return stop


def _moved(window: Threshold, batch: Batch) -> Array:
    """Where windows begin: each anchor depends on the one before, so records are walked."""
    values = batch.numbers(window.value).tolist()
    new_group = _changes(batch.group).tolist()
    begun: list[int] = []
    by, anchor = window.by, float("nan")
    for i, value in enumerate(values):
        if new_group[i] or abs(value - anchor) >= by:
            begun.append(i)
            anchor = value
        elif anchor != anchor:
            anchor = value
    return np.asarray(begun, dtype=np.int64)

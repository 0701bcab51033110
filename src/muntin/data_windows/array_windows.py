"""Data windows over arrays: all keys of a portion at once, no loop over records.

What a window function says record by record comes to a run of elements for each window,
[first, stop), with bounds; `merge_runs` aggregates all runs of all windows together. Only users'
functions and thresholds are asked record by record.

`runs_of` is for whole keys, a batch. `find_windows` is one step of a stream: from what the window
carries from the step before, it finds which windows ended and what is carried on. The end of the
data is a step without a clock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from muntin.data_windows.condition_windows import find_landmarks, find_moved, find_punctuations
from muntin.data_windows.elements import (
    NEVER,
    NO_CARRY,
    Batch,
    Carry,
    Clock,
    Found,
    Open,
    Runs,
    changes,
    newest_of_group,
    split_ended,
)
from muntin.data_windows.measure_windows import find_measures
from muntin.data_windows.user_windows import find_user_windows
from muntin.kernels.instances import Instances, instances
from muntin.kernels.monoids import Array
from muntin.model.data_windows import (
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
from muntin.model.windows import Window, first_open
from muntin.state.spec import last_due


def runs_of(window: DataWindow | Window, batch: Batch) -> Runs:
    """All windows over a batch that holds whole groups."""
    return find_windows(window, batch).closed


def find_windows(
    window: DataWindow | Window, batch: Batch, carry: Carry = NO_CARRY, clock: Clock | None = None
) -> Found:
    """The windows that end with these records or by the clock, and what is carried on."""
    return _FINDERS[type(window)](window, batch, carry, clock)


def _lay_out(found: list[Instances], window: Window, rows: Array) -> Runs:
    start, first, last = (
        np.concatenate([getattr(f, side) for f in found]) if found else rows[:0]
        for side in ("start", "first", "last")
    )
    return Runs(first, last + 1, start, start + window.range).among(rows)


def _find_periodic(window: Window, batch: Batch, _: Carry, clock: Clock | None) -> Found:
    """Instances are arithmetic: nothing is carried but the cuts where the open ones begin."""
    if clock is None:
        found = list(instances(batch.group, batch.time, window))
        return Found(_lay_out(found, window, np.arange(batch.size)))
    newest = batch.time - (batch.time - window.offset) % window.slide
    reach = newest - (window.range - 1 - (batch.time - newest)) // window.slide * window.slide
    lowest, highest = first_open(window, clock.before), last_due(window, clock.now)
    rows = np.flatnonzero((newest >= lowest) & (np.maximum(reach, lowest) <= highest))
    found = list(
        instances(batch.group[rows], batch.time[rows], window, between=(lowest, highest))
        if len(rows)
        else ()
    )
    floor = first_open(window, clock.now)
    begin = np.flatnonzero((newest >= floor) & (changes(newest) | changes(batch.group)))
    due = np.full(len(batch.firsts), NEVER)
    np.minimum.at(due, batch.group[begin], np.maximum(reach[begin], floor) + window.range)
    return Found(_lay_out(found, window, rows), Open.of(begin), due=due)


def sessions_over(group: Array, lo: Array, hi: Array, gap: int) -> Runs:
    """Sessions over records or runs of records, by their first and last times.

    They are sorted by group and first time; runs may lie across one another.

    >>> lo, hi = np.array([0, 2, 8, 20]), np.array([9, 4, 9, 21])
    >>> sessions_over(np.zeros(4), lo, hi, gap=5).end.tolist()
    [14, 26]
    """
    reach = _reach(group, hi)
    pause = np.concatenate(([True], lo[1:] - reach[:-1] > gap))[: len(lo)]
    begin = np.flatnonzero(pause | changes(group))
    stop = np.append(begin[1:], len(lo))[: len(begin)]
    return Runs(begin, stop, lo[begin], reach[stop - 1] + gap)


def _reach(group: Array, hi: Array) -> Array:
    """The last time of all up to each one of its group."""
    if not np.any((hi[1:] < hi[:-1]) & (group[1:] == group[:-1])):
        return hi
    number = np.cumsum(changes(group))
    order = np.argsort(hi, kind="stable")
    rank = np.empty(len(hi), dtype=np.int64)
    rank[order] = np.arange(len(hi))
    furthest = np.maximum.accumulate(number * len(hi) + rank) % len(hi)
    return np.asarray(hi[order[furthest]])


def _find_sessions(window: Session, batch: Batch, carry: Carry, clock: Clock | None) -> Found:
    rows = batch.since(carry.open.at)
    time, last = batch.time[rows], batch.last[rows]
    runs = sessions_over(batch.group[rows], time, last, window.gap)
    pause = runs.end
    if window.maximum is not None and len(rows):
        begin = _split(runs.first, runs.stop, time, last, window.maximum)
        stop = np.append(begin[1:], len(rows))
        pause = last[stop - 1] + window.gap
        end = np.minimum(pause, time[begin] + window.maximum)
        runs = Runs(begin, stop, time[begin], end)
    runs = runs.among(rows)
    if clock is None:
        return Found(runs)
    # a record at just the end of the pause still belongs, if it has come already
    goes_on = clock.tied[batch.group[runs.first]] & (pause == clock.now)
    if window.maximum is not None:
        goes_on &= runs.start + window.maximum > clock.now
    ended = ~newest_of_group(runs, batch) | ((runs.end <= clock.now) & ~goes_on)
    return split_ended(runs, ended, batch, due=runs.end)


def _split(begin: Array, stop: Array, time: Array, last: Array, maximum: int) -> Array:
    """Begin anew wherever a session has reached its maximum: sessions that do are walked."""
    long = last[stop - 1] - time[begin] >= maximum
    more = []
    for low, high in zip(begin[long].tolist(), stop[long].tolist(), strict=True):
        times = time[low:high]
        place = 0
        while (place := int(np.searchsorted(times, times[place] + maximum))) < len(times):
            more.append(low + place)
    return np.sort(np.concatenate((begin, np.asarray(more, dtype=begin.dtype))))


def _find_counted(window: CountWindow, batch: Batch, carry: Carry, clock: Clock | None) -> Found:
    """A value is how many records a key had before those that count."""
    zero = np.zeros(len(batch.firsts), dtype=np.int64)
    if carry.value is not None:
        zero = carry.value.fill_null(0).to_numpy()
    begins = np.zeros(batch.size, dtype=np.bool_)
    number = batch.number - zero[batch.group]
    begins[batch.records] = number[batch.records] % window.slide == 0
    begins[carry.open.at] = True
    begin = np.flatnonzero(begins)
    limit = batch.stops[begin]
    # the newest elements of a group are records, so from its end records are counted back
    missing = batch.number[begin] + window.range - batch.total[batch.group[begin]]
    runs = batch.runs(begin, limit + np.minimum(missing, 0))
    if clock is None:
        return Found(runs if window.incomplete else runs.where(missing <= 0))
    return replace(split_ended(runs, missing <= 0, batch), value=carry.value)


def _find_snapshots(_: Snapshot, batch: Batch, carry: Carry, clock: Clock | None) -> Found:
    rows = batch.since(carry.open.at)
    runs = batch.runs_from(rows[changes(batch.group[rows]) | changes(batch.time[rows])])
    if clock is None:
        return Found(runs)
    ended = ~newest_of_group(runs, batch) | (runs.end <= clock.now)
    return split_ended(runs, ended, batch, due=runs.end)


_FINDERS: dict[type, Callable[[Any, Batch, Carry, Clock | None], Found]] = {
    Window: _find_periodic,
    Session: _find_sessions,
    CountWindow: _find_counted,
    MeasureWindow: find_measures,
    Punctuation: find_punctuations,
    Snapshot: _find_snapshots,
    Landmark: find_landmarks,
    Threshold: find_moved,
    UserWindow: find_user_windows,
}

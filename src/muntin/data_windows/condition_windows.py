"""Windows that begin where a condition holds: punctuations, landmarks, values that moved.

A punctuation and a moved value end the window before them; a landmark's window ends where a record
says so, or after a length of time.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa

from muntin.data_windows.elements import Batch, Carry, Clock, Found, changes, numbers, split_ended
from muntin.kernels.monoids import Array
from muntin.model.data_windows import Landmark, Punctuation, Threshold


def find_punctuations(
    window: Punctuation, batch: Batch, carry: Carry, clock: Clock | None
) -> Found:
    """From each record where the predicate holds to the next one."""
    return _until_next(batch.holds(window.predicate), batch, carry, clock, window.incomplete)


def _until_next(
    begins: Array, batch: Batch, carry: Carry, clock: Clock | None, incomplete: bool
) -> Found:
    """Each window ends where the next one of its group begins."""
    begins[carry.open.at] = True
    runs = batch.runs_from(np.flatnonzero(begins))
    ended = runs.stop < batch.stops[runs.first]
    if clock is None:
        return Found(runs if incomplete else runs.where(ended))
    return split_ended(runs, ended, batch)


def find_landmarks(window: Landmark, batch: Batch, carry: Carry, clock: Clock | None) -> Found:
    """From each landmark to `until`, or as far as the length reaches."""
    begins = batch.holds(window.predicate)
    begins[carry.open.at] = True
    begin = np.flatnonzero(begins)
    limit = batch.stops[begin]
    stop = limit.copy()
    if window.until is not None:
        ends = np.append(np.flatnonzero(batch.holds(window.until)), batch.size)
        stop = np.minimum(stop, ends[np.searchsorted(ends[:-1], begin, side="right")])
    if window.length is not None:
        stop = np.minimum(stop, _reach(begin, limit, batch.time, window.length))
    runs = batch.runs(begin, stop)
    if clock is None:
        all_end = window.length is not None or window.incomplete
        return Found(runs if all_end else runs.where(stop < limit))
    if window.length is None:
        return split_ended(runs, stop < limit, batch)
    due = batch.time[begin] + window.length
    return split_ended(runs, (stop < limit) | (due <= clock.now), batch, due)


def _reach(begin: Array, limit: Array, time: Array, length: int) -> Array:
    """Where the records of each one's group reach `length` after it."""
    stop = np.empty_like(begin)
    if not len(begin):
        return stop
    for low, high in pairwise([*np.flatnonzero(changes(limit)).tolist(), len(begin)]):
        base, end = int(begin[low]), int(limit[low])
        due = time[begin[low:high]] + length
        stop[low:high] = base + np.searchsorted(time[base:end], due)
    return stop


def find_moved(window: Threshold, batch: Batch, carry: Carry, clock: Clock | None) -> Found:
    """Until a value has moved; the value that it moves from is carried."""
    column = batch.column(window.value)
    begins, anchors = _walk(window, batch, carry, column)
    found = _until_next(begins, batch, carry, clock, window.incomplete)
    if carry.value is None:
        return found
    both = pa.concat_arrays([carry.value, column])
    return Found(found.closed, found.open, both.take(pa.array(anchors, pa.int64())))


def _walk(
    window: Threshold, batch: Batch, carry: Carry, column: pa.Array
) -> tuple[Array, list[int | None]]:
    """Where windows begin: each anchor depends on the one before, so records are walked.

    And where the last anchor of each group stands: among the carried values, or behind them among
    the records.
    """
    groups = len(batch.firsts)
    held = _exact(carry.value) if carry.value is not None else [float("nan")] * groups
    began = set(batch.group[carry.open.at].tolist())
    places: list[int | None] = [g if held[g] == held[g] else None for g in range(groups)]
    begins = np.zeros(batch.size, dtype=np.bool_)
    begun: list[int] = []
    by, anchor, present = window.by, float("nan"), -1
    of_records = zip(_exact(column), batch.group[batch.records].tolist(), strict=True)
    for i, (value, group) in enumerate(of_records):
        first = False
        if group != present:
            present, anchor, first = group, held[group], group not in began
        if first or abs(value - anchor) >= by:
            begun.append(i)
        elif anchor == anchor or value != value:
            continue
        anchor, places[group] = value, (groups + i if value == value else None)
    begins[batch.records[begun]] = True
    return begins, places


def _exact(column: pa.Array) -> list[int | float]:
    """Values to compare: whole numbers stay whole, and null is NaN."""
    if not pa.types.is_integer(column.type):
        return list(numbers(column).tolist())
    return [float("nan") if value is None else value for value in column.to_pylist()]

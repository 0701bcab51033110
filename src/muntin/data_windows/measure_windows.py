"""Windows over a measure that never falls: [m·slide, m·slide + range), by what records reach.

A record without a measure stands where the one before it does; those before the first that has one
are in no window. A stream carries where each key stands, and of its open windows the number m of
the newest that began with each slice: all that are open contain every slice since they began.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from muntin.data_windows.elements import (
    Batch,
    Carry,
    Clock,
    Found,
    Open,
    Runs,
    changes,
    lasts,
    numbers,
)
from muntin.errors import UserWindowError
from muntin.kernels.instances import reached
from muntin.kernels.monoids import Array
from muntin.model.data_windows import MeasureWindow


@dataclass(frozen=True, slots=True)
class _Stand:
    """Known positions in order: of which group and element (-1: carried), from which value."""

    position: Array
    group: Array
    element: Array
    source: Array


def find_measures(window: MeasureWindow, batch: Batch, carry: Carry, clock: Clock | None) -> Found:
    """The windows that records went beyond, and those that are open."""
    stand = _find_positions(window.measure, batch, carry)
    runs, m = _find_reached(window, batch, carry, stand)
    final = np.flatnonzero(lasts(stand.group))
    beyond = np.full(len(batch.firsts), np.iinfo(np.int64).min)
    beyond[stand.group[final]] = _slides(stand.position[final] - window.range, window.slide)
    passed = beyond[batch.group[runs.first]] >= m
    if clock is None:
        return Found(runs if window.incomplete else runs.where(passed))
    first, low = runs.first[~passed], m[~passed]
    newest = lasts(first)
    assert carry.value is not None, "a stream carries where each key stands"
    places: list[int | None] = [None] * len(batch.firsts)
    for i in final.tolist():
        places[stand.group[i]] = int(stand.source[i])
    both = pa.concat_arrays([carry.value, batch.column(window.measure)])
    value = both.take(pa.array(places, pa.int64()))
    return Found(runs.where(passed), Open.of(first[newest], low[newest]), value)


def _find_reached(
    window: MeasureWindow, batch: Batch, carry: Carry, stand: _Stand
) -> tuple[Runs, Array]:
    """Every window that an element lies in, with its number m."""
    newest = np.zeros(batch.size, dtype=np.int64)
    oldest = np.zeros(batch.size, dtype=np.int64)
    known = np.zeros(batch.size, dtype=np.bool_)
    own = stand.element >= 0
    rows = stand.element[own]
    known[rows] = True
    newest[rows] = _slides(stand.position[own], window.slide)
    oldest[rows] = _slides(stand.position[own] - window.range, window.slide) + 1
    at = carry.open.at
    if len(at):
        kept = np.setdiff1d(batch.since(at), batch.records, assume_unique=True)
        newest[kept] = carry.open.low[np.searchsorted(at, kept, side="right") - 1]
        reach = np.zeros(len(batch.firsts), dtype=np.int64)
        reach[stand.group[~own]] = _slides(stand.position[~own] - window.range, window.slide) + 1
        oldest[kept] = reach[batch.group[kept]]
        known[kept] = True
    rows = np.flatnonzero(known)
    if not len(rows):
        return batch.runs(rows, rows), rows
    found = list(reached(batch.group[rows], oldest[rows], newest[rows], 1))
    first, last, m = (
        np.concatenate([getattr(f, side) for f in found]) for side in ("first", "last", "start")
    )
    return batch.runs(rows[first], rows[last] + 1), m


def _find_positions(measure: str, batch: Batch, carry: Carry) -> _Stand:
    """The positions of all records from the first that has one, after the carried ones."""
    column, group = batch.column(measure), batch.group[batch.records]
    element, source = batch.records, np.arange(len(group))
    if carry.value is not None:
        held = np.flatnonzero(carry.value.is_valid().to_numpy(zero_copy_only=False))
        column = pa.concat_arrays([carry.value.take(pa.array(held)), column])
        order = np.argsort(np.concatenate((held, group)), kind="stable")
        column = column.take(pa.array(order))
        group = np.concatenate((held, group))[order]
        element = np.concatenate((np.full(len(held), -1), element))[order]
        source = np.concatenate((held, source + len(carry.value)))[order]
    position = numbers(column)
    if position.dtype == np.float64:
        rows = np.arange(len(position))
        known = np.maximum.accumulate(np.where(np.isnan(position), -1, rows))
        firsts = np.flatnonzero(changes(group))
        there = known >= np.repeat(firsts, np.diff(firsts, append=len(group)))
        position, source = position[known[there]], source[known[there]]
        group, element = group[there], element[there]
    falls = np.flatnonzero((position[1:] < position[:-1]) & (group[1:] == group[:-1]))
    if len(falls):
        at = int(falls[0])
        raise UserWindowError(
            f"{measure} falls from {position[at]} to {position[at + 1]} at time "
            f"{int(batch.time[element[at + 1]])}: windows over a measure need one that never falls"
        )
    return _Stand(position, group, element, source)


def _slides(position: Array, slide: int | float) -> Array:
    whole = position.dtype == np.int64 and isinstance(slide, int)
    return position // slide if whole else np.floor(position / slide).astype(np.int64)

"""Which events a stream of trailing windows keeps: those that a row still to come may reach.

All rows up to the watermark W have their features, so a later one stands after W. With `delay` δ,

    length d     needs the events after W − δ − d
    rows = n     needs the events after W − δ, and the last n up to there
    lifetime     needs the events after W − δ, and one partial that stands for all up to there

An event leaves when no window needs it by itself. Each key has at most one such partial, at an
instant before every other.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from muntin.data_windows.elements import NEVER
from muntin.data_windows.record_buffer import TIME
from muntin.kernels.columns import encode
from muntin.kernels.frame_program import FrameProgram
from muntin.kernels.framed import Framed, merge_frames
from muntin.kernels.frames import CARRIED
from muntin.kernels.monoids import Array
from muntin.kernels.portions import whole
from muntin.state.pieces import GROUP, longs


def keep_events(events: pa.Table, program: FrameProgram, now: int) -> pa.Table:
    """Of events sorted by group and time, those that rows after `now` need.

    >>> from muntin.model.frames import trailing
    >>> events = pa.table({"group": [0, 0, 0, 1], "t": [1, 5, 9, 2]})
    >>> keep_events(events, FrameProgram((trailing("4us"),), "left", (), ()), 8).to_pydict()
    {'group': [0, 0], 't': [5, 9]}
    >>> keep_events(events, FrameProgram((trailing(rows=1),), "left", (), ()), 8).to_pydict()
    {'group': [0, 0, 1], 't': [5, 9, 2]}
    """
    group, time = longs(events, GROUP), longs(events, TIME)
    if not len(group):
        return events
    first = _first_needed(group, time, program, now)
    if not first.any():
        return events
    size = np.bincount(group)
    start = np.cumsum(size) - size
    stays = np.arange(len(group)) >= (start + first)[group]
    kept = events.filter(pa.array(stays))
    if not program.carries:
        return kept
    older = np.flatnonzero(first)
    carried = _carry(events, program, Framed(start[older], (start + first)[older]))
    both = pa.concat_tables([carried, kept]).combine_chunks()
    return both.take(pa.array(np.argsort(longs(both, GROUP), kind="stable")))


def next_leaving(events: pa.Table, program: FrameProgram, now: int) -> int:
    """The instant after which no event can leave by time alone, if that is still to come."""
    time = longs(events, TIME)
    bounds = [f.delay if f.reach is None else f.reach for f in program.frames if f.rows is None]
    newest = int(time.max(initial=CARRIED))
    if not bounds or newest == CARRIED or newest + max(bounds) <= now:
        return NEVER
    return newest + max(bounds)


def _first_needed(group: Array, time: Array, program: FrameProgram, now: int) -> Array:
    """Of each group, how many of the oldest events no window needs one by one."""

    def count_until(instant: int) -> Array:
        return np.bincount(group[time <= instant], minlength=int(group[-1]) + 1)

    needed = []
    for frame in program.frames:
        if frame.reach is not None:
            needed.append(count_until(now - frame.reach))
        elif frame.rows is not None:
            needed.append(np.maximum(count_until(now - frame.delay) - frame.rows, 0))
        else:
            needed.append(count_until(now - frame.delay if program.carries else CARRIED - 1))
    return np.asarray(np.minimum.reduce(needed))


def _carry(events: pa.Table, program: FrameProgram, runs: Framed) -> pa.Table:
    """One event for each of these runs, which stands for all of it, before every other."""
    carried = events.take(pa.array(runs.low))
    for partial in program.partials:
        own = [whole(events, name) for name in (partial.name, *partial.beside)]
        encoded = encode(partial.merger, own, program.wraps, partial.code)
        merged = merge_frames(encoded, [runs], own[0].type)[0].cast(own[0].type)
        place = events.schema.get_field_index(partial.name)
        carried = carried.set_column(place, events.schema.field(place), merged)
    place = events.schema.get_field_index(TIME)
    instants = pa.array(np.full(len(runs.low), CARRIED))
    return carried.set_column(place, events.schema.field(place), instants)

"""Trailing windows in a Python worker: a sorted partition through NumPy, in bounded memory.

Records come sorted by key, chunk of time and time, a few Arrow batches at a time. `Layout` says
which of their columns hold what; a portion of records has

    b0, b1, …     what keeps events apart: keys, and the chunk of time
    t             the instant, in microseconds
    row           whether the record is a row that is still to be given out
    e             whether it is an event (a row that `where` leaves out is none)
    p…, v…        its partials, and values of what is computed from values
    c0, … or r    the row as it was given

Each portion is evaluated together with a tail of the last key: the events that its later rows may
reach, and one partial that stands for all older ones where a window has no end. With a grain, one
partial stands for each slice that only windows with that grain still reach. A portion is as long as
the tail before it at least, so that no event is looked at more than a few times.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from muntin.engines.spark.frame_layout import Layout
from muntin.kernels.columns import encode
from muntin.kernels.frame_program import FrameProgram
from muntin.kernels.framed import Framed, merge_frames
from muntin.kernels.frames import CARRIED, Line
from muntin.kernels.grouping import changes_of
from muntin.kernels.monoids import Array
from muntin.kernels.portions import whole

PORTION = 128_000
"""Records that are evaluated at a time, at least."""


@dataclass(frozen=True, slots=True)
class FrameStage:
    """What a worker needs to know: where everything is, and what to compute."""

    layout: Layout
    program: FrameProgram

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Every row of one sorted partition with its features."""
        waiting: list[pa.Table] = []
        count, needed = 0, PORTION
        for batch in batches:
            waiting.append(self.layout.arrange(batch, self.program))
            count += batch.num_rows
            if count >= needed:
                portion = Portion(pa.concat_tables(waiting).combine_chunks(), self, False)
                yield from portion.evaluated()
                tail = portion.tail()
                waiting, count, needed = [tail], 0, max(PORTION, tail.num_rows)
        if waiting:
            yield from Portion(pa.concat_tables(waiting).combine_chunks(), self, True).evaluated()


@dataclass(frozen=True)
class Portion:
    """Some records in order, the oldest of which were left by the portion before."""

    table: pa.Table
    stage: FrameStage
    is_last: bool

    def evaluated(self) -> Iterator[pa.RecordBatch]:
        """The rows that are complete, with their features; those without a time have none."""
        program = self.stage.program
        rows = np.flatnonzero(self.is_row & self.timed & ~self.pending)
        if len(rows):
            columns = self.stage.layout.read(self.table, self.events, program)
            line = self._line(self.events)
            same = len(rows) == len(self.events) == self.table.num_rows
            found = program.evaluate(columns, line, line if same else self._line(rows))
            yield self._batch(rows, found)
        timeless = np.flatnonzero(self.is_row & ~self.timed)
        if len(timeless):
            yield self._batch(timeless, {})

    def tail(self) -> pa.Table:
        """What later portions need of the last group."""
        own = self.group == self.group[-1]
        if not self.timed[-1]:
            return self.table.slice(0, 0)
        events = self.events[own[self.events]]
        kept = self._first_needed(self.time[events])
        parts = [self._carried(events[:kept])] if kept and self.stage.program.carries else []
        if self.stage.program.coarse:
            parts.append(self._sliced(events[kept:]))
            kept += parts[-1].count
        keep = np.zeros(self.table.num_rows, dtype=np.bool_)
        keep[events[kept:]] = True
        keep |= own & self.pending
        places = np.flatnonzero(keep)
        table = self.table.take(pa.array(places))
        table = self.stage.layout.without_rows(table, self.pending[places])
        return pa.concat_tables([*(part.table for part in parts), table])

    def _first_needed(self, time: Array) -> int:
        """The first event of the last group that a later row may have to look at by itself."""
        newest, found = int(self.time[-1]), len(time)
        for frame in self.stage.program.frames:
            known = int(np.searchsorted(time, newest - frame.delay))
            if frame.reach is not None:
                first = int(np.searchsorted(time, newest - frame.reach))
            elif frame.rows is not None:
                first = max(known - frame.rows, 0)
            else:
                first = known if self.stage.program.carries else 0
            found = min(found, first)
        return found

    def _carried(self, events: Array) -> _Merged:
        """One event that stands for these, before every other."""
        return self._merged(events, np.array([0, len(events)]), np.array([CARRIED]))

    def _sliced(self, events: Array) -> _Merged:
        """One event for each slice of a grain that is over."""
        bounds, times = self.stage.program.slices(self.time[events], int(self.time[-1]))
        return self._merged(events, bounds, times)

    def _merged(self, events: Array, bounds: Array, times: Array) -> _Merged:
        """One event at each of these instants for the events from one bound to the next."""
        older = np.concatenate((events[: bounds[0]], events[bounds[:-1]]))
        merged = self.table.take(pa.array(older))
        first = np.arange(bounds[0])
        frame = Framed(
            np.concatenate((first, bounds[:-1])), np.concatenate((first + 1, bounds[1:]))
        )
        for partial in self.stage.program.partials:
            own = [
                whole(self.table, name).take(pa.array(events))
                for name in (partial.name, *partial.beside)
            ]
            encoded = encode(partial.merger, own, self.stage.program.wraps, partial.code)
            values = merge_frames(encoded, [frame], own[0].type)[0]
            merged = _replaced(merged, partial.name, values.cast(own[0].type))
        instants = np.concatenate((self.time[events[: bounds[0]]], times))
        merged = _replaced(merged, "t", pa.array(instants))
        alone = np.zeros(merged.num_rows, dtype=np.bool_)
        return _Merged(self.stage.layout.without_rows(merged, alone), int(bounds[-1]))

    @cached_property
    def group(self) -> Array:
        """Equal for records of one key and chunk, which stand together."""
        changes = np.zeros(max(self.table.num_rows - 1, 0), dtype=np.bool_)
        for i, _ in enumerate(self.stage.layout.by):
            changes |= changes_of(whole(self.table, f"b{i}"))
        return np.concatenate(([0], np.cumsum(changes))).astype(np.int64)

    @cached_property
    def time(self) -> Array:
        """The instant of each record; that of one without a time means nothing."""
        return np.asarray(whole(self.table, "t").fill_null(0).to_numpy(zero_copy_only=False))

    @cached_property
    def timed(self) -> Array:
        """Which records have a time."""
        return _bools(whole(self.table, "t").is_valid())

    @cached_property
    def is_row(self) -> Array:
        """Which records are rows that were given, and not emitted yet."""
        return _bools(whole(self.table, "row"))

    @cached_property
    def events(self) -> Array:
        """Where the events are."""
        return np.flatnonzero(_bools(whole(self.table, "e")) & self.timed)

    @cached_property
    def pending(self) -> Array:
        """Rows that events of their own instant belong to, some of which may be still to come."""
        program = self.stage.program
        waits = program.closed in ("right", "both") and any(f.delay == 0 for f in program.frames)
        if self.is_last or not waits or not self.timed[-1]:
            return np.zeros(self.table.num_rows, dtype=np.bool_)
        last = (self.group == self.group[-1]) & (self.time == self.time[-1])
        return np.asarray(last & self.is_row & self.timed)

    def _line(self, places: Array) -> Line:
        if len(places) == self.table.num_rows:
            return Line(self.group, self.time)
        return Line(self.group[places], self.time[places])

    def _batch(self, rows: Array, found: dict[str, pa.Array]) -> pa.RecordBatch:
        layout, program = self.stage.layout, self.stage.program
        given = layout.rows_of(self.table, rows)
        own = program.beside(len(rows), found, layout.kinds(self.table, program))
        return pa.RecordBatch.from_arrays([*given.values(), *own.values()], names=[*given, *own])


@dataclass(frozen=True, slots=True)
class _Merged:
    """Events that stand for several each, and for how many together."""

    table: pa.Table
    count: int


def _replaced(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    place = table.column_names.index(name)
    return table.set_column(place, table.schema.field(place), values)


def _bools(column: pa.Array) -> Array:
    return np.asarray(column.to_numpy(zero_copy_only=False))

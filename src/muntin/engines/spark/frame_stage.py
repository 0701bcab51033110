"""Trailing windows in a Python worker: a partition through NumPy, portion by portion.

Columns of records come a few thousand records at a time, sorted by key, chunk of time and time, or
in any order if they are few enough to be sorted here; the features of all of them go back in the
order in which they came (`Layout` says which column holds what). A portion of records has

    b0, b1, …     what keeps events apart: keys, and the chunk of time
    t             the instant, in microseconds
    row           whether the record asks for features; without it, each does
    e             whether it is an event (a row that `where` leaves out is none); without it, each
                  is that has a time
    p…, v…        its partials, and values of what is computed from values

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
from muntin.kernels.grouping import changes_of, codes_of
from muntin.kernels.monoids import Array
from muntin.kernels.portions import whole
from muntin.kernels.sorted_rows import Held, order_of

PORTION = 128_000
"""Records that are evaluated at a time, at least."""


@dataclass(frozen=True, slots=True)
class FrameStage:
    """What a worker needs to know: where everything is, what to compute, and whether to sort."""

    layout: Layout
    program: FrameProgram
    sorts: bool = False

    def __call__(self, batches: Iterator[tuple[pa.Array, ...]]) -> Iterator[pa.StructArray]:
        """The features of every record of one partition, in its order."""
        tables = (self.layout.arrange(batch, self.program) for batch in batches)
        return self._of_unsorted(tables) if self.sorts else self._features(tables)

    def _of_unsorted(self, tables: Iterator[pa.Table]) -> Iterator[pa.StructArray]:
        """All records are held: they are sorted, and their features put back into their order."""
        given = [table for table in tables if table.num_rows]
        if not given:
            return
        held = Held.of(given)
        order = self._order(held.table)
        features = pa.concat_arrays(list(self._features(held.portions(order, PORTION))))
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        for low in range(0, len(place), PORTION):
            yield features.take(pa.array(place[low : low + PORTION]))

    def _order(self, table: pa.Table) -> Array:
        """By group and time; records without a time come first, as Spark has them."""
        code = codes_of([whole(table, f"b{i}") for i, _ in enumerate(self.layout.by)], len(table))
        time = whole(table, "t")
        instant = np.asarray(time.fill_null(0).to_numpy(zero_copy_only=False))
        timed = _bools(time.is_valid())
        oldest = int(instant[timed].min()) if timed.any() else 0
        return order_of(code, np.where(timed, instant - oldest + 1, 0))

    def _features(self, tables: Iterator[pa.Table]) -> Iterator[pa.StructArray]:
        """The features of sorted records, in their order."""
        waiting: list[pa.Table] = []
        count, needed, known = 0, PORTION, 0
        for table in tables:
            waiting.append(table)
            count += table.num_rows
            if count >= needed:
                portion = Portion(_joined(waiting), self, known)
                if portion.complete > known:
                    yield portion.features()
                tail = portion.tail()
                waiting, count, known = [tail.table], 0, tail.known
                needed = max(PORTION, tail.table.num_rows)
        if waiting:
            portion = Portion(_joined(waiting), self, known, is_last=True)
            if portion.complete > known:
                yield portion.features()


@dataclass(frozen=True, slots=True)
class Tail:
    """Records that a later portion needs, the oldest of which have their features already."""

    table: pa.Table
    known: int


@dataclass(frozen=True)
class Portion:
    """Some records in order; the features of the first `known` ones were given out before."""

    table: pa.Table
    stage: FrameStage
    known: int = 0
    is_last: bool = False

    def features(self) -> pa.StructArray:
        """Of all records that are complete; null where one asks for none, or has no time."""
        layout, program = self.stage.layout, self.stage.program
        own = slice(self.known, self.complete)
        asks = np.flatnonzero(self.asks[own])
        count = self.complete - self.known
        found: dict[str, pa.Array] = {}
        if len(asks):
            found = self._found(asks + self.known)
        kinds = layout.kinds(self.table, program)
        features = program.beside(len(asks) if found else count, found, kinds)
        struct = pa.StructArray.from_arrays(list(features.values()), list(features))
        if not found or len(asks) == count:
            return struct
        places = np.zeros(count, dtype=np.int64)
        places[asks] = np.arange(len(asks))
        return struct.take(pa.array(places, mask=~self.asks[own]))

    def _found(self, places: Array) -> dict[str, pa.Array]:
        """The features of the rows at these places."""
        program, apart = self.stage.program, self.seen[self.events]
        if not apart.any():
            return self._evaluated(program, self.events, places)
        found: dict[str, pa.Array] = {}
        for endless, events in ((False, self.events), (True, self.events[~apart])):
            part, name = program.part(endless)
            own = self._evaluated(part, events, places)
            found |= {name[each]: array for each, array in own.items()}
        return found

    def _evaluated(self, program: FrameProgram, places: Array, rows: Array) -> dict[str, pa.Array]:
        """The features of rows over the events at these places."""
        columns = self.stage.layout.read(self.table, places, program)
        events = self._line(places)
        return program.evaluate(columns, events, self._rows(events, rows))

    def tail(self) -> Tail:
        """What later portions need of the last group, and what is not complete."""
        own = self.group == self.group[-1]
        if not self.timed[-1]:
            return Tail(self.table.slice(0, 0), 0)
        events = self.events[own[self.events]]
        kept = self._first_needed(self.time[events])
        old = events[:kept][~self.seen[events[:kept]]]
        parts = [self._carried(old)] if len(old) and self.stage.program.carries else []
        if self.stage.program.coarse:
            parts.append(self._sliced(events[kept:]))
            kept += parts[-1].count
        keep = np.zeros(self.table.num_rows, dtype=np.bool_)
        keep[events[kept:]] = True
        keep[self.complete :] = True
        places = np.flatnonzero(keep)
        table = pa.concat_tables(
            [*(part.table for part in parts), self.table.take(pa.array(places))]
        )
        return Tail(table, table.num_rows - (self.table.num_rows - self.complete))

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
        return _Merged(_replaced(merged, "t", pa.array(instants)), int(bounds[-1]))

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
    def asks(self) -> Array:
        """Which records have features: the rows that have a time."""
        if self.stage.layout.row is None:
            return self.timed
        return _bools(whole(self.table, "row")) & self.timed

    @cached_property
    def events(self) -> Array:
        """Where the events are."""
        if self.stage.layout.event is None:
            return np.flatnonzero(self.timed)
        return np.flatnonzero(_bools(whole(self.table, "e")) & self.timed)

    @cached_property
    def seen(self) -> Array:
        """Which events are in what is carried: only windows of so many rows look at them."""
        if self.stage.layout.seen is None:
            return np.zeros(self.table.num_rows, dtype=np.bool_)
        return _bools(whole(self.table, "seen"))

    @cached_property
    def complete(self) -> int:
        """How many records have all their events here.

        Where events of a row's own instant belong to it, some of those of the last may be to come.
        """
        program = self.stage.program
        waits = program.closed in ("right", "both") and any(f.delay == 0 for f in program.frames)
        if self.is_last or not waits or not self.timed[-1]:
            return len(self.time)
        last = (self.group == self.group[-1]) & (self.time == self.time[-1]) & self.timed
        return int(np.argmax(last))

    def _line(self, places: Array) -> Line:
        if len(places) == self.table.num_rows:
            return Line(self.group, self.time)
        return Line(self.group[places], self.time[places])

    def _rows(self, events: Line, places: Array) -> Line:
        """The rows at these places; the events themselves where each record is both."""
        return events if len(events) == self.table.num_rows == len(places) else self._line(places)


@dataclass(frozen=True, slots=True)
class _Merged:
    """Events that stand for several each, and for how many together."""

    table: pa.Table
    count: int


def _joined(tables: list[pa.Table]) -> pa.Table:
    return pa.concat_tables(tables).combine_chunks()


def _replaced(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    place = table.column_names.index(name)
    return table.set_column(place, table.schema.field(place), values)


def _bools(column: pa.Array) -> Array:
    return np.asarray(column.to_numpy(zero_copy_only=False))

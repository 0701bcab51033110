"""One bucket of keys on a stream of rows that ask for their own trailing windows.

In batch N the watermark is W_N, and lateness is judged by that of the batch before, as Spark does:

    late      a row with t ≤ W_{N-1} is dropped: its instant has been answered
    released  rows with t ≤ W_N get their features, over all events that were not late
    then      events leave that no row after W_N can reach (`event_runs`)

Later rows stand after W_N, so no event that is still admitted belongs to a window that was
answered, and the features are those of a batch over the same rows, however they were split. With
`arrival`, rows get their features in the batch that brings them, over what has arrived by then.
A row without a time has no features, and nothing to wait for.

Rows and events may be two streams: they wait for one watermark in one state. A record is an event
where `e` says so, and a row where `r` is not null; those of one stream may be both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.data_windows.event_runs import EventRuns
from muntin.data_windows.record_bucket import EVER, RecordBucket
from muntin.data_windows.record_buffer import TIME, sort_records
from muntin.data_windows.stream_state import Words
from muntin.kernels.frame_program import FrameProgram
from muntin.kernels.frames import Line
from muntin.kernels.portions import whole
from muntin.state.bucket import Step
from muntin.state.header import check_begun
from muntin.state.pieces import GROUP, longs

ROW, IS_EVENT = "r", "e"
"""The row as it was given, null where a record is none; and whether it is an event."""


@dataclass(frozen=True, slots=True)
class TrailingSpec:
    """The windows and aggregates of a question, and the rules that its stream runs by.

    `order` are the columns that order events of one instant, `block` is how long a stretch of
    waiting rows is. `asked` says in the user's words what was asked: a state of other words is
    refused. With `arrival`, rows do not wait. `late_now` judges lateness by the watermark of the
    present batch, else by the one before.
    """

    keys: tuple[str, ...]
    program: FrameProgram
    order: tuple[str, ...] = ()
    block: int = 1_000_000
    buckets: int = 1
    asked: tuple[tuple[str, tuple[str, ...]], ...] = ()
    late_now: bool = False
    arrival: bool = False
    until: int | None = None
    format: ClassVar[str] = "frames 2"
    what: ClassVar[str] = "trailing windows"

    def words(self) -> Words:
        """What was asked, and when rows come out."""
        given = {what: list(texts) for what, texts in self.asked}
        return {**given, "output": ["arrival" if self.arrival else "append"]}

    @property
    def of_event(self) -> tuple[str, ...]:
        """The columns of an event that are kept."""
        return tuple(dict.fromkeys([GROUP, TIME, *self.program.reads, *self.order]))


class TrailingBucket(RecordBucket[TrailingSpec]):
    """A bucket of a question on its state in a store, for the length of one step.

    >>> from muntin.aggregates.columns import PartialColumn
    >>> from muntin.model.frames import trailing
    >>> from muntin.state.store import MemoryStore
    >>> total = PartialColumn("p0", "", "", "sum")
    >>> spec = TrailingSpec(("k0",), FrameProgram((trailing("5us"),), "left", (total,), ()))
    >>> store = MemoryStore()
    >>> more = {"k0": ["a"] * 3, "e": [True] * 3, "r": ["x", "y", "z"]}
    >>> rows = pa.table({**more, "t": [12, 10, 18], "p0": [2, 3, 4]})
    >>> list(TrailingBucket(spec, 0, store).step([rows], watermark=0).results)
    []
    >>> for table in TrailingBucket(spec, 0, store).step([], watermark=15).results:
    ...     print(table.to_pylist())
    [{'r': 'y', 'f0_n': 0, 'f0_p0': None}, {'r': 'x', 'f0_n': 1, 'f0_p0': 3}]
    """

    def begin(self, tables: Sequence[pa.Table]) -> None:
        """Keep events of the history, as far as rows from its end on may reach them.

        Several calls add up, in any order.
        """
        assert self.spec.until is not None, "a stream with history says where it begins"
        now = self.spec.until - 1
        records = self._admit(tables, EVER, Step(iter(())))
        if records is not None:
            kept = EventRuns(self._tables, self.spec.program, self.spec.order)
            own = records.filter(records.column(IS_EVENT)).select(list(self.spec.of_event))
            kept.add(sort_records(own, self.spec.order), now)
            self.header.due = kept.expire(now)
        self._close(now, changed=True)

    def step(self, tables: Sequence[pa.Table], watermark: int) -> Step:
        """Take in the rows of a batch, and emit those that its watermark (microseconds) passed."""
        header, done = self.header, Step(iter(()))
        if self.new:
            check_begun(self.spec.until)
        before, now = header.last, max(watermark, header.last)
        timed, timeless = _split_by_time(tables)
        threshold = (now if self.spec.late_now else before) + 1
        released = self._release(self._admit(timed, threshold, done), now)
        found = [each for table in timeless for each in self._features(_rows(table), {})]
        if released or header.due <= now:
            found += self._evaluate(released, now)
        done.results = iter(found)
        self._close(now, bool(tables))
        return done

    def _release(self, arrived: pa.Table | None, now: int) -> list[pa.Table]:
        """The rows whose features are due: those up to `now`, or those that have arrived."""
        if self.spec.arrival:
            return [] if arrived is None else [arrived]
        if arrived is not None:
            self._waiting.add(arrived)
        return self._waiting.release(now + 1)[0] if self._waiting.first <= now else []

    def _evaluate(self, released: list[pa.Table], now: int) -> list[pa.Table]:
        """The released rows with their features; the events that later rows may reach stay."""
        kept = EventRuns(self._tables, self.spec.program, self.spec.order)
        found = []
        if released:
            table = pa.concat_tables(released).combine_chunks()
            own = table.filter(table.column(IS_EVENT)).select(list(self.spec.of_event))
            events = sort_records(own, self.spec.order)
            found = self._ask(_rows(table), kept, events)
            kept.add(events, now)
        self.header.due = kept.expire(now)
        needed = np.zeros(self._table("keys").num_rows, dtype=np.int64)
        for groups in kept.groups():
            needed[groups] = 1
        stays = self._leave_keys(needed)
        if stays is not None:
            kept.renumber(np.cumsum(stays) - 1)
        return found

    def _ask(self, rows: pa.Table, kept: EventRuns, events: pa.Table) -> list[pa.Table]:
        """The rows with their features, over kept events of their keys and those just released."""
        if not rows.num_rows:
            return []
        rows = sort_records(rows, ())
        older = kept.of(np.unique(longs(rows, GROUP)))
        if older:
            events = sort_records(
                pa.concat_tables([*older, events]).combine_chunks(), self.spec.order
            )
        columns = {name: whole(events, name) for name in self.spec.program.reads}
        found = self.spec.program.evaluate(columns, _line(events), _line(rows))
        return self._features(rows, found)

    def _features(self, rows: pa.Table, found: dict[str, pa.Array]) -> list[pa.Table]:
        kinds = {field.name: field.type for field in rows.schema}
        batch = self.spec.program.features(whole(rows, ROW), found, kinds)
        return [pa.Table.from_batches([batch])]


def _rows(table: pa.Table) -> pa.Table:
    """The records that are rows."""
    own = table.column(ROW)
    return table.filter(pc.is_valid(own)) if own.null_count else table


def _line(table: pa.Table) -> Line:
    return Line(longs(table, GROUP).astype(np.int64), longs(table, TIME))


def _split_by_time(tables: Sequence[pa.Table]) -> tuple[list[pa.Table], list[pa.Table]]:
    """The rows that have a time, and those that have none."""
    timed, timeless = [], []
    for table in tables:
        if not table.column(TIME).null_count:
            timed.append(table)
            continue
        known = pc.is_valid(table.column(TIME))
        timed.append(table.filter(known))
        timeless.append(table.filter(pc.invert(known)))
    return timed, timeless

"""Windows of users' functions: one function a key, asked for a batch or record by record.

A function that takes batches gives two arrays a key, ends and begins; the k-th end closes the k-th
begin (first in, first out), so that runs of records follow without a loop. One that declares its
next event is shown only the records that it waits for: they are looked up in the arrays.

In a stream a function lives for one step: what it remembers is carried as JSON, and its open
windows as the slices that they began with; for a policy these are the records that it holds. A
function that takes batches gets them in a stream only if it resumes from what it remembers
(`resumes`); otherwise it sees one record at a time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from muntin.data_windows.discretizer import Begun, Discretizer, Track
from muntin.data_windows.elements import (
    NEVER,
    NONE,
    UNDECLARED,
    Batch,
    Carry,
    Clock,
    Found,
    Open,
    Runs,
)
from muntin.data_windows.held_records import Emission, HeldRecords
from muntin.data_windows.policies import record_limit
from muntin.data_windows.protocol import NextEvent, Policy, WindowFunction
from muntin.data_windows.stream_state import dump_state
from muntin.data_windows.window_functions import function_of
from muntin.errors import UserWindowError
from muntin.kernels.monoids import Array
from muntin.model.data_windows import UserWindow

Row = tuple[int, int, int, int]
"""First element, stop, start and end of a window."""


@dataclass(slots=True)
class _Key:
    """The elements of a key, its records, and what it carries.

    An open window is its first element, the time of that, and the bounds declared for it.
    """

    batch: Batch
    first: int
    stop: int
    records: Array
    times: Array
    columns: dict[str, pa.Array]
    last: int | None
    open: list[Row]
    memory: dict[str, Any] | None = None


def find_user_windows(window: UserWindow, batch: Batch, carry: Carry, clock: Clock | None) -> Found:
    """The windows of a user's function, key by key."""
    asking = _Asking(window, clock)
    for key in _keys(window, batch, carry):
        asking.ask(key)
    return asking.found()


@dataclass(slots=True)
class _Asking:
    """Asks the functions of all keys, one after the other, and gathers what they say."""

    window: UserWindow
    clock: Clock | None
    rows: list[Row] = field(default_factory=list)
    arrays: list[Runs] = field(default_factory=list)
    open: list[Row] = field(default_factory=list)
    memory: list[str | None] = field(default_factory=list)
    due: list[int] = field(default_factory=list)

    def ask(self, key: _Key) -> None:
        function = function_of(self.window)
        if key.memory is not None:
            function.restore(key.memory["state"])
        if isinstance(function, Policy) and not function.deterministic:
            self._ask_policy(function, key)
            return
        at_once = function.resumes or (self.clock is None and key.memory is None)
        if not (at_once and self._ask_at_once(function, key)):
            self._ask_one_by_one(function, key)

    def found(self) -> Found:
        """What all functions said."""
        table = np.asarray(self.rows, dtype=np.int64).reshape(-1, 4)
        runs = [*self.arrays, Runs(*(table[:, i] for i in range(4)))]
        closed = Runs(*(np.concatenate([getattr(r, f) for r in runs]) for f in Runs.__slots__))
        if self.clock is None:
            return Found(closed)
        begun = np.asarray(self.open, dtype=np.int64).reshape(-1, 4)
        still = Open(begun[:, 0], begun[:, 2], begun[:, 3])
        due = np.asarray(self.due, dtype=np.int64)
        return Found(closed, still, pa.array(self.memory, pa.string()), due)

    def _ask_policy(self, policy: Policy, key: _Key) -> None:
        """Each record that the policy holds is a window that has begun, so a slice of its own."""
        window, limit = self.window, record_limit([self.window])
        at = [place for place, *_ in key.open]
        limit = limit if self.clock is None else window.limit
        held = HeldRecords([policy], [window.id], limit, [time for _, time, *_ in key.open])

        def take(emitted: list[Emission]) -> None:
            self.rows += [(at[e.first], at[e.stop - 1] + 1, e.start, e.end) for e in emitted]

        for i, (time, record) in zip(key.records.tolist(), _rows(key), strict=True):
            take(held.emit(time, record))
            at.append(i)
            held.enter(time, record)
        if self.clock is None:
            return
        take(held.pass_time(self.clock.now, {}))
        self.open += [(place, 0, UNDECLARED, UNDECLARED) for place in at[held.dropped :]]
        self.memory.append(dump_state(window.id, policy))
        self.due.append(NEVER if held.due is None else held.due)

    def _ask_one_by_one(self, function: WindowFunction, key: _Key) -> None:
        window = self.window
        discretizer = Discretizer([Track(function, window.id, window.limit, window.incomplete)])
        begins = {number: at for number, (at, *_) in enumerate(key.open)}
        if key.memory is not None:
            begun = [
                Begun(number, 0, time, None if low == UNDECLARED else (low, high))
                for number, (_, time, low, high) in enumerate(key.open)
            ]
            discretizer.resume(begun, key.memory["declared"], key.last)
        for i, time, record in _awaited(discretizer, key):
            ended, begun = discretizer.record(time, record)
            self.rows += [(begins.pop(e.number), i, e.start, e.end) for e in ended]
            begins.update((b.number, i) for b in begun)
        last = discretizer.advance(self.clock.now) if self.clock else discretizer.finish()
        self.rows += [(begins.pop(e.number), key.stop, e.start, e.end) for e in last]
        if self.clock is None:
            return
        left, declared, due = discretizer.pause()
        for b in left:
            self.open.append((begins[b.number], 0, *(b.bounds or (UNDECLARED, UNDECLARED))))
        self.memory.append(dump_state(window.id, function, declared))
        self.due.append(NEVER if due is None else due)

    def _ask_at_once(self, function: WindowFunction, key: _Key) -> bool:
        """Ask for all records of the key; False if the function wants them one by one."""
        if type(function).marks is WindowFunction.marks:
            return False
        said = _ask_all(self.window, function, key)
        if said is None:
            return False
        ends, begins = said
        _check(self.window, key.times, ends, begins, len(key.open))
        held = np.asarray([at for at, *_ in key.open], dtype=np.int64)
        first = np.concatenate((held, np.repeat(key.records, begins)))
        stop = np.repeat(key.records, ends)
        rest = len(first) - len(stop) if self.window.incomplete and self.clock is None else 0
        stop = np.concatenate((stop, np.full(rest, key.stop, dtype=stop.dtype)))
        self.arrays.append(_bound(function, key.batch, first[: len(stop)], stop))
        if self.clock is not None:
            self.open += [(at, 0, UNDECLARED, UNDECLARED) for at in first[len(stop) :].tolist()]
            self.memory.append(dump_state(self.window.id, function))
            self.due.append(NEVER)
        return True


def _keys(window: UserWindow, batch: Batch, carry: Carry) -> Iterator[_Key]:
    columns = {name: batch.column(name) for name in window.columns}
    bounds = np.append(batch.firsts, batch.size)
    among = np.searchsorted(batch.records, bounds).tolist()
    began = np.searchsorted(carry.open.at, bounds).tolist()
    nothing: list[str | None] = [None] * len(batch.firsts)
    held = nothing if carry.value is None else carry.value.to_pylist()
    at = carry.open.at
    begun = (at, batch.time[at], carry.open.low, carry.open.high)
    open_rows = list(zip(*(each.tolist() for each in begun), strict=True))
    for group, (first, stop) in enumerate(pairwise(bounds.tolist())):
        low, high = among[group], among[group + 1]
        records = batch.records[low:high]
        old = stop - (high - low)
        yield _Key(
            batch,
            first,
            stop,
            records,
            batch.time[records],
            {name: column.slice(low, high - low) for name, column in columns.items()},
            int(batch.last[old - 1]) if old > first else None,
            open_rows[began[group] : began[group + 1]],
            None if (memory := held[group]) is None else json.loads(memory),
        )


def _awaited(discretizer: Discretizer, key: _Key) -> Iterator[tuple[int, int, dict[str, object]]]:
    """The records that the function waits for, by element and time; it is told of the others."""
    columns = {name: column.to_pylist() for name, column in key.columns.items()}

    @cache
    def holds(name: str) -> Array:
        return np.flatnonzero([bool(value) for value in columns[name]])

    records, place = key.records.tolist(), 0
    while place < len(records):
        row = {name: column[place] for name, column in columns.items()}
        yield records[place], int(key.times[place]), row
        after = _next_place(discretizer.waits(), key.times, holds, place + 1)
        discretizer.pass_over(after - place - 1, int(key.times[after - 1]))
        place = after


def _next_place(
    event: NextEvent | None, times: Array, holds: Callable[[str], Array], place: int
) -> int:
    """Where the next record is that a function must see, from `place` on."""
    if event is None or event.measure is not None:
        return place
    places = [len(times)]
    if event.time is not None:
        places.append(int(np.searchsorted(times, event.time)))
    if event.records is not None:
        places.append(place + event.records)
    for name in event.conditions:
        at = holds(name)
        places += at[np.searchsorted(at, place) :][:1].tolist()
    return max(min(places), place)


def _rows(key: _Key) -> list[tuple[int, dict[str, object]]]:
    values = [column.to_pylist() for column in key.columns.values()]
    each = zip(*values, strict=True) if values else ((),) * len(key.times)
    return [
        (time, dict(zip(key.columns, row, strict=True)))
        for time, row in zip(key.times.tolist(), each, strict=True)
    ]


def _ask_all(window: UserWindow, function: WindowFunction, key: _Key) -> tuple[Array, Array] | None:
    """The ends and begins that the function gives, one number for each record."""
    values = {name: column.to_numpy(zero_copy_only=False) for name, column in key.columns.items()}
    times = key.times
    if not len(times):
        return NONE, NONE
    try:
        said = function.marks(times, values)
    except Exception as error:
        raise UserWindowError(
            f"window function {window.id!r} raised {error!r} for the {len(times)} records from "
            f"time {int(times[0])} to {int(times[-1])}"
        ) from error
    if said is None:
        return None
    ends, begins = (np.asarray(part) for part in said)
    if ends.shape != times.shape or begins.shape != times.shape:
        raise UserWindowError(
            f"window function {window.id!r} gave {ends.shape} ends and {begins.shape} begins for "
            f"{len(times)} records: give one number each"
        )
    return ends.astype(np.int64), begins.astype(np.int64)


def _check(window: UserWindow, times: Array, ends: Array, begins: Array, held: int) -> None:
    """Hold the function to its contract; `held` windows were open before these records."""
    before = held + np.cumsum(begins) - begins
    open_after = held + np.cumsum(begins) - np.cumsum(ends)
    wrong = np.flatnonzero((np.cumsum(ends) > before) | (ends < 0) | (begins < 0))
    if len(wrong):
        at = int(wrong[0])
        raise UserWindowError(
            f"window function {window.id!r} ends {int(ends[at])} windows at time "
            f"{int(times[at])}, of which too few are open: an end needs a begin before it"
        )
    if int(open_after.max(initial=0)) > window.limit:
        at = int(np.argmax(open_after > window.limit))
        raise UserWindowError(
            f"window function {window.id!r} has {int(open_after[at])} open windows at time "
            f"{int(times[at])}, above its limit of {window.limit}: end them, or raise the limit "
            "with mt.user_window(..., limit=...)"
        )


def _bound(function: WindowFunction, batch: Batch, first: Array, stop: Array) -> Runs:
    if type(function).bounds is WindowFunction.bounds:
        return batch.runs(first, stop)
    spans = zip(batch.time[first].tolist(), batch.last[stop - 1].tolist(), strict=True)
    pairs = np.asarray([function.bounds(*span) for span in spans], dtype=np.int64).reshape(-1, 2)
    return Runs(first, stop, pairs[:, 0], pairs[:, 1])

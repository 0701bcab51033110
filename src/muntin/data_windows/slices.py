"""One step of all keys that have something to do: slices and records in, windows and slices out.

    elements   [slices of the key] [records released]           for every key, in order
    found      for every window: runs of elements that ended, elements with which open ones began
    cut        where a run begins or ends; each piece is reduced once, each run merged from pieces
    kept       one slice for each stretch between the begins of open windows: a session of a
               million records is one, and what no open window holds is gone
    early      in update mode, windows that have begun and got a record: as if the data ended here

Keys that have neither records nor a window that time ends are not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from muntin.data_windows.array_windows import find_windows
from muntin.data_windows.elements import (
    NEVER,
    NONE,
    Batch,
    Carry,
    Clock,
    Found,
    Open,
    Runs,
    changes,
    merge_runs,
)
from muntin.data_windows.record_buffer import TIME
from muntin.data_windows.stream_state import StreamSpec, keeps_records
from muntin.kernels.keepers import lift_kept
from muntin.kernels.monoids import Array
from muntin.kernels.portions import whole
from muntin.model.data_windows import DataWindow, MeasureWindow, Threshold, UserWindow
from muntin.model.windows import Window
from muntin.state.pieces import GROUP, longs

NODE, NUMBER, LO, HI, SLICE, LOW, HIGH = "node", "number", "lo", "hi", "slice", "low", "high"
SEEN, DUE = "seen", "due"


@dataclass(frozen=True, slots=True)
class Kept:
    """What a bucket keeps of records that it has taken.

    slices   group, number, lo, hi, p…       by group and number, the records of the key before it
    open     node, group, slice, low, high   windows, and which slice of their key they began with
    facts    seen, due, v…                   for each key: its records, when time ends a window of
                                             it, and the value or memory of window …
    """

    slices: pa.Table
    open: pa.Table
    facts: pa.Table

    @staticmethod
    def none(spec: StreamSpec, like: pa.Table) -> Kept:
        """Nothing yet, with columns as those of the records."""
        groups, empty = pa.array([], pa.int32()), pa.array([], pa.int64())
        partials = {p.name: lift_kept(p, whole(like, p.name).slice(0, 0)) for p in spec.partials}
        kinds = {n: value_type(window, spec, like) for n, window in spec.windows.items()}
        values = {f"v{n}": pa.array([], kind) for n, kind in kinds.items() if kind is not None}
        return Kept(
            pa.table({GROUP: groups, NUMBER: empty, LO: empty, HI: empty, **partials}),
            pa.table({NODE: groups, GROUP: groups, SLICE: groups, LOW: empty, HIGH: empty}),
            pa.table({SEEN: empty, DUE: empty, **values}),
        )

    def with_keys(self, count: int) -> Kept:
        """The same with facts for so many keys: new ones have had no record."""
        new = count - self.facts.num_rows
        if not new:
            return self
        fresh = {SEEN: pa.array(np.zeros(new, np.int64)), DUE: pa.array(np.full(new, NEVER))}
        fields = [f for f in self.facts.schema if f.name not in fresh]
        fresh |= {f.name: pa.nulls(new, f.type) for f in fields}
        return Kept(self.slices, self.open, pa.concat_tables([self.facts, pa.table(fresh)]))


def take_step(
    spec: StreamSpec, kept: Kept, records: pa.Table, clock: Clock
) -> tuple[list[pa.Table], Kept]:
    """Results by node (group, node, start, end, p…), and what is kept after the step.

    Records come in order, with the number of their key; no record before `now` will come.
    """
    busy = longs(kept.facts, DUE) <= clock.now
    busy[longs(records, GROUP)] = True
    if not busy.any():
        return [], kept
    return _Step(spec, kept, records, busy).take(clock)


class _Step:
    """One step of the keys that have something to do: those are `busy`, and numbered anew."""

    def __init__(self, spec: StreamSpec, kept: Kept, records: pa.Table, busy: Array) -> None:
        self._spec, self._kept, self._busy = spec, kept, busy
        self._keys = np.flatnonzero(busy)
        own = kept.slices.filter(pa.array(busy[longs(kept.slices, GROUP)]))
        self._batch, order = self._elements(own, records)
        self._partials = {
            p.name: _joined(whole(own, p.name), lift_kept(p, whole(records, p.name))).take(order)
            for p in spec.partials
        }

    def take(self, clock: Clock) -> tuple[list[pa.Table], Kept]:
        """Find the windows, merge what ended, and keep what has not."""
        batch, spec = self._batch, self._spec
        tied = Clock(clock.before, clock.now, np.isin(self._keys, clock.tied))
        found = {
            node: find_windows(window, batch, self._carry(node), tied)
            for node, window in spec.windows.items()
        }
        begins = np.unique(np.concatenate([NONE, *(each.open.at for each in found.values())]))
        slices = batch.runs_from(begins)
        given = [(node, each.closed) for node, each in found.items()]
        if spec.update:
            given += [(node, self._early(node, each, clock.now)) for node, each in found.items()]
        given = [(node, runs) for node, runs in given if len(runs.first)]
        kept, *merged = merge_runs(
            [slices, *(runs for _, runs in given)],
            batch.size,
            spec.partials,
            self._partials.__getitem__,
            spec.wraps,
            kept=1,
        )
        results = [
            self._result(node, runs, columns)
            for (node, runs), columns in zip(given, merged, strict=True)
        ]
        return results, Kept(
            self._keep_slices(slices, kept), self._keep_open(begins, found), self._keep_facts(found)
        )

    def _early(self, node: int, found: Found, now: int) -> Runs:
        """The windows of keys with new records that have begun and not ended."""
        window, batch = self._spec.windows[node], self._batch
        if isinstance(window, UserWindow) and keeps_records(window):
            return found.closed.where(NONE)  # a policy has no window before it emits one
        ending = replace(window, incomplete=True) if isinstance(window, DataWindow) else window
        runs = find_windows(ending, batch, self._carry(node)).closed
        ended = _among(runs, found.closed, batch.size)
        if isinstance(window, Window):
            ended = runs.end <= now
        changed = np.zeros(len(batch.firsts), dtype=np.bool_)
        changed[batch.group[batch.records]] = True
        return runs.where(changed[batch.group[runs.first]] & ~ended)

    def _elements(self, own: pa.Table, records: pa.Table) -> tuple[Batch, pa.Array]:
        """Slices and records, key by key, and their order."""
        held, group = (np.searchsorted(self._keys, longs(t, GROUP)) for t in (own, records))
        order = np.argsort(np.concatenate((held, group)), kind="stable")
        seen = longs(self._kept.facts, SEEN)[self._keys]
        new = np.bincount(group, minlength=len(self._keys))
        place = np.arange(len(group)) - np.repeat(np.cumsum(new) - new, new)

        def ordered(of_slices: Array, of_records: Array) -> Array:
            return np.asarray(np.concatenate((of_slices, of_records))[order])

        time, inputs = longs(records, TIME), self._spec.inputs
        batch = Batch(
            ordered(held, group),
            ordered(longs(own, LO), time),
            lambda name: whole(records, inputs[name]),
            ordered(longs(own, HI), time),
            ordered(longs(own, NUMBER), seen[group] + place),
            np.flatnonzero(order >= len(held)),
            seen + new,
        )
        return batch, pa.array(order)

    def _carry(self, node: int) -> Carry:
        open, facts = self._kept.open, self._kept.facts
        group = longs(open, GROUP)
        mine = np.flatnonzero((longs(open, NODE) == node) & self._busy[group])
        first = self._batch.firsts[np.searchsorted(self._keys, group[mine])]
        at = first + longs(open, SLICE)[mine]
        order = np.argsort(at, kind="stable")  # windows that begin together stay FIFO
        low, high = (longs(open, name)[mine][order] for name in (LOW, HIGH))
        known = f"v{node}" in facts.column_names
        value = whole(facts, f"v{node}").take(pa.array(self._keys)) if known else None
        return Carry(Open(at[order], low, high), value)

    def _result(self, node: int, runs: Runs, columns: list[pa.Array]) -> pa.Table:
        head = {
            GROUP: pa.array(self._keys[self._batch.group[runs.first]]),
            NODE: pa.array(np.full(len(runs.first), node, dtype=np.int32)),
            "start": pa.array(runs.start),
            "end": pa.array(runs.end),
        }
        return pa.table(head | dict(zip(self._partials, columns, strict=True)))

    def _others(self, table: pa.Table) -> pa.Table:
        """What a table has of keys that are not looked at."""
        return table.filter(pa.array(~self._busy[longs(table, GROUP)]))

    def _keep_slices(self, slices: Runs, partials: list[pa.Array]) -> pa.Table:
        batch, begin = self._batch, slices.first
        head = {
            GROUP: pa.array(self._keys[batch.group[begin]], pa.int32()),
            NUMBER: pa.array(batch.number[begin]),
            LO: pa.array(batch.time[begin]),
            HI: pa.array(batch.last[slices.stop - 1]),
        }
        new = pa.table(head | dict(zip(self._partials, partials, strict=True)))
        others = self._others(self._kept.slices)
        both = pa.concat_tables([others, new.cast(others.schema)])
        return both.take(pa.array(np.argsort(longs(both, GROUP), kind="stable"))).combine_chunks()

    def _keep_open(self, begin: Array, found: dict[int, Found]) -> pa.Table:
        group = self._batch.group[begin]
        rank = np.arange(len(begin)) - np.flatnonzero(changes(group))[np.cumsum(changes(group)) - 1]
        open = [self._others(self._kept.open)]
        for node, each in found.items():
            place = np.searchsorted(begin, each.open.at)
            columns = {
                NODE: pa.array(np.full(len(place), node), pa.int32()),
                GROUP: pa.array(self._keys[group[place]], pa.int32()),
                SLICE: pa.array(rank[place], pa.int32()),
                LOW: pa.array(each.open.low, pa.int64()),
                HIGH: pa.array(each.open.high, pa.int64()),
            }
            open.append(pa.table(columns))
        return pa.concat_tables(open).combine_chunks()

    def _keep_facts(self, found: dict[int, Found]) -> pa.Table:
        facts, keys = self._kept.facts, self._keys
        seen, due = longs(facts, SEEN).copy(), longs(facts, DUE).copy()
        seen[keys] = self._batch.total
        times = [each.due for each in found.values() if each.due is not None]
        due[keys] = np.minimum.reduce([np.full(len(keys), NEVER), *times])
        new = {SEEN: pa.array(seen), DUE: pa.array(due)}
        place = np.arange(len(seen))
        place[keys] = len(seen) + np.arange(len(keys))
        for node, each in found.items():
            if each.value is not None:
                both = pa.concat_arrays([whole(facts, f"v{node}"), each.value])
                new[f"v{node}"] = both.take(pa.array(place))
        return pa.table(new)


def _joined(slices: pa.Array, records: pa.Array) -> pa.Array:
    """Kept partials of slices and of records, in one column."""
    same = records if records.type == slices.type else records.cast(slices.type)
    return pa.concat_arrays([slices, same])


def _among(runs: Runs, closed: Runs, size: int) -> Array:
    """Which of these runs are closed: as many of equal ones as are closed, the oldest first."""
    own, others = (r.first * (size + 1) + r.stop for r in (runs, closed))
    order = np.argsort(own, kind="stable")
    ordered = own[order]
    turn = np.empty(len(own), dtype=np.int64)
    turn[order] = np.arange(len(own)) - np.searchsorted(ordered, ordered)
    others = np.sort(others)
    times = np.searchsorted(others, own, side="right") - np.searchsorted(others, own)
    return np.asarray(turn < times)


def value_type(window: object, spec: StreamSpec, like: pa.Table) -> pa.DataType | None:
    """The type of what a window remembers of each key, if it remembers anything."""
    match window:
        case MeasureWindow():
            return like.schema.field(spec.inputs[window.measure]).type
        case Threshold():
            return like.schema.field(spec.inputs[window.value]).type
        case UserWindow():
            return pa.string()
    return None

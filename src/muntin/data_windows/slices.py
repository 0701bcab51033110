"""One step of all keys that have something to do: slices and records in, windows and slices out.

    elements   [slices of the key] [records released]           for every key, in order
    told       for every window: runs of elements that ended, elements with which open ones began
    cut        where a run begins or ends; each piece is reduced once, each run merged from pieces
    kept       one slice for each stretch between the begins of open windows: a session of a
               million records is one, and what no open window holds is gone

Keys that have neither records nor a window that time ends are not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from muntin.data_windows.bulk import told
from muntin.data_windows.elements import (
    NEVER,
    NONE,
    Batch,
    Carry,
    Clock,
    Open,
    Past,
    Runs,
    Told,
    changes,
)
from muntin.data_windows.record_order import TIME
from muntin.data_windows.stream_header import StreamSpec
from muntin.kernels.columns import encode
from muntin.kernels.monoids import Array
from muntin.kernels.spans import Cuts, spans
from muntin.model.data_windows import MeasureWindow, Threshold, UserWindow
from muntin.state.pieces import GROUP, longs
from muntin.state.store import whole

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
        empty = pa.array([], pa.int64())
        groups = pa.array([], pa.int32())
        partials = like.select([p.name for p in spec.partials]).slice(0, 0)
        slices = pa.table({GROUP: groups, NUMBER: empty, LO: empty, HI: empty})
        for name in partials.column_names:
            slices = slices.append_column(name, partials.column(name))
        open = pa.table({NODE: groups, GROUP: groups, SLICE: groups, LOW: empty, HIGH: empty})
        facts = pa.table({SEEN: empty, DUE: empty})
        for node, window in spec.windows.items():
            kind = _value_type(window, spec, like)
            if kind is not None:
                facts = facts.append_column(f"v{node}", pa.array([], kind))
        return Kept(slices, open, facts)

    def with_keys(self, count: int) -> Kept:
        """The same with facts for so many keys: new ones have had no record."""
        new = count - self.facts.num_rows
        if not new:
            return self
        fresh = {SEEN: pa.array(np.zeros(new, np.int64)), DUE: pa.array(np.full(new, NEVER))}
        fields = [f for f in self.facts.schema if f.name not in fresh]
        fresh |= {f.name: pa.nulls(new, f.type) for f in fields}
        return Kept(self.slices, self.open, pa.concat_tables([self.facts, pa.table(fresh)]))


@dataclass(frozen=True, slots=True)
class Instant:
    """When a step happens: the watermark before and now, and which keys have a record just now."""

    before: int
    now: int
    tied: Array


def stepped(
    spec: StreamSpec, kept: Kept, records: pa.Table, when: Instant
) -> tuple[list[pa.Table], Kept]:
    """Results by node (group, node, start, end, p…), and what is kept after the step.

    Records come in order, with the number of their key; no record before `now` will come.
    """
    due = longs(kept.facts, DUE)
    busy = due <= when.now
    busy[longs(records, GROUP)] = True
    keys = np.flatnonzero(busy)
    if not len(keys):
        return [], kept
    mine = busy[longs(kept.slices, GROUP)]
    own = kept.slices.filter(pa.array(mine))
    batch, order = _elements(spec, own, records, kept.facts, keys)
    clock = Clock(when.before, when.now, np.isin(keys, when.tied))
    answers = {
        node: told(window, batch, _carry(node, kept, busy, keys, batch), clock)
        for node, window in spec.windows.items()
    }
    begins = np.unique(np.concatenate([NONE, *(t.open.at for t in answers.values())]))
    after = np.append(begins[1:], batch.size)[: len(begins)]
    slices = Runs(begins, np.minimum(after, batch.stops[begins]), begins, begins)
    runs = {node: t.closed for node, t in answers.items() if len(t.closed.first)}
    merged = _merged(spec, [own, records], order, [slices, *runs.values()], batch.size)
    results = [
        _result(node, keys, batch, closed, columns, spec)
        for (node, closed), columns in zip(runs.items(), merged[1:], strict=True)
    ]
    return results, _kept(spec, kept, busy, keys, batch, slices, merged[0], answers)


def _elements(
    spec: StreamSpec, own: pa.Table, records: pa.Table, facts: pa.Table, keys: Array
) -> tuple[Batch, Array]:
    """Slices and records of the keys that have something to do, and their order."""
    held, group = (np.searchsorted(keys, longs(t, GROUP)) for t in (own, records))
    order = np.argsort(np.concatenate((held, group)), kind="stable")
    both = np.concatenate((held, group))[order]
    seen = longs(facts, SEEN)[keys]
    new = np.bincount(group, minlength=len(keys))
    place = np.arange(len(group)) - np.repeat(np.cumsum(new) - new, new)
    past = Past(
        np.concatenate((longs(own, HI), longs(records, TIME)))[order],
        np.concatenate((longs(own, NUMBER), seen[group] + place))[order],
        order >= len(held),
        seen + new,
    )
    time = np.concatenate((longs(own, LO), longs(records, TIME)))[order]
    return Batch(both, time, lambda name: whole(records, spec.inputs[name]), past), order


def _carry(node: int, kept: Kept, busy: Array, keys: Array, batch: Batch) -> Carry:
    group = longs(kept.open, GROUP)
    mine = np.flatnonzero((longs(kept.open, NODE) == node) & busy[group])
    at = batch.firsts[np.searchsorted(keys, group[mine])] + longs(kept.open, SLICE)[mine]
    order = np.argsort(at, kind="stable")  # windows that begin together stay first in, first out
    low, high = (longs(kept.open, name)[mine][order] for name in (LOW, HIGH))
    name = f"v{node}"
    known = name in kept.facts.column_names
    value = whole(kept.facts, name).take(pa.array(keys)) if known else None
    return Carry(Open(at[order], low, high), value)


def _merged(
    spec: StreamSpec, tables: list[pa.Table], order: Array, runs: list[Runs], size: int
) -> list[list[pa.Array]]:
    """The partial columns of every run, for each list of runs."""
    found: list[list[pa.Array]] = [[] for _ in runs]
    cuts = Cuts.of([(r.first, r.stop) for r in runs], size)
    if not len(cuts.at):
        return [[t.slice(0, 0) for t in _partials(spec, tables)] for _ in runs]
    place = np.zeros(size + 1, dtype=np.int64)
    place[cuts.at] = np.arange(len(cuts.at))
    columns = {
        p.name: column.take(pa.array(order))
        for p, column in zip(spec.partials, _partials(spec, tables), strict=True)
    }
    for partial in spec.partials:
        given = [columns[name] for name in (partial.name, *partial.beside)]
        encoded = encode(partial.merger, given, spec.wraps, partial.code)
        pieces = cuts.reduced(encoded.arrays, encoded.monoid)
        for target, r in zip(found, runs, strict=True):
            values = spans(pieces, place[r.first], place[r.stop], encoded.monoid)
            target.append(encoded.decode(values))
    return found


def _partials(spec: StreamSpec, tables: list[pa.Table]) -> list[pa.Array]:
    return [pa.concat_arrays([whole(t, p.name) for t in tables]) for p in spec.partials]


def _result(
    node: int, keys: Array, batch: Batch, runs: Runs, columns: list[pa.Array], spec: StreamSpec
) -> pa.Table:
    head = {
        GROUP: pa.array(keys[batch.group[runs.first]]),
        NODE: pa.array(np.full(len(runs.first), node, dtype=np.int32)),
        "start": pa.array(runs.start),
        "end": pa.array(runs.end),
    }
    return pa.table(head | dict(zip((p.name for p in spec.partials), columns, strict=True)))


def _kept(
    spec: StreamSpec,
    kept: Kept,
    busy: Array,
    keys: Array,
    batch: Batch,
    slices: Runs,
    partials: list[pa.Array],
    answers: dict[int, Told],
) -> Kept:
    """What stays of the keys that were looked at, in the place of what they had."""
    begin = slices.first
    group = batch.group[begin]
    head = {
        GROUP: pa.array(keys[group], pa.int32()),
        NUMBER: pa.array(batch.number[begin]),
        LO: pa.array(batch.time[begin]),
        HI: pa.array(batch.last[slices.stop - 1]),
    }
    new = pa.table(head | dict(zip((p.name for p in spec.partials), partials, strict=True)))
    others = kept.slices.filter(pa.array(~busy[longs(kept.slices, GROUP)]))
    both = pa.concat_tables([others, new.cast(others.schema)])
    both = both.take(pa.array(np.argsort(longs(both, GROUP), kind="stable"))).combine_chunks()
    rank = np.arange(len(begin)) - np.flatnonzero(changes(group))[np.cumsum(changes(group)) - 1]
    open = [kept.open.filter(pa.array(~busy[longs(kept.open, GROUP)]))]
    for node, answer in answers.items():
        place = np.searchsorted(begin, answer.open.at)
        columns = {
            NODE: pa.array(np.full(len(place), node), pa.int32()),
            GROUP: pa.array(keys[group[place]], pa.int32()),
            SLICE: pa.array(rank[place], pa.int32()),
            LOW: pa.array(answer.open.low, pa.int64()),
            HIGH: pa.array(answer.open.high, pa.int64()),
        }
        open.append(pa.table(columns))
    return Kept(both, pa.concat_tables(open).combine_chunks(), _facts(kept, keys, batch, answers))


def _facts(kept: Kept, keys: Array, batch: Batch, answers: dict[int, Told]) -> pa.Table:
    seen, due = longs(kept.facts, SEEN).copy(), longs(kept.facts, DUE).copy()
    seen[keys] = batch.total
    times = [t.due for t in answers.values() if t.due is not None]
    due[keys] = np.minimum.reduce([np.full(len(keys), NEVER), *times])
    facts = {SEEN: pa.array(seen), DUE: pa.array(due)}
    place = np.arange(len(seen))
    place[keys] = len(seen) + np.arange(len(keys))
    for node, answer in answers.items():
        if answer.value is not None:
            both = pa.concat_arrays([whole(kept.facts, f"v{node}"), answer.value])
            facts[f"v{node}"] = both.take(pa.array(place))
    return pa.table(facts)


def _value_type(window: object, spec: StreamSpec, like: pa.Table) -> pa.DataType | None:
    match window:
        case MeasureWindow():
            return like.schema.field(spec.inputs[window.measure]).type
        case Threshold():
            return like.schema.field(spec.inputs[window.value]).type
        case UserWindow():
            return pa.string()
    return None

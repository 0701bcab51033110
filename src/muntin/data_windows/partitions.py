"""Cutty on a partition of sorted records: all windows of its keys in one pass, Arrow in and out.

Records come sorted by key and time. A portion is as many whole keys as make some hundred thousand
records (a larger key is one portion: its windows may reach over all of it). For every window of the
plan the runs of records are found at once (muntin.data_windows.array_windows) and merged together.

`Assigned` is for aggregates that have no array form: each record is passed on once for every window
that it is in, and Spark groups them. `SessionRuns` goes before a shuffle, if all windows are
sessions. Each is a function for mapInArrow, and holds what a worker needs to know.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from muntin.aggregates.columns import PartialColumn
from muntin.data_windows.array_windows import runs_of, sessions_over
from muntin.data_windows.elements import Batch, Runs, changes, merge_runs
from muntin.kernels.columns import encode
from muntin.kernels.grouping import codes_of
from muntin.kernels.monoids import Array
from muntin.kernels.portions import portions, whole
from muntin.kernels.sent_columns import AS_NAMED, Sent
from muntin.kernels.sorted_rows import order_of
from muntin.kernels.spans import reduce_pieces
from muntin.model.data_windows import DataWindow, Session
from muntin.model.windows import Window
from muntin.state.pieces import longs

PORTION = 200_000
"""Records that are evaluated at a time, if no key has more."""

RUN_PORTION = 500_000
"""Records that are merged into runs at a time."""

COPIES = 500_000
"""Copies of records that are passed on at a time."""


@dataclass(frozen=True, slots=True)
class Cutty:
    """What a worker needs to know; sent to it once for each partition.

    Rows are records of a time t, sorted by key and time; `sent` says which columns hold their
    partials. Or, where all windows are sessions, slices of records in any order: `lo` and `hi` are
    then the times of their first and last record, and a partition is sorted here.
    """

    keys: tuple[str, ...]
    windows: Mapping[int, Window | DataWindow]
    inputs: Mapping[str, str]
    partials: tuple[PartialColumn, ...]
    wraps: bool
    sent: Sent = AS_NAMED
    of_runs: bool = False

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        read = sort_keys if self.of_runs else whole_keys
        for table, group in read(batches, self.keys):
            yield from self._evaluate(table, group)

    def _runs(self, table: pa.Table, group: Array) -> dict[int, Runs]:
        if self.of_runs:
            lo, hi = (longs(table, side) for side in ("lo", "hi"))
            return {
                n: sessions_over(group, lo, hi, window.gap)
                for n, window in self.windows.items()
                if isinstance(window, Session)
            }
        batch = batch_of(table, group, self.inputs)
        return {n: r for n, w in self.windows.items() if len((r := runs_of(w, batch)).first)}

    def _evaluate(self, table: pa.Table, group: Array) -> Iterator[pa.RecordBatch]:
        runs = self._runs(table, group)
        if not runs:
            return
        merged = merge_runs(
            list(runs.values()),
            table.num_rows,
            self.partials,
            self.sent.lift(table, self.partials).__getitem__,
            self.wraps,
        )
        names = [*self.keys, "node", "start", "end", *(p.name for p in self.partials)]
        for (n, r), columns in zip(runs.items(), merged, strict=True):
            yield pa.RecordBatch.from_arrays([*_head(table, self.keys, n, r), *columns], names)


@dataclass(frozen=True, slots=True)
class Assigned:
    """Records with the windows they are in, numbered within the worker's portion and key."""

    keys: tuple[str, ...]
    windows: Mapping[int, Window | DataWindow]
    inputs: Mapping[str, str]
    values: tuple[str, ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table, group in whole_keys(batches, self.keys):
            batch = batch_of(table, group, self.inputs)
            for n, window in self.windows.items():
                runs = runs_of(window, batch)
                for some in _in_parts(runs):
                    yield self._copy(table, n, runs, some)

    def _copy(self, table: pa.Table, node: int, runs: Runs, some: slice) -> pa.RecordBatch:
        first, stop = runs.first[some], runs.stop[some]
        length = stop - first
        rows = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length - first, length)
        of_run = np.repeat(np.arange(some.start, some.start + len(first)), length)
        one = Runs(rows, rows, runs.start[of_run], runs.end[of_run])
        held = [whole(table, name).take(pa.array(rows)) for name in self.values]
        arrays = [*_head(table, self.keys, node, one), pa.array(of_run), *held]
        names = [*self.keys, "node", "start", "end", "run", *self.values]
        return pa.RecordBatch.from_arrays(arrays, names)


@dataclass(frozen=True, slots=True)
class SessionRuns:
    """Merge the records of a partition, in any order, wherever no pause parts them.

    rows   k…  t        p…     the partial of each record; `sent` says which columns hold it
    out    k…  lo  hi   p…     a run: records of a key, none further than the gap from the next

    Records of a key that are no more than the smallest gap apart are in one session of every gap,
    wherever else records fall. So what a partition has of a session becomes one row (or a few, one
    a portion), and only these are shuffled. Runs of several partitions may lie across one another:
    where one begins between two records of another, these are no gap apart, so both are of one
    session.
    """

    keys: tuple[str, ...]
    partials: tuple[PartialColumn, ...]
    sent: Sent
    gap: int
    wraps: bool

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in portions(batches, RUN_PORTION):
            yield self._merge(table)

    def _merge(self, table: pa.Table) -> pa.RecordBatch:
        code = codes_of([whole(table, k) for k in self.keys], table.num_rows)
        time = longs(table, "t")
        order = order_of(code, time)
        code, time = code[order], time[order]
        apart = (code[1:] != code[:-1]) | (time[1:] - time[:-1] > self.gap)
        first = np.concatenate(([0], np.flatnonzero(apart) + 1))
        last = np.append(first[1:], len(time)) - 1
        columns, lifted = [], self.sent.lift(table, self.partials)
        for partial in self.partials:
            given = [lifted[name] for name in (partial.name, *partial.beside)]
            encoded = encode(partial.merger, given, self.wraps, partial.code)
            ordered = tuple(array[order] for array in encoded.arrays)
            columns.append(encoded.decode(reduce_pieces(ordered, first, encoded.monoid)))
        origin = pa.array(order[first])
        keys = [whole(table, k).take(origin) for k in self.keys]
        names = [*self.keys, "lo", "hi", *(p.name for p in self.partials)]
        bounds = [pa.array(time[first]), pa.array(time[last])]
        return pa.RecordBatch.from_arrays([*keys, *bounds, *columns], names)


def _head(table: pa.Table, keys: tuple[str, ...], node: int, runs: Runs) -> list[pa.Array]:
    origin = pa.array(runs.first)
    own = [whole(table, k).take(origin) for k in keys]
    number = pa.array(np.full(len(origin), node, dtype=np.int32))
    return [*own, number, pa.array(runs.start), pa.array(runs.end)]


def _in_parts(runs: Runs) -> Iterator[slice]:
    """Windows whose records are not too many together."""
    held = np.cumsum(runs.stop - runs.first)
    low = 0
    while low < len(held):
        before = int(held[low - 1]) if low else 0
        high = max(int(np.searchsorted(held, before + COPIES)), low + 1)
        yield slice(low, high)
        low = high


def batch_of(table: pa.Table, group: Array, inputs: Mapping[str, str]) -> Batch:
    """The portion as windows see it; `inputs` are the plain names of what they ask for."""
    time = longs(table, "t")
    return Batch.of_records(group, time, lambda name: whole(table, inputs[name]))


def whole_keys(
    batches: Iterator[pa.RecordBatch], keys: tuple[str, ...]
) -> Iterator[tuple[pa.Table, Array]]:
    """Portions that end where a key ends, with the number of each record's key."""
    waiting: list[pa.Table] = []
    size, wanted = 0, PORTION
    for batch in batches:
        waiting.append(pa.Table.from_batches([batch]))
        size += batch.num_rows
        if size < wanted:
            continue
        table = pa.concat_tables(waiting).combine_chunks()
        group = groups(table, keys)
        last = int(np.searchsorted(group, group[-1]))
        if last:
            yield table.slice(0, last), group[:last]
        waiting, size = [table.slice(last)], table.num_rows - last
        wanted = max(PORTION, 2 * size)  # a key that goes on is not looked at again too soon
    if size:
        table = pa.concat_tables(waiting).combine_chunks()
        yield table, groups(table, keys)


def sort_keys(
    batches: Iterator[pa.RecordBatch], keys: tuple[str, ...]
) -> Iterator[tuple[pa.Table, Array]]:
    """The same of a partition of runs in any order: sorted by key and first time, all at once."""
    given = list(batches)
    if not sum(batch.num_rows for batch in given):
        return
    table = pa.Table.from_batches(given).combine_chunks()
    code = codes_of([whole(table, name) for name in keys], table.num_rows)
    order = order_of(code, longs(table, "lo"))
    code = code[order]
    edges = np.append(np.flatnonzero(changes(code)), len(code))
    low = 0
    while low < len(code):
        high = int(edges[np.searchsorted(edges, min(low + PORTION, len(code)))])
        yield table.take(pa.array(order[low:high])), np.cumsum(changes(code[low:high])) - 1
        low = high


def groups(table: pa.Table, keys: tuple[str, ...]) -> Array:
    """The number of each record's key, in a table sorted by key."""
    codes = codes_of([whole(table, name) for name in keys], table.num_rows)
    return np.cumsum(changes(codes)) - 1

"""Cutty on a partition of sorted records: all windows of its keys in one pass, Arrow in and out.

Records come sorted by key and time. A portion is as many whole keys as make some hundred thousand
records (a larger key is one portion: its windows may reach over all of it). For every window of the
plan the runs of records are found at once (muntin.data_windows.bulk), the records are cut where any
run begins or ends, each piece is reduced once, and every run is merged from pieces.

`Assigned` is for aggregates that have no array form: each record is handed on once for every window
that it is in, and Spark groups them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from muntin.aggregates.columns import PartialColumn
from muntin.data_windows.bulk import runs_of, sessions_over
from muntin.data_windows.elements import Batch, Runs
from muntin.kernels.columns import encode
from muntin.kernels.monoids import Array
from muntin.kernels.spans import Cuts, spans
from muntin.model.data_windows import DataWindow, Session
from muntin.model.windows import Window

PORTION = 200_000
"""Records that are evaluated at a time, if no key has more."""

COPIES = 500_000
"""Copies of records that are handed on at a time."""


@dataclass(frozen=True, slots=True)
class Cutty:
    """What a worker needs to know; sent to it once for each partition.

    Rows are records of a time t, or, where all windows are sessions, slices of records: `lo` and
    `hi` are then the times of their first and last record.
    """

    keys: tuple[str, ...]
    windows: Mapping[int, Window | DataWindow]
    inputs: Mapping[str, str]
    partials: tuple[PartialColumn, ...]
    wraps: bool

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Evaluate one sorted partition."""
        for table, group in whole_keys(batches, self.keys):
            yield from self._evaluated(table, group)

    def _runs(self, table: pa.Table, group: Array) -> dict[int, Runs]:
        if "lo" in table.column_names:
            lo, hi = (column(table, side).to_numpy(zero_copy_only=False) for side in ("lo", "hi"))
            return {
                n: sessions_over(group, lo, hi, window.gap)
                for n, window in self.windows.items()
                if isinstance(window, Session)
            }
        batch = batch_of(table, group, self.inputs)
        return {n: r for n, w in self.windows.items() if len((r := runs_of(w, batch)).first)}

    def _evaluated(self, table: pa.Table, group: Array) -> Iterator[pa.RecordBatch]:
        runs = self._runs(table, group)
        if not runs:
            return
        cuts = Cuts.of([(r.first, r.stop) for r in runs.values()], table.num_rows)
        place = np.zeros(table.num_rows + 1, dtype=np.int64)
        place[cuts.at] = np.arange(len(cuts.at))
        columns: dict[int, list[pa.Array]] = {n: [] for n in runs}
        for partial in self.partials:
            given = [column(table, name) for name in (partial.name, *partial.beside)]
            encoded = encode(partial.merger, given, self.wraps, partial.code)
            pieces = cuts.reduced(encoded.arrays, encoded.monoid)
            for n, r in runs.items():
                merged = spans(pieces, place[r.first], place[r.stop], encoded.monoid)
                columns[n].append(encoded.decode(merged))
        names = [*self.keys, "node", "start", "end", *(p.name for p in self.partials)]
        for n, r in runs.items():
            yield pa.RecordBatch.from_arrays([*_head(table, self.keys, n, r), *columns[n]], names)


@dataclass(frozen=True, slots=True)
class Assigned:
    """Records with the windows they are in, numbered within the worker's portion and key."""

    keys: tuple[str, ...]
    windows: Mapping[int, Window | DataWindow]
    inputs: Mapping[str, str]
    values: tuple[str, ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Hand on the records of one sorted partition."""
        for table, group in whole_keys(batches, self.keys):
            batch = batch_of(table, group, self.inputs)
            for n, window in self.windows.items():
                runs = runs_of(window, batch)
                for some in _in_parts(runs):
                    yield self._copied(table, n, runs, some)

    def _copied(self, table: pa.Table, node: int, runs: Runs, some: slice) -> pa.RecordBatch:
        first, stop = runs.first[some], runs.stop[some]
        length = stop - first
        rows = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length - first, length)
        of_run = np.repeat(np.arange(some.start, some.start + len(first)), length)
        one = Runs(rows, rows, runs.start[of_run], runs.end[of_run])
        held = [column(table, name).take(pa.array(rows)) for name in self.values]
        arrays = [*_head(table, self.keys, node, one), pa.array(of_run), *held]
        names = [*self.keys, "node", "start", "end", "run", *self.values]
        return pa.RecordBatch.from_arrays(arrays, names)


def _head(table: pa.Table, keys: tuple[str, ...], node: int, runs: Runs) -> list[pa.Array]:
    origin = pa.array(runs.first)
    own = [column(table, k).take(origin) for k in keys]
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
    time = column(table, "t").to_numpy(zero_copy_only=False)
    return Batch(group, time, lambda name: column(table, inputs[name]))


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


def groups(table: pa.Table, keys: tuple[str, ...]) -> Array:
    """The number of each record's key, in a table sorted by key."""
    changes = np.zeros(max(table.num_rows - 1, 0), dtype=np.bool_)
    for name in keys:
        encoded = column(table, name).dictionary_encode(null_encoding="encode")
        codes = encoded.indices.to_numpy(zero_copy_only=False)
        changes |= codes[1:] != codes[:-1]
    return np.concatenate(([0], np.cumsum(changes)))


def column(table: pa.Table, name: str) -> pa.Array:
    """A column as one array."""
    found = table.column(name)
    return found.chunk(0) if found.num_chunks == 1 else found.combine_chunks()

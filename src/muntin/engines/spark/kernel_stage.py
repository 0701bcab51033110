"""The kernel operator: sorted slices of a partition through NumPy, in bounded memory.

Rows come sorted by key, node and start, a few Arrow batches at a time. Each portion is evaluated
together with a tail of the last key's slices, as long as the widest window; an instance is emitted
once nothing can be missing from it: when a slice at or after its end has been seen, or the key has
ended. What is held is one portion and one tail, whatever the size of a partition or of a key.

Few keys, or none, are split by time: a chunk of `chunk` microseconds is treated like a key, and a
slice goes to the chunk it begins in and to the chunks whose instances it may fall into, two at
most when a chunk is at least as long as the widest window.

Results go back so that Spark explodes them: as lists, a row for many instances of one group, or as
runs, a row for neighbours that hold the same slices. Lists send keys and nodes once for many
instances, runs the partials too, where slices are few and reach many.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from muntin.aggregates.columns import PartialColumn
from muntin.kernels.columns import encode
from muntin.kernels.encoding import Encoded
from muntin.kernels.monoids import Array
from muntin.kernels.pieces import Pieces, Results
from muntin.kernels.portions import whole
from muntin.kernels.tree import Branch, Read, evaluate_tree
from muntin.model.windows import Window

PORTION = 64_000
"""Slices that are evaluated at a time."""

LISTED = 8_192
"""Results that go back in one row, at most."""

_BEFORE, _AFTER = -(2**61), 2**61
"""Earlier and later than all instants, with room for a range."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """What a worker needs to know; sent to it once for each partition."""

    keys: tuple[str, ...]
    partials: tuple[PartialColumn, ...]
    trees: dict[int, tuple[Branch, ...]]
    asked: frozenset[int]
    chunk: int | None
    wraps: bool
    in_runs: frozenset[int] = frozenset()
    """Windows whose equal neighbours are made once; if there are any, all results go back so."""
    read: Read | None = None

    @property
    def lanes(self) -> list[str]:
        """The columns whose equal values a row stays among: the keys and, if cut, the chunk."""
        return [*self.keys, *(["chunk"] if self.chunk else [])]

    @property
    def widest(self) -> int:
        """The longest range: all pieces of an instance start within it."""
        return max((b.widest for own in self.trees.values() for b in own), default=1)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Evaluate one sorted partition."""
        tail: pa.Table | None = None
        seen_to = _BEFORE
        for portion, is_last in _portions(batches):
            table = portion if tail is None else pa.concat_tables([tail, portion])
            groups = Groups.of(table.combine_chunks(), self, seen_to, is_last)
            yield from groups.evaluated()
            tail, seen_to = groups.tail()


def _portions(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[pa.Table, bool]]:
    """Batches gathered into portions, each with whether it is the last of the partition."""
    waiting: list[pa.RecordBatch] = []
    ready: pa.Table | None = None
    for batch in batches:
        waiting.append(batch)
        if sum(b.num_rows for b in waiting) >= PORTION:
            if ready is not None:
                yield ready, False
            ready, waiting = pa.Table.from_batches(waiting), []
    if any(b.num_rows for b in waiting):
        if ready is not None:
            yield ready, False
        ready = pa.Table.from_batches(waiting)
    if ready is not None:
        yield ready, True


@dataclass(frozen=True, slots=True)
class Groups:
    """A portion with its rows numbered by group: equal keys, node and chunk."""

    table: pa.Table
    kernel: Kernel
    group: Array
    node: Array
    start: Array
    seen_to: int
    is_last: bool

    @staticmethod
    def of(table: pa.Table, kernel: Kernel, seen_to: int, is_last: bool) -> Groups:
        """Number the groups; `seen_to` is where the first one was left off."""
        changes = changes_of(table, [*kernel.lanes, "node"])
        group = np.concatenate(([0], np.cumsum(changes)))
        node = whole(table, "node").to_numpy(zero_copy_only=False)
        start = whole(table, "start").to_numpy(zero_copy_only=False)
        return Groups(table, kernel, group, node, start, seen_to, is_last)

    def evaluated(self) -> Iterator[pa.RecordBatch]:
        """The instances that became complete with this portion, and rows that are results."""
        encoded = [self._encoded(p) for p in self.kernel.partials]
        read = self.kernel.read
        for number in np.unique(self.node):
            rows = np.flatnonzero(self.node == number)
            if int(number) in self.kernel.asked:
                yield from self._new_rows(rows, encoded)
            branches = self.kernel.trees[int(number)]
            if branches:
                columns = tuple(tuple(a[rows] for a in e.arrays) for e in encoded)
                pieces = Pieces(self.group[rows], self.start[rows], rows, columns)
                monoids = tuple(e.monoid for e in encoded)
                found = evaluate_tree(
                    branches, pieces, monoids, self._between, read=read, in_runs=self.kernel.in_runs
                )
                for results in found:
                    if len(results.start):
                        yield self._batch(results, encoded)

    def tail(self) -> tuple[pa.Table, int]:
        """The slices of the last group that later instances may need, and how far it was seen.

        It is never empty: its group is the one that the next portion may continue.
        """
        branches = self.kernel.trees[int(self.node[-1])]
        widest = max((b.widest for b in branches), default=1)
        horizon = int(self.start[-1])
        kept = (self.group == self.group[-1]) & (self.start > horizon - widest)
        return self.table.slice(int(np.argmax(kept))), horizon

    def _encoded(self, partial: PartialColumn) -> Encoded:
        columns = [whole(self.table, name) for name in (partial.name, *partial.beside)]
        return encode(partial.merger, columns, self.kernel.wraps, partial.code)

    def _between(self, window: Window) -> tuple[Array, Array]:
        """The begins of instances that are complete now and were not before, of this chunk."""
        count = int(self.group[-1]) + 1
        low, high = np.full(count, _BEFORE), np.full(count, _AFTER)
        if self.kernel.chunk:
            chunk = whole(self.table, "chunk").to_numpy(zero_copy_only=False)
            own = chunk[np.searchsorted(self.group, np.arange(count))] * self.kernel.chunk
            low, high = own, own + self.kernel.chunk - 1
        low[0] = max(low[0], self.seen_to - window.range + 1)
        if not self.is_last:
            high[-1] = min(high[-1], self.start[-1] - window.range)
        return low, high

    def _new_rows(self, rows: Array, encoded: list[Encoded]) -> Iterator[pa.RecordBatch]:
        """First-level rows that are results themselves, each emitted by its own chunk, once."""
        new = (self.group[rows] > 0) | (self.start[rows] > self.seen_to)
        if self.kernel.chunk:
            chunk = whole(self.table, "chunk").to_numpy(zero_copy_only=False)
            new &= self.start[rows] // self.kernel.chunk == chunk[rows]
        kept = rows[new]
        columns = tuple(tuple(a[kept] for a in e.arrays) for e in encoded)
        if len(kept):
            own = self.group[kept], self.start[kept], kept
            yield self._batch(Results(int(self.node[kept[0]]), *own, columns), encoded)

    def _batch(self, results: Results, encoded: list[Encoded]) -> pa.RecordBatch:
        """Results in runs or lists: a row for neighbours that are equal, or of one group."""
        first = None if self.kernel.in_runs else _firsts(results.group)
        own = pa.array(results.origin if first is None else results.origin[first])
        keys = [whole(self.table, k).take(own) for k in self.kernel.keys]
        node = pa.array(np.full(len(own), results.node, dtype=np.int32))
        partials = [e.decode(arrays) for e, arrays in zip(encoded, results.columns, strict=True)]
        columns = (pa.array(results.start), *partials)
        if first is None:
            once = np.ones(len(own), dtype=np.int64)
            times = pa.array(once if results.times is None else results.times)
            names = [*self.kernel.keys, "node", "times", "start", *self._names]
            return pa.RecordBatch.from_arrays([*keys, node, times, *columns], names=names)
        offsets = pa.array(np.append(first, len(results.start)).astype(np.int32))
        listed = [pa.ListArray.from_arrays(offsets, column) for column in columns]
        names = [*self.kernel.keys, "node", "start", *self._names]
        return pa.RecordBatch.from_arrays([*keys, node, *listed], names=names)

    @property
    def _names(self) -> list[str]:
        return [partial.name for partial in self.kernel.partials]


def _firsts(group: Array) -> Array:
    """Where lists begin: with every group, and anew in long ones."""
    begins = np.empty(len(group), dtype=np.bool_)
    np.not_equal(group[1:], group[:-1], out=begins[1:])
    begins[::LISTED] = True
    return np.flatnonzero(begins)


def changes_of(table: pa.Table, names: list[str]) -> Array:
    """Which rows differ from the one before in one of these columns, but for the first row."""
    changes = np.zeros(max(table.num_rows - 1, 0), dtype=np.bool_)
    for name in names:
        codes = _codes(whole(table, name))
        changes |= codes[1:] != codes[:-1]
    return changes


def _codes(column: pa.Array) -> Array:
    """Numbers that are equal where the values are; null and NaN equal themselves."""
    if pa.types.is_integer(column.type) and not column.null_count:
        return np.asarray(column.to_numpy())
    if pa.types.is_nested(column.type):  # which Arrow does not compare: by their texts
        column = pa.array([repr(value) for value in column.to_pylist()])
    encoded = column.dictionary_encode(null_encoding="encode")
    return np.asarray(encoded.indices.to_numpy(zero_copy_only=False))

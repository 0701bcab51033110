"""Pre-aggregation of a micro-batch, in Python workers, without state: rows in, partials out.

    rows   k0, k1, …   t   p0, p1, …              the partial of each row, equal columns once
    out    k0, k1, …   node   start   p0, p1, …   one row for each piece (or instance) and key

A partition is grouped portion by portion into the pieces of the plan's bases; what the portions
gave is merged at the end, or before it grows too large: partials of one piece may come more than
once, and whoever takes them merges them. With `instances`, the pieces of the partition are then
evaluated into partials of all windows asked for, and these are sent instead: an operator that
keeps windows gets one row for each instance and key, however many pieces or rows it was made of.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from muntin.aggregates.columns import PartialColumn
from muntin.kernels.columns import encode
from muntin.kernels.encoding import Encoded
from muntin.kernels.grouping import Grouping, codes_of
from muntin.kernels.monoids import Array
from muntin.kernels.pieces import Pieces, Results
from muntin.kernels.portions import portions, whole
from muntin.kernels.sent_columns import AS_NAMED, Sent
from muntin.kernels.tree import Read, evaluate_tree
from muntin.physical.operators.kernel import Base
from muntin.state.pieces import starts

PORTION = 64_000
"""Rows that are grouped at a time, while Spark makes the next ones ready."""

HELD = 1_000_000
"""Partials that are held before they are merged and sent."""


@dataclass(frozen=True, slots=True)
class PreAggregation:
    """What a worker needs to know; a function for mapInArrow."""

    keys: tuple[str, ...]
    partials: tuple[PartialColumn, ...]
    bases: tuple[Base, ...]
    wraps: bool
    instances: bool = False
    read: Read | None = None
    sent: Sent = AS_NAMED

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Pre-aggregate one partition of one micro-batch."""
        held: list[pa.Table] = []
        for portion in portions(batches, PORTION):
            held.append(self._sliced(portion))
            if sum(part.num_rows for part in held) >= HELD:
                yield from self._sent(held)
                held = []
        if held:
            yield from self._sent(held)

    def _sliced(self, portion: pa.Table) -> pa.Table:
        """A portion of rows grouped into the pieces of every base."""
        lifted = self.sent.lift(portion, self.partials)
        encoded = [
            encode(p.merger, [lifted[n] for n in (p.name, *p.beside)], self.wraps, p.code)
            for p in self.partials
        ]
        keys = [whole(portion, name) for name in self.keys]
        codes = codes_of(keys, portion.num_rows)
        instant = whole(portion, "t").to_numpy(zero_copy_only=False)
        parts = []
        for base in self.bases:
            start = starts(base.slices, instant)
            both = codes_of([pa.array(codes), pa.array(start)], portion.num_rows)
            grouping = Grouping.of(both)
            parts.append(self._table(portion, base.node, start, grouping, encoded))
        return pa.concat_tables(parts)

    def _sent(self, held: list[pa.Table]) -> Iterator[pa.RecordBatch]:
        """What the portions gave, merged where there were several."""
        table = pa.concat_tables(held).combine_chunks()
        if not self.instances:
            merged = self._merged(table) if len(held) > 1 else table
            yield from merged.to_batches()
            return
        yield from self._evaluated(table)

    def _merged(self, table: pa.Table) -> pa.Table:
        order, columns = self._in_order(table)
        grouping = Grouping.sorted(order, columns)
        start = whole(table, "start").to_numpy(zero_copy_only=False)
        return self._table(table, None, start, grouping, self._encoded(table))

    def _evaluated(self, table: pa.Table) -> Iterator[pa.RecordBatch]:
        """The partials of every instance that has rows in this partition."""
        encoded = self._encoded(table)
        order, (node, key, start) = self._in_order(table)
        grouping = Grouping.sorted(order, [node, key, start])
        columns = tuple(grouping.merged(e.arrays, e.monoid) for e in encoded)
        node, key, start = (c[grouping.first] for c in (node, key, start))
        rows, monoids = grouping.rows, tuple(e.monoid for e in encoded)
        for base in self.bases:
            own = np.flatnonzero(node == base.node)
            if not len(own):
                continue
            part = tuple(tuple(a[own] for a in arrays) for arrays in columns)
            pieces = Pieces(key[own], start[own], np.arange(len(own)), part)
            for results in evaluate_tree(base.branches, pieces, monoids, read=self.read):
                yield self._batch(table, results, rows[own], encoded)

    def _in_order(self, table: pa.Table) -> tuple[Array, list[Array]]:
        """The order by node, keys and start, and these columns in that order."""
        key = codes_of([whole(table, name) for name in self.keys], table.num_rows)
        node = whole(table, "node").to_numpy(zero_copy_only=False)
        start = whole(table, "start").to_numpy(zero_copy_only=False)
        order = np.lexsort((start, key, node))
        return order, [node[order], key[order], start[order]]

    def _encoded(self, table: pa.Table) -> list[Encoded]:
        return [
            encode(p.merger, [whole(table, n) for n in (p.name, *p.beside)], self.wraps, p.code)
            for p in self.partials
        ]

    def _table(
        self,
        table: pa.Table,
        node: int | None,
        start: Array,
        grouping: Grouping,
        encoded: list[Encoded],
    ) -> pa.Table:
        """One row for each group; `node` is taken from the table unless it is given."""
        taken = pa.array(grouping.rows)
        keys = [whole(table, name).take(taken) for name in self.keys]
        nodes = (
            whole(table, "node").take(taken)
            if node is None
            else pa.array(np.full(len(taken), node, dtype=np.int32))
        )
        partials = [e.decode(grouping.merged(e.arrays, e.monoid)) for e in encoded]
        return pa.table(
            [*keys, nodes, pa.array(start[grouping.rows]), *partials], names=self._names
        )

    def _batch(
        self, table: pa.Table, results: Results, rows: Array, encoded: list[Encoded]
    ) -> pa.RecordBatch:
        taken = pa.array(rows[results.origin])
        keys = [whole(table, name).take(taken) for name in self.keys]
        nodes = pa.array(np.full(len(taken), results.node, dtype=np.int32))
        partials = [e.decode(arrays) for e, arrays in zip(encoded, results.columns, strict=True)]
        return pa.RecordBatch.from_arrays(
            [*keys, nodes, pa.array(results.start), *partials], names=self._names
        )

    @property
    def _names(self) -> list[str]:
        return [*self.keys, "node", "start", *(p.name for p in self.partials)]

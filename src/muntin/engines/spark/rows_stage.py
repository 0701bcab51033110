"""The rows operator: sorted rows of a partition cut into slices, which go through the kernel.

Rows come sorted by key, chunk of time and time, so those of a slice are neighbours and merge in one
pass. The last slice of a portion may go on in the next one: its partial is held back and merged
with what follows, so each slice is handed on once, however many rows it has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from muntin.engines.spark.kernel_stage import Kernel, changes_of
from muntin.kernels.columns import encode
from muntin.kernels.grouping import Grouping
from muntin.kernels.portions import portions, whole
from muntin.kernels.sent_columns import Sent
from muntin.physical.operators.kernel import Base
from muntin.state.pieces import starts

PORTION = 128_000
"""Rows that are sliced at a time."""


@dataclass(frozen=True, slots=True)
class SlicedRows:
    """What a worker needs to know: the kernel, its slices, and which columns hold the partials."""

    kernel: Kernel
    base: Base
    sent: Sent

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Evaluate one sorted partition of rows."""
        return self.kernel(self._slices(batches))

    def _slices(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Every slice once, sorted by key, chunk and start."""
        held: pa.Table | None = None
        for portion in portions(batches, PORTION):
            pieces = self._as_pieces(portion)
            merged = self._merged(pieces if held is None else pa.concat_tables([held, pieces]))
            held = merged.slice(merged.num_rows - 1)
            yield from merged.slice(0, merged.num_rows - 1).combine_chunks().to_batches()
        if held is not None:
            yield from held.combine_chunks().to_batches()

    def _as_pieces(self, rows: pa.Table) -> pa.Table:
        """Each row as a piece of its slice: its partials are those of one row."""
        instant = whole(rows, "t").to_numpy(zero_copy_only=False)
        node = np.full(rows.num_rows, self.base.node, dtype=np.int32)
        start = starts(self.base.slices, instant)
        own = {name: rows.column(name) for name in self.kernel.lanes}
        partials = self.sent.lift(rows, self.kernel.partials)
        return pa.table({**own, "node": node, "start": start, **partials})

    def _merged(self, pieces: pa.Table) -> pa.Table:
        """Neighbours of the same group and start as one."""
        pieces = pieces.combine_chunks()
        start = whole(pieces, "start").to_numpy(zero_copy_only=False)
        changes = changes_of(pieces, self.kernel.lanes) | (start[1:] != start[:-1])
        first = np.concatenate(([0], np.flatnonzero(changes) + 1))
        grouping, kernel = Grouping(np.arange(len(start)), first), self.kernel
        kept = pieces.take(pa.array(first))
        for partial in kernel.partials:
            columns = [whole(pieces, name) for name in (partial.name, *partial.beside)]
            encoded = encode(partial.merger, columns, kernel.wraps, partial.code)
            merged = encoded.decode(grouping.merged(encoded.arrays, encoded.monoid))
            place = kept.schema.get_field_index(partial.name)
            kept = kept.set_column(place, kept.schema.field(place), merged)
        return kept

"""Tables packed into binary cells: what passes through the stateful operator, and how it comes out.

Spark hands rows to transformWithState as pandas frames, in which null integers are floats and NaN
is null. So a partition packs the pieces of each bucket into one cell, an Arrow IPC stream, and the
results leave the operator packed in the same way: every value arrives as it was, and thousands of
rows cost as much as one.

    Packing     pre-aggregated pieces ─▶ (bucket, pieces): at least one row for every bucket, so
                that each of them hears of every batch, even without pieces of its own
    unpacked    packed results ─▶ rows
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from muntin.spark.preaggregate import PreAggregation
from muntin.streams import from_bytes, to_bytes

BUCKET = "bucket"


@dataclass(frozen=True, slots=True)
class Packing:
    """A function for mapInArrow: pre-aggregate a partition, and pack the pieces by bucket."""

    body: PreAggregation
    labels: tuple[int, ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The pieces of one partition of one micro-batch, packed."""
        heard: set[int] = set()
        for batch in self.body(batches):
            label = batch.column(BUCKET).to_numpy(zero_copy_only=False)
            order = np.argsort(label, kind="stable")
            table = pa.Table.from_batches([batch]).drop_columns(BUCKET).take(pa.array(order))
            labels, first = np.unique(label[order], return_index=True)
            ends = np.append(first[1:], len(label))
            parts = zip(labels.tolist(), first.tolist(), ends.tolist(), strict=True)
            packed = {
                own: to_bytes(table.slice(begin, end - begin), compressed=False)
                for own, begin, end in parts
            }
            heard |= packed.keys()
            yield _cells(packed)
        yield _cells({label: None for label in self.labels if label not in heard})


def _cells(packed: dict[int, bytes] | dict[int, None]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [pa.array(list(packed), pa.int32()), pa.array(list(packed.values()), pa.binary())],
        names=[BUCKET, "pieces"],
    )


def unpacked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of packed results."""
    for batch in batches:
        for cell in batch.column("results"):
            if cell.is_valid:
                yield from from_bytes(cell.as_buffer()).to_batches()

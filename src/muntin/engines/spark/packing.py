"""Tables packed into binary cells: what passes through the stateful operator, and how it comes out.

Spark hands rows to transformWithState as pandas frames, in which null integers are floats and NaN
is null. So a partition packs the pieces of each bucket into one cell, an Arrow IPC stream, and the
results leave the operator packed in the same way: every value arrives as it was, and thousands of
rows cost as much as one.

    Packing     pre-aggregated pieces ─▶ (bucket, pieces): at least one row for every bucket, so
                that each of them hears of every batch, even without pieces of its own
    unpack      packed results ─▶ rows

Where windows may change, every bucket also hears of the newest piece of each partition, whosever it
is: `newest`, microseconds as text, since a frame would make floats of numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.state.store import from_bytes, to_bytes

BUCKET = "bucket"


@dataclass(frozen=True, slots=True)
class Packing:
    """A function for mapInArrow: what `body` makes of a partition, packed by bucket."""

    body: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
    labels: tuple[int, ...]
    with_newest: bool = False

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The pieces of one partition of one micro-batch, packed."""
        heard: dict[int, int | None] = {}
        newest: int | None = None
        for batch in self.body(batches):
            if self.with_newest and batch.num_rows:
                here = pc.max(batch.column("start")).as_py()
                newest = here if newest is None else max(here, newest)
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
            heard |= dict.fromkeys(packed, newest)
            yield self._cells(packed, newest)
        others = [label for label in self.labels if label not in heard or heard[label] != newest]
        yield self._cells(dict.fromkeys(others), newest)

    def _cells(
        self, packed: Mapping[int, bytes | None], newest: int | None = None
    ) -> pa.RecordBatch:
        """A row for each bucket."""
        columns = {
            BUCKET: pa.array(list(packed), pa.int32()),
            "pieces": pa.array(list(packed.values()), pa.binary()),
        }
        if self.with_newest:
            text = None if newest is None else str(newest)
            columns["newest"] = pa.array([text] * len(packed), pa.string())
        return pa.RecordBatch.from_pydict(columns)


def unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of packed results."""
    for batch in batches:
        for cell in batch.column("results"):
            if cell.is_valid:
                yield from from_bytes(cell.as_buffer()).to_batches()

"""Tables packed into binary cells: what passes through the stateful operator, and how it comes out.

Spark hands rows to transformWithState as pandas frames, in which null integers are floats and NaN
is null. So a partition packs the pieces of each bucket into one cell, an Arrow IPC stream, and the
results leave the operator packed in the same way: every value arrives as it was, and thousands of
rows cost as much as one.

    Packing     pre-aggregated pieces ─▶ (bucket, pieces): at least one row for every bucket, so
                that each of them hears of every batch, even without pieces of its own
    unpack      packed results ─▶ rows

Where windows may change, every bucket also hears of the newest piece of each partition, whosever it
is: `newest`, microseconds as text, since a frame would make floats of numbers. Where late rows
themselves are kept, the rows of a partition come beside its pieces, in cells of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.kernels.portions import portions
from muntin.state.store import from_bytes, to_bytes

BUCKET = "bucket"
BESIDE = 200_000
"""Rows that are held to come beside their pieces."""


@dataclass(frozen=True, slots=True)
class Packing:
    """A function for mapInArrow: what `body` makes of a partition, packed by bucket."""

    body: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
    labels: tuple[int, ...]
    with_newest: bool = False
    beside: tuple[str, ...] = ()
    """The columns of rows that come beside their pieces, if they do."""
    time: str = "start"
    """The column that says how new a piece is."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The pieces of one partition of one micro-batch, packed."""
        heard: dict[int, int | None] = {}
        newest: int | None = None
        for part in self._parts(batches):
            for batch in self.body(iter(part)):
                if self.with_newest and batch.num_rows:
                    here = pc.max(batch.column(self.time)).as_py()
                    known = [each for each in (here, newest) if each is not None]
                    newest = max(known, default=None)
                packed = _by_bucket(batch)
                heard |= dict.fromkeys(packed, newest)
                yield self._cells(packed, newest)
            yield from self._cells_beside(part)
        others = [label for label in self.labels if label not in heard or heard[label] != newest]
        yield self._cells(dict.fromkeys(others), newest)

    def _parts(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Iterable[pa.RecordBatch]]:
        """The partition; in parts of bounded size where its rows come beside its pieces."""
        if not self.beside:
            yield batches
            return
        for table in portions(batches, BESIDE):
            yield table.to_batches()

    def _cells_beside(self, part: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows of a part, if they come beside its pieces."""
        for batch in part if self.beside else ():
            packed = _by_bucket(batch.select([BUCKET, *self.beside]))
            yield self._cells(dict.fromkeys(packed), None, list(packed.values()))

    def _cells(
        self,
        packed: Mapping[int, bytes | None],
        newest: int | None = None,
        beside: Sequence[bytes] = (),
    ) -> pa.RecordBatch:
        """A row for each bucket."""
        columns = {
            BUCKET: pa.array(list(packed), pa.int32()),
            "pieces": pa.array(list(packed.values()), pa.binary()),
        }
        if self.with_newest:
            text = None if newest is None else str(newest)
            columns["newest"] = pa.array([text] * len(packed), pa.string())
        if self.beside:
            rows = pa.array(list(beside), pa.binary())
            columns["records"] = rows if len(rows) else pa.nulls(len(packed), pa.binary())
        return pa.RecordBatch.from_pydict(columns)


def _by_bucket(batch: pa.RecordBatch) -> dict[int, bytes]:
    """The rows of each bucket, packed."""
    label = batch.column(BUCKET).to_numpy(zero_copy_only=False)
    order = np.argsort(label, kind="stable")
    table = pa.Table.from_batches([batch]).drop_columns(BUCKET).take(pa.array(order))
    labels, first = np.unique(label[order], return_index=True)
    ends = np.append(first[1:], len(label))
    parts = zip(labels.tolist(), first.tolist(), ends.tolist(), strict=True)
    return {
        own: to_bytes(table.slice(begin, end - begin), compressed=False)
        for own, begin, end in parts
    }


def unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of packed results."""
    for batch in batches:
        for cell in batch.column("results"):
            if cell.is_valid:
                yield from from_bytes(cell.as_buffer()).to_batches()

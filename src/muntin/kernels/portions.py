"""Portions: batches of rows joined, so that work is done on many at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa


def portions(batches: Iterable[pa.RecordBatch], size: int) -> Iterator[pa.Table]:
    """Tables of at least so many rows, but for the last; each column in one chunk.

    >>> batches = pa.table({"n": range(5)}).to_batches(max_chunksize=2)
    >>> [table.num_rows for table in portions(batches, 3)]
    [4, 1]
    """
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= size:
            yield pa.Table.from_batches(waiting).combine_chunks()
            waiting, rows = [], 0
    if rows:
        yield pa.Table.from_batches(waiting).combine_chunks()


def whole(table: pa.Table, name: str) -> pa.Array:
    """A column in one piece."""
    column = table.column(name)
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()

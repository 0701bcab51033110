"""What a task does: COPY its rows into the staging table, under a number of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import uuid4

import pyarrow as pa

from muntin.errors import SinkError
from muntin.upserts.arrow import pick
from muntin.upserts.server import Server

ATTEMPT_ROWS = "attempt string, rows bigint"
"""What an attempt says of itself, as Spark reads it."""


@dataclass(frozen=True, slots=True)
class Copier:
    """Sends Arrow batches to a server by one statement."""

    server: Server
    statement: str
    paths: tuple[tuple[str, ...], ...]
    """Where the columns of the statement are in the batches."""

    def copy(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Called once in each attempt of a task; one row: its number, and how many rows it sent."""
        attempt, rows = uuid4().hex, 0
        first = next((batch for batch in batches if batch.num_rows), None)
        if first is not None:
            rows = self._send(attempt, first, batches)
        counted = pa.array([rows], pa.int64())
        yield pa.RecordBatch.from_pydict({"attempt": [attempt], "rows": counted})

    def _send(self, attempt: str, first: pa.RecordBatch, rest: Iterator[pa.RecordBatch]) -> int:
        sent = 0
        with (
            self.server.connect() as connection,
            self.server.translate("PostgreSQL refuses rows"),
            connection.cursor() as cursor,
            cursor.copy(self.statement.encode()) as copy,
        ):
            for row in self._rows(first, rest):
                copy.write_row((attempt, *row))
                sent += 1
        return sent

    def _rows(
        self, first: pa.RecordBatch, rest: Iterator[pa.RecordBatch]
    ) -> Iterator[tuple[object, ...]]:
        batch: pa.RecordBatch | None = first
        while batch is not None:
            try:
                columns = [pick(batch, path).to_pylist() for path in self.paths]
            except (OverflowError, ValueError):
                raise SinkError(
                    "a timestamp or date is outside the years 1 to 9999, which Python can write: "
                    "leave such rows out"
                ) from None
            yield from zip(*columns, strict=True)
            batch = next(rest, None)

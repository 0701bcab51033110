"""The stateful processor of the bucketed operator: a step of a bucket for each micro-batch.

Spark calls it with the packed pieces of a bucket, and once more by a timer where a batch has no
rows. It sees the watermark W_N of the batch; a timer at W_N + 1 ms wakes it when that moves. Each
call is a step of muntin.state.Bucket on state that Spark keeps: one map of named entries.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql.streaming.stateful_processor import (
    MapState,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

from muntin.engines.spark.deferred import ENTRY, NAME
from muntin.engines.spark.plain_results import plain_frames
from muntin.engines.spark.settled_worker import settle_worker
from muntin.state.bucket import Bucket, Step
from muntin.state.spec import Spec
from muntin.state.store import from_bytes, to_bytes

OUTPUT = "results binary, late bigint, dropped bigint, complete_from array<bigint>"
CELL = 100_000
"""Results that are packed together."""

REMEMBERED = 256 * 2**20
"""Bytes of tables that a worker remembers from batch to batch."""


class Remembered(MutableMapping[str, pa.Table]):
    """Tables by token; the oldest are forgotten when they take too much memory.

    >>> known = Remembered(most=100)
    >>> for token in "abc":
    ...     known[token] = pa.table({"start": range(6)})
    >>> list(known)
    ['b', 'c']
    """

    def __init__(self, most: int = REMEMBERED) -> None:
        self._most, self._bytes = most, 0
        self._tables: dict[str, pa.Table] = {}

    def __getitem__(self, token: str) -> pa.Table:
        return self._tables[token]

    def __setitem__(self, token: str, table: pa.Table) -> None:
        self.pop(token, None)
        self._tables[token] = table
        self._bytes += table.nbytes
        while self._bytes > self._most and len(self) > 1:
            del self[next(iter(self))]

    def __delitem__(self, token: str) -> None:
        self._bytes -= self._tables.pop(token).nbytes

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)


remembered = Remembered()
"""What this worker read or wrote: Spark's workers serve many batches."""


class MapStore:
    """The entries of a bucket in a map state of Spark's."""

    def __init__(self, state: MapState) -> None:
        self._state = state

    def read(self, name: str) -> bytes | None:
        if not self._state.containsKey((name,)):  # else Spark would warn of it in its log
            return None
        value = self._state.getValue((name,))
        return None if value is None else bytes(value[0])

    def write(self, name: str, entry: bytes) -> None:
        self._state.updateValue((name,), (entry,))

    def remove(self, name: str) -> None:
        self._state.removeKey((name,))


class BucketProcessor(StatefulProcessor):
    """One step for each bucket and batch; `windows` are the ids in the order of the output.

    Results leave as the columns of `plain`, an Arrow schema, where Spark takes all of them from a
    frame as they are; else packed into cells.
    """

    def __init__(
        self, spec: Spec, windows: tuple[str, ...], plain: pa.Schema | None = None
    ) -> None:
        self.spec, self.windows, self.plain = spec, windows, plain

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.begin(handle, handle.getMapState("entries", NAME, ENTRY))

    def begin(self, handle: StatefulProcessorHandle, entries: MapState) -> None:
        """Work on the state of a task."""
        self._handle, self._store = handle, MapStore(entries)

    def handleInputRows(  # noqa: N802  (Spark's name)
        self, key: tuple[int], rows: Iterator[Any], timerValues: TimerValues
    ) -> Iterator[pd.DataFrame]:
        """Take in the pieces of a batch."""
        pieces, newest, beside = collect_cells(rows, "pieces", "newest", "records")
        tables, records = ([from_bytes(cell) for cell in cells] for cells in (pieces, beside))
        return self._step(key, tables, timerValues, max(map(int, newest), default=None), records)

    def handleInitialState(  # noqa: N802
        self, key: tuple[int], initialState: Any, timerValues: TimerValues
    ) -> None:
        """Begin with the slices of the history; of many, there are several calls."""
        [pieces] = collect_cells(iter([initialState]), "pieces")
        last = self._begin(int(key[0]), [from_bytes(cell) for cell in pieces])
        if last is not None:
            self._handle.registerTimer(last // 1000 + 1)

    def _begin(self, key: int, pieces: list[pa.Table]) -> int | None:
        """Take in pieces of the history; at the first call, where the stream begins."""
        bucket = Bucket(self.spec, key, self._store, remembered)
        new = bucket.state.new
        bucket.begin(pieces)
        return bucket.state.header.last if new else None

    def handleExpiredTimer(  # noqa: N802
        self, key: tuple[int], timerValues: TimerValues, expiredTimerInfo: object
    ) -> Iterator[pd.DataFrame]:
        """The watermark moved, and there may have been no rows."""
        return self._step(key, [], timerValues, None, [])

    def close(self) -> None:
        """The end of a task."""
        settle_worker()

    def _step(
        self,
        key: tuple[int],
        pieces: list[pa.Table],
        timers: TimerValues,
        newest: int | None,
        records: list[pa.Table],
    ) -> Iterator[pd.DataFrame]:
        watermark = max(int(timers.getCurrentWatermarkInMs()), 0)
        bucket = Bucket(self.spec, int(key[0]), self._store, remembered)
        last = None if bucket.state.new else bucket.state.header.last // 1000
        step = bucket.step(pieces, watermark * 1000, newest, records)
        self._wake_after(watermark, last)
        if self.plain is None:
            return self._packed(step)
        since = [step.complete_from.get(id) for id in self.windows]
        return plain_frames(step, since, self.plain)

    def _wake_after(self, watermark: int, last: int | None) -> None:
        """Be called again when the watermark moves on; `last` is what it was before, if ever."""
        if last is None or watermark > last:
            if last is not None:
                self._handle.deleteTimer(last + 1)
            self._handle.registerTimer(watermark + 1)

    def _packed(self, step: Step) -> Iterator[pd.DataFrame]:
        since = [step.complete_from.get(id) for id in self.windows]
        yield frame(None, step, complete_from=since if step.complete_from else None)
        for cell in pack_results(step.results):
            yield frame(cell, None, complete_from=None)


def collect_cells(rows: Iterator[Any], *names: str) -> Iterator[list[Any]]:
    """All cells of these columns but the empty ones; a column that there is not has none."""
    frames = list(rows)
    for name in names:
        yield [cell for frame in frames for cell in frame.get(name, ()) if cell is not None]


def pack_results(results: Iterator[pa.Table]) -> Iterator[bytes]:
    """Results packed, so many at a time."""
    for table in results:
        for begin in range(0, table.num_rows, CELL):
            yield to_bytes(table.slice(begin, CELL), compressed=False)


def frame(results: bytes | None, step: Step | None, **more: object) -> pd.DataFrame:
    """One row of the operator's output."""
    late, dropped = (step.late, step.dropped) if step else (0, 0)
    columns = {"results": results, "late": late, "dropped": dropped, **more}
    return pd.DataFrame({name: [value] for name, value in columns.items()})

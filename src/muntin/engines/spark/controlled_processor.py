"""The processor of a stream with a control: each bucket hears of all commands before its rows.

The first bucket writes what became of them to the control's log; a micro-batch that is repeated
writes the same again. For the stream's progress every bucket reports the windows of the moment, and
how many rows it gave of each.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from muntin.engines.spark.processor import BucketProcessor, cells, frame, heard, remembered
from muntin.state.control import Folder
from muntin.state.controlled import Controlled, ControlledBucket, ControlledStep
from muntin.state.store import from_bytes

OUTPUT = "results binary, late bigint, dropped bigint, windows string"
FIRST = 0
"""The label of the first bucket, whatever their number."""

MOST_WINDOWS = 64
"""Windows that are reported though they gave no rows."""


class ControlledProcessor(BucketProcessor):
    """One step for each bucket and batch; `path` is that of the control's directory, if any."""

    def __init__(self, stream: Controlled, path: str | None) -> None:
        super().__init__(stream.spec, ())
        self.stream, self.path = stream, path

    def handleInputRows(  # noqa: N802  (Spark's name)
        self, key: Any, rows: Iterator[Any], timerValues: Any
    ) -> Iterator[pd.DataFrame]:
        """Obey the commands of a batch, then take in its pieces."""
        pieces, newest, commands = heard(rows, "pieces", "newest", "command")
        tables = [from_bytes(cell) for cell in pieces]
        commands = [bytes(cell) for cell in commands]
        return self._obey(key, timerValues, tables, commands, max(map(int, newest), default=None))

    def handleExpiredTimer(  # noqa: N802
        self, key: Any, timerValues: Any, expiredTimerInfo: Any
    ) -> Iterator[pd.DataFrame]:
        """The watermark moved, and there may have been no rows."""
        return self._obey(key, timerValues, [], [], None)

    def _obey(
        self, key: Any, timers: Any, pieces: list[Any], commands: list[bytes], newest: int | None
    ) -> Iterator[pd.DataFrame]:
        watermark = max(int(timers.getCurrentWatermarkInMs()), 0)
        own = int(key[0])
        bucket = ControlledBucket(self.stream, own, self._store, remembered)
        kept = bucket.kept
        step = bucket.step(pieces, watermark * 1000, commands, newest)
        self._wake_after(watermark, kept.last // 1000 if kept.stored else None)
        if own == FIRST:
            self._log(step, anew=not kept.stored)
        return _reported(step, every=own == FIRST)

    def _log(self, step: ControlledStep, anew: bool) -> None:
        if self.path is None:
            return
        folder = Folder(Path(self.path))
        if anew:
            folder.forget()
        for entry in step.entries:
            folder.write_entry(entry)


def _reported(done: ControlledStep, every: bool) -> Iterator[pd.DataFrame]:
    """The results, then how many there were of each window: of those without any, by one bucket."""
    yield frame(None, done.step, windows=None)
    ids = [label.id for label in done.labels[:MOST_WINDOWS] if label.running]
    counts = dict.fromkeys(ids if every else (), 0)
    for table in done.results:
        id = table.column("window_id")[0].as_py()
        counts[id] = counts.get(id, 0) + table.num_rows
        for cell in cells(iter([table])):
            yield frame(cell, None, windows=None)
    if counts:
        yield frame(None, None, windows=json.dumps(counts, ensure_ascii=False))

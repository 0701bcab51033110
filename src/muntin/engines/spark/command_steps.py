"""Steps of buckets that hear of commands: rows and commands in one stateful operator.

    packed rows ─┐
                 ├─ transformWithState, a step a bucket ─ unpacked
    commands ────┘

Commands are rows of the stream like all others: Spark's checkpoint says which of them were met, and
a micro-batch that is repeated meets the same ones. Each bucket hears of all commands before its
rows; the first one writes what became of them to the control's log. Since windows have no fixed
numbers, results leave the operator with their id. For the stream's progress every bucket reports
the windows of the moment, and how many rows it gave of each.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import pandas as pd
import pyarrow as pa
from pyspark.sql import Column, DataFrame, GroupedData
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import TimerValues
from pyspark.sql.types import StructType

from muntin.engines.spark.arrow_stage import map_in_arrow
from muntin.engines.spark.commands import commands_of
from muntin.engines.spark.packing import BUCKET, unpack
from muntin.engines.spark.processor import (
    BucketProcessor,
    collect_cells,
    frame,
    pack_results,
    remembered,
)
from muntin.errors import ControlError
from muntin.model.durations import duration_text
from muntin.state.control import Control, Folder, Stream
from muntin.state.controlled import ControlledStep
from muntin.state.kept_labels import KeptLabels
from muntin.state.state import Cache
from muntin.state.store import Store, from_bytes

PACKED = "bucket int, pieces binary, newest string"
OUTPUT = "results binary, late bigint, dropped bigint, windows string"
FIRST = 0
"""The label of the first bucket, whatever their number."""

MOST_WINDOWS = 64
"""Windows that are reported though they gave no rows."""


class HearsCommands(Protocol):
    """A bucket whose windows come and go."""

    kept: KeptLabels

    def begin(self, pieces: Sequence[pa.Table]) -> None:
        """Take in what the history has for it."""

    def step(
        self,
        pieces: Sequence[pa.Table],
        watermark: int,
        commands: Sequence[bytes | str] = (),
        newest: int | None = None,
    ) -> ControlledStep:
        """Obey commands, take in what a batch has, and emit what its watermark allows."""


class OpensBucket(Protocol):
    """What opens such a bucket on its state."""

    def __call__(self, bucket: int, store: Store, cache: Cache) -> HearsCommands:
        """The bucket of this number."""


def announce(control: Control, stream: Stream) -> str | None:
    """The control's directory, in which is said what the stream keeps."""
    if control.folder is None:
        return None
    control.folder.make().write_stream(stream)
    return str(control.folder.path)


def check_no_grain(control: Control) -> None:
    """Refuse a grain where records are kept one by one."""
    if control.grain != 1:
        raise ControlError(
            f"grain {duration_text(control.grain)} is for periodic windows, whose rows are "
            "pre-aggregated to it: leave it out, as these windows take records one by one"
        )


def step_with_commands(
    packed: DataFrame,
    control: Control,
    own: tuple[int, ...],
    processor: CommandProcessor,
    schema: StructType,
    mode: str,
    metric: str,
    initial: GroupedData | None = None,
) -> DataFrame:
    """What the buckets with these labels make of packed rows and of the control's commands."""
    commands = commands_of(packed.sparkSession, control).select(
        F.explode(F.array(*map(F.lit, own))).alias(BUCKET),
        F.lit(None).cast("binary").alias("pieces"),
        F.lit(None).cast("string").alias("newest"),
        "command",
    )
    rows = packed.withColumn("command", F.lit(None).cast("binary")).unionByName(commands)
    stepped = rows.groupBy(BUCKET).transformWithStateInPandas(
        processor, OUTPUT, mode, "EventTime", initialState=initial
    )
    observed = stepped.observe(metric, *_metrics())
    return map_in_arrow(observed.select("results"), unpack, schema)


def asked_result(place: int, sql: str) -> Column:
    """A result by its place among the stream's; null where the window does not ask for it."""
    return F.expr(f"IF(asked IS NULL OR substring(asked, {place + 1}, 1) = '1', {sql}, NULL)")


def _metrics() -> list[Column]:
    return [
        F.sum("late").alias("late"),
        F.sum("dropped").alias("dropped"),
        F.to_json(F.collect_list("windows")).alias("windows"),
    ]


class CommandProcessor(BucketProcessor):
    """One step for each bucket and batch; `path` is that of the control's directory, if any.

    `until` is where the stream begins, if it starts from history.
    """

    def __init__(self, open: OpensBucket, path: str | None, until: int | None) -> None:
        self.open, self.path, self.until = open, path, until

    def handleInputRows(  # noqa: N802  (Spark's name)
        self, key: tuple[int], rows: Iterator[Any], timerValues: TimerValues
    ) -> Iterator[pd.DataFrame]:
        """Obey the commands of a batch, then take in its pieces."""
        pieces, newest, commands = collect_cells(rows, "pieces", "newest", "command")
        tables = [from_bytes(cell) for cell in pieces]
        last = max(map(int, newest), default=None)
        return self._step(key, tables, timerValues, last, [bytes(cell) for cell in commands])

    def _begin(self, key: int, pieces: list[pa.Table]) -> int | None:
        bucket = self.open(key, self._store, remembered)
        new = not bucket.kept.stored
        if new and key == FIRST and self.path is not None:
            Folder(Path(self.path)).forget()
        bucket.begin(pieces)
        return self.until if new else None

    def _step(
        self,
        key: tuple[int],
        pieces: list[pa.Table],
        timers: TimerValues,
        newest: int | None,
        commands: Sequence[bytes] = (),
    ) -> Iterator[pd.DataFrame]:
        watermark = max(int(timers.getCurrentWatermarkInMs()), 0)
        own = int(key[0])
        bucket = self.open(own, self._store, remembered)
        kept = bucket.kept
        step = bucket.step(pieces, watermark * 1000, commands, newest)
        self._wake_after(watermark, kept.last // 1000 if kept.stored else None)
        if own == FIRST:
            self._log(step, anew=not kept.stored)
        return _report(step, every=own == FIRST)

    def _log(self, step: ControlledStep, anew: bool) -> None:
        """Write what became of commands; a micro-batch that is repeated writes the same again."""
        if self.path is None:
            return
        folder = Folder(Path(self.path))
        if anew:
            folder.forget()
        for entry in step.entries:
            folder.write_entry(entry)


def _report(done: ControlledStep, every: bool) -> Iterator[pd.DataFrame]:
    """The results, then how many there were of each window: of those without any, by one bucket."""
    yield frame(None, done.step, windows=None)
    ids = [label.id for label in done.labels[:MOST_WINDOWS] if label.running]
    counts = dict.fromkeys(ids if every else (), 0)
    for table in done.results:
        id = table.column("window_id")[0].as_py()
        counts[id] = counts.get(id, 0) + table.num_rows
        for cell in pack_results(iter([table])):
            yield frame(cell, None, windows=None)
    if counts:
        yield frame(None, None, windows=json.dumps(counts, ensure_ascii=False))

"""The bucketed operator with a control: windows come and go while the stream runs.

    lifted rows ─ pre-aggregated to the grain, packed by bucket ─┐
                                                                 ├─ transformWithState ─ unpacked
    commands ──── one row for each bucket ───────────────────────┘   a step a bucket

Commands are rows of the stream like all others: Spark's checkpoint says which of them were met, and
a micro-batch that is repeated meets the same ones. Each bucket hears of all commands before its
rows; the first one writes what became of them to the control's log. Since windows have no fixed
numbers, results leave the operator with their id and end. For the stream's progress every bucket
reports the windows of the moment, and how many rows it gave of each.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import TimerValues
from pyspark.sql.types import StructType

from muntin.engines.spark.bind import Bound
from muntin.engines.spark.commands import commands_of
from muntin.engines.spark.finishing import window_column
from muntin.engines.spark.labels import labels
from muntin.engines.spark.operators import bucketed
from muntin.engines.spark.operators.bucketed import (
    initial_slices,
    metric_name,
    pack_by_bucket,
    spec_of,
)
from muntin.engines.spark.packing import BUCKET, unpack
from muntin.engines.spark.processor import (
    BucketProcessor,
    collect_cells,
    frame,
    pack_results,
    remembered,
)
from muntin.engines.spark.stream_source import StreamSource
from muntin.errors import ControlError
from muntin.physical import FROM_SOURCE, PhysicalPlan
from muntin.physical.operators.controlled import CONTROLLED
from muntin.physical.operators.expand import Level, SlicesTarget
from muntin.physical.operators.kernel import Base
from muntin.plan.slicing import Cut, Slices
from muntin.state.control import Command, Control, Folder, Stream, Terms, new_key
from muntin.state.control import refusal as refused
from muntin.state.control.command import check_window
from muntin.state.controlled import Controlled, ControlledBucket, ControlledStep
from muntin.state.store import from_bytes

OUTPUT = "results binary, late bigint, dropped bigint, windows string"
FIRST = 0
"""The label of the first bucket, whatever their number."""

MOST_WINDOWS = 64
"""Windows that are reported though they gave no rows."""


def refusal(bound: Bound) -> str | None:
    """Why the stream cannot have columnar state, or has no control; or None."""
    if bound.streaming is not None and bound.streaming.control is None:
        return "its windows come from a control: give control=mt.Control(path)"
    return bucketed.refusal(bound)


def run(physical: PhysicalPlan, bound: Bound) -> DataFrame:
    """The rows of all windows of the moment."""
    assert bound.streaming is not None, "it runs on streams"
    assert bound.streaming.control is not None, "its windows come from a control"
    source, spark, control = bound.source(physical), bound.df.sparkSession, bound.streaming.control
    spec = replace(spec_of(source, bound, CONTROLLED), bases=())
    stream = Controlled(spec, source.query.windows, _terms(source, control))
    path = _announce(stream, source, control)
    grid = Base(0, Slices((Cut(control.grain, 0),)), ())
    packed = pack_by_bucket(source, spec, (grid,))
    commands = commands_of(spark, control).select(
        F.explode(F.array(*map(F.lit, labels(spec.buckets)))).alias(BUCKET),
        F.lit(None).cast("binary").alias("pieces"),
        F.lit(None).cast("string").alias("newest"),
        "command",
    )
    rows = packed.withColumn("command", F.lit(None).cast("binary")).unionByName(commands)
    processor = ControlledProcessor(stream, path)
    windows = source.query.windows
    initial = initial_slices(bound, spec, windows, Level({}, {FROM_SOURCE: (_target(grid),)}))
    mode = "Update" if spec.update else "Append"
    stepped = rows.groupBy(BUCKET).transformWithStateInPandas(
        processor, OUTPUT, mode, "EventTime", initialState=initial
    )
    observed = stepped.observe(metric_name(), *_metrics())
    results = observed.select("results").mapInArrow(unpack, _schema(source))
    return _finish(results, source)


def _target(grid: Base) -> SlicesTarget:
    return SlicesTarget(grid.node, grid.slices)


def _terms(source: StreamSource, control: Control) -> Terms:
    """What the stream can do for windows, those of its start among them."""
    terms = Terms(tuple(r.name for r in source.table.columns.results), control.grain)
    for kept, window in enumerate(source.query.windows):
        check_window(window)
        reason = refused(Command(new_key(), "register", window.id, window), (), terms, kept)
        if reason:
            raise ControlError(reason)
    return terms


def _announce(stream: Controlled, source: StreamSource, control: Control) -> str | None:
    """The control's directory, in which is said what the stream keeps."""
    if control.folder is None:
        return None
    control.folder.make().write_stream(Stream(stream.windows, stream.terms, source.query.keys))
    return str(control.folder.path)


def _schema(source: StreamSource) -> StructType:
    """The columns of labelled results."""
    keys = [f for f in source.schema if f.name in source.table.keys]
    own = {"window_id": "string", "start": "long", "end": "long", "asked": "string"}
    schema = StructType(keys)
    for name, kind in own.items():
        schema = schema.add(name, kind)
    return StructType([*schema, *source.table.fields])


def _metrics() -> list[Column]:
    return [
        F.sum("late").alias("late"),
        F.sum("dropped").alias("dropped"),
        F.to_json(F.collect_list("windows")).alias("windows"),
    ]


def _finish(rows: DataFrame, source: StreamSource) -> DataFrame:
    """The results under the user's names; null where a window does not ask for an aggregate."""
    keys = zip(source.table.keys, source.query.keys, strict=True)
    asked = "IF(asked IS NULL OR substring(asked, {}, 1) = '1', {}, NULL)"
    finals = enumerate(source.table.columns.results, start=1)
    return rows.select(
        "window_id",
        window_column("start", "end", source.table.time_type).alias("window"),
        *(F.col(k).alias(name) for k, name in keys),
        *(F.expr(asked.format(i, r.final)).alias(r.name) for i, r in finals),
    )


class ControlledProcessor(BucketProcessor):
    """One step for each bucket and batch; `path` is that of the control's directory, if any."""

    def __init__(self, stream: Controlled, path: str | None) -> None:
        super().__init__(stream.spec, ())
        self.stream, self.path = stream, path

    def handleInputRows(  # noqa: N802  (Spark's name)
        self, key: tuple[int], rows: Iterator[Any], timerValues: TimerValues
    ) -> Iterator[pd.DataFrame]:
        """Obey the commands of a batch, then take in its pieces."""
        pieces, newest, commands = collect_cells(rows, "pieces", "newest", "command")
        tables = [from_bytes(cell) for cell in pieces]
        last = max(map(int, newest), default=None)
        return self._step(key, tables, timerValues, last, [bytes(cell) for cell in commands])

    def _begin(self, key: int, pieces: list[pa.Table]) -> int | None:
        bucket = ControlledBucket(self.stream, key, self._store, remembered)
        new = not bucket.kept.stored
        if new and key == FIRST and self.path is not None:
            Folder(Path(self.path)).forget()
        bucket.begin(pieces)
        return self.stream.spec.until if new else None

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
        bucket = ControlledBucket(self.stream, own, self._store, remembered)
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

"""Windows that the data decides, on a stream: Cutty for each bucket of keys.

    lifted records ─ packed by bucket ─ transformWithState ─ unpacked ─ results
                     mapInArrow         a step a bucket      mapInArrow  JVM

Records wait in the state until the watermark has passed them; then those of each key are taken in
order, and all windows are evaluated together from slices (muntin.data_windows.stream_bucket). Rows
come out once, when the watermark proves that their window ended; in update mode also before, as far
as their windows have come.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame, GroupedData
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import TimerValues
from pyspark.sql.types import StructType

from muntin.data_windows.controlled_records import ControlledRecords
from muntin.data_windows.controlled_stream import ControlledStream
from muntin.data_windows.record_bucket import RecordBucket
from muntin.data_windows.record_buffer import TIME
from muntin.data_windows.stream_bucket import StreamBucket
from muntin.data_windows.stream_state import StreamSpec, signature
from muntin.engines.spark.arrow_stage import map_in_arrow
from muntin.engines.spark.bind import Bound
from muntin.engines.spark.command_steps import (
    PACKED,
    CommandProcessor,
    announce,
    check_no_grain,
    step_with_commands,
)
from muntin.engines.spark.finishing import name_columns
from muntin.engines.spark.history import empty_cells, pack_history
from muntin.engines.spark.labels import labels
from muntin.engines.spark.operators import bucketed
from muntin.engines.spark.operators.bucketed import (
    add_bucket,
    bucket_count,
    describe_partials,
    judges_now,
    metric_name,
)
from muntin.engines.spark.operators.controlled import finish_labelled, labelled_schema
from muntin.engines.spark.operators.cutty import asked_windows, head
from muntin.engines.spark.packing import BUCKET, Packing, unpack
from muntin.engines.spark.processor import BucketProcessor, frame, pack_results, remembered
from muntin.engines.spark.row_partials import lift_records, not_kept
from muntin.engines.spark.stream_source import StreamSource, delay_of
from muntin.engines.spark.table import Table, tie_breakers
from muntin.errors import StrategyError
from muntin.kernels.portions import portions
from muntin.model.query import Query
from muntin.physical import PhysicalPlan
from muntin.state.bucket import Step
from muntin.state.control import Control, Label, Stream, Terms
from muntin.state.control.decision import DATA
from muntin.state.kept_labels import Start
from muntin.state.state import Cache
from muntin.state.store import Store

OUTPUT = "results binary, late bigint, dropped bigint"
PORTION = 250_000
"""Records that are packed at a time."""

BLOCKS = 8
"""Blocks of waiting records in the time that the watermark lags behind."""

SHORTEST = 1_000_000
"""No block is shorter: a second."""


def run(physical: PhysicalPlan, bound: Bound) -> DataFrame:
    """The rows of all windows asked for, over a stream whose watermark is set."""
    table = bound.table
    breakers = tie_breakers(table, table.rows, bound.query)
    compared = tuple(c for c in breakers if c in (*table.read, *table.order))
    source = bound.source(physical)
    refusal = bucketed.refusal(bound) or not_kept(table, compared)
    if refusal is not None:
        raise StrategyError(f"operator 'records' cannot run this stream: {refusal}")
    spec = _spec(source, bound)
    own = labels(spec.buckets)
    keyed = add_bucket(lift_records(table), spec.keys, own)
    initial = initial_records(bound.history(None), bound, own)
    mode = "Update" if spec.update else "Append"
    assert bound.streaming is not None, "it runs on streams"
    if bound.streaming.control is not None:
        given = keyed, spec, bound.streaming.control, source, mode, initial
        return finish_labelled(_step_controlled(*given), source)
    schema = StructType([*head(source.table), *source.table.fields])
    processor = RecordProcessor(partial(StreamBucket, spec))
    rows = step_records(keyed, processor, own, schema, initial, mode)
    return name_columns(rows, physical, bound.query, table)


def _step_controlled(
    keyed: DataFrame,
    spec: StreamSpec,
    control: Control,
    source: StreamSource,
    mode: str,
    initial: GroupedData | None,
) -> DataFrame:
    """The rows of the windows of the moment, under their labels."""
    check_no_grain(control)
    windows = source.query.all_windows
    names = tuple(r.name for r in source.table.columns.results)
    known = {window.id: window for window in windows}
    terms = Terms(names, 1, DATA, known, source.query.window_inputs)
    started = tuple(Label(window.id, window, text=window.id) for window in windows)
    start = Start(tuple(map(signature, windows)), started, terms)
    path = announce(control, Stream(windows, terms, source.query.keys))
    stream = ControlledRecords(replace(spec, windows={}, controlled=True), start)
    processor = CommandProcessor(partial(ControlledStream, stream), path, spec.until)
    own = labels(spec.buckets)
    packed = map_in_arrow(keyed, Packing(gather, own, with_newest=True, time=TIME), PACKED)
    schema = labelled_schema(source)
    return step_with_commands(packed, control, own, processor, schema, mode, metric_name(), initial)


def _spec(source: StreamSource, bound: Bound) -> StreamSpec:
    assert bound.streaming is not None, "it runs on streams"
    query, table, spark = source.query, source.table, bound.df.sparkSession
    return StreamSpec(
        table.keys,
        asked_windows(source.physical),
        dict(zip(query.window_inputs, table.read, strict=True)),
        table.columns.partials,
        tuple(tie_breakers(table, lift_records(table), query)),
        block_length(bound.df, query),
        bucket_count(table.keys, bound.streaming.buckets, spark),
        query.keys,
        describe_partials(table.columns),
        query.order_by,
        judges_now(spark),
        source.wraps,
        bound.streaming.output == "update",
        bound.until,
    )


def initial_records(table: Table | None, bound: Bound, own: tuple[int, ...]) -> GroupedData | None:
    """The records of the history by bucket, which the state begins with; None without history."""
    if bound.until is None:
        return None
    if table is None:
        return empty_cells(bound.df, ()).groupBy(BUCKET)
    keyed = add_bucket(lift_records(table), table.keys, own)
    return pack_history(keyed, own).groupBy(BUCKET)


def block_length(df: DataFrame, query: Query) -> int:
    """How long a block of waiting records is: a part of the time that the watermark lags behind."""
    delay = (delay_of(df, query) or 0) * 1000
    return max(delay // BLOCKS, SHORTEST)


def gather(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Many records in one batch, so that a bucket gets few cells."""
    for table in portions(batches, PORTION):
        yield from table.to_batches()


def step_records(
    keyed: DataFrame,
    processor: RecordProcessor,
    own: tuple[int, ...],
    schema: StructType,
    initial: GroupedData | None = None,
    mode: str = "Append",
) -> DataFrame:
    """What the buckets with these labels make of lifted records; late ones are counted."""
    packed = map_in_arrow(keyed, Packing(gather, own), "bucket int, pieces binary")
    stepped = packed.groupBy(BUCKET).transformWithStateInPandas(
        processor, OUTPUT, mode, "EventTime", initialState=initial
    )
    counts = [F.sum(name).alias(name) for name in ("late", "dropped")]
    observed = stepped.observe(metric_name(), *counts)
    return map_in_arrow(observed.select("results"), unpack, schema)


class OpensBucket(Protocol):
    """What opens a bucket on its state."""

    def __call__(self, bucket: int, store: Store, cache: Cache) -> RecordBucket[Any]:
        """The bucket of this number."""


class RecordProcessor(BucketProcessor):
    """One step for each bucket and batch."""

    def __init__(self, open: OpensBucket) -> None:
        self.open = open

    def _begin(self, key: int, pieces: list[pa.Table]) -> int | None:
        bucket = self.open(key, self._store, remembered)
        new = bucket.new
        bucket.begin(pieces)
        return bucket.header.last if new else None

    def _step(
        self,
        key: tuple[int],
        pieces: list[pa.Table],
        timers: TimerValues,
        newest: int | None,
        records: list[pa.Table],
    ) -> Iterator[pd.DataFrame]:
        watermark = max(int(timers.getCurrentWatermarkInMs()), 0)
        bucket = self.open(int(key[0]), self._store, remembered)
        last = None if bucket.new else bucket.header.last // 1000
        step = bucket.step(pieces, watermark * 1000)
        self._wake_after(watermark, last)
        return self._packed(step)

    def _packed(self, step: Step) -> Iterator[pd.DataFrame]:
        yield frame(None, step)
        for cell in pack_results(step.results):
            yield frame(cell, None)

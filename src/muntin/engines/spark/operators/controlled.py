"""The bucketed operator with a control: windows come and go while the stream runs.

    lifted rows ─ pre-aggregated to the grain, packed by bucket ─┐
                                                                 ├─ transformWithState ─ unpacked
    commands ──── one row for each bucket ───────────────────────┘   a step a bucket

Commands are rows of the stream like all others: Spark's checkpoint says which of them were met, and
a micro-batch that is repeated meets the same ones. Since windows have no fixed numbers, results
leave the operator with their id and end.
"""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType, StructField, StructType

from muntin.dialects.spark_text import SparkWriter
from muntin.engines.spark.bind import Bound
from muntin.engines.spark.commands import commands_of
from muntin.engines.spark.controlled_processor import OUTPUT, ControlledProcessor
from muntin.engines.spark.labels import labels
from muntin.engines.spark.operators import bucketed
from muntin.engines.spark.operators.bucketed import metric_name, packed_by_bucket, spec_of
from muntin.engines.spark.packing import BUCKET, unpacked
from muntin.engines.spark.stream_source import StreamSource
from muntin.errors import ControlError
from muntin.physical import PhysicalPlan
from muntin.physical.operators.kernel import Base
from muntin.plan.slicing import Cut, Slices
from muntin.state.control import Command, Control, Stream, Terms, new_key
from muntin.state.control import refusal as refused
from muntin.state.controlled import Controlled


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
    spec = replace(spec_of(source, bound), bases=())
    stream = Controlled(spec, source.query.windows, _terms(source, control))
    path = _announced(stream, source, control)
    grid = Base(0, Slices((Cut(control.grain, 0),)), ())
    packed = packed_by_bucket(source, spec, (grid,))
    told = commands_of(spark, control).select(
        F.explode(F.array(*map(F.lit, labels(spec.buckets)))).alias(BUCKET),
        F.lit(None).cast("binary").alias("pieces"),
        F.lit(None).cast("string").alias("newest"),
        "command",
    )
    rows = packed.withColumn("command", F.lit(None).cast("binary")).unionByName(told)
    processor = ControlledProcessor(stream, path)
    stepped = rows.groupBy(BUCKET).transformWithStateInPandas(
        processor, OUTPUT, "Update" if spec.update else "Append", "EventTime"
    )
    observed = stepped.observe(metric_name(), *_metrics())
    results = observed.select("results").mapInArrow(unpacked, _schema(source))
    return _finished(results, source)


def _terms(source: StreamSource, control: Control) -> Terms:
    """What the stream can do for windows, those of its start among them."""
    terms = Terms(tuple(r.name for r in source.table.columns.results), control.grain)
    for kept, window in enumerate(source.query.windows):
        reason = refused(Command(new_key(), "register", window.id, window), (), terms, kept)
        if reason:
            raise ControlError(reason)
    return terms


def _announced(stream: Controlled, source: StreamSource, control: Control) -> str | None:
    """The control's directory, in which is said what the stream keeps."""
    if control.folder is None:
        return None
    control.folder.make().write_stream(Stream(stream.windows, stream.terms, source.query.keys))
    return str(control.folder.path)


def _schema(source: StreamSource) -> StructType:
    """The columns of labelled results."""
    own = [
        StructField("window_id", StringType()),
        StructField("start", LongType()),
        StructField("end", LongType()),
        StructField("asked", StringType()),
    ]
    keys = [f for f in source.schema if f.name in source.table.keys]
    return StructType([*keys, *own, *source.partial_fields])


def _metrics() -> list[Column]:
    return [
        F.sum("late").alias("late"),
        F.sum("dropped").alias("dropped"),
        F.to_json(F.collect_list("windows")).alias("windows"),
    ]


def _finished(rows: DataFrame, source: StreamSource) -> DataFrame:
    """The results under the user's names; null where a window does not ask for an aggregate."""
    instant, kind = SparkWriter().instant, source.table.time_type
    window = F.struct(
        F.expr(instant("start", kind)).alias("start"), F.expr(instant("end", kind)).alias("end")
    )
    keys = zip(source.table.keys, source.query.keys, strict=True)
    finals = [
        F.expr(f"IF(asked IS NULL OR substring(asked, {i + 1}, 1) = '1', {r.final}, NULL)")
        for i, r in enumerate(source.table.columns.results)
    ]
    names = [r.name for r in source.table.columns.results]
    return rows.select(
        "window_id",
        window.alias("window"),
        *(F.col(k).alias(name) for k, name in keys),
        *(final.alias(name) for final, name in zip(finals, names, strict=True)),
    )

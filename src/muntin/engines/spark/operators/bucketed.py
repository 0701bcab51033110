"""The bucketed operator: one stateful operator whose state is columnar, for each bucket of keys.

    rows ─ pre-aggregated, packed by bucket ─ transformWithState ─ results
           mapInArrow                         a step a bucket      JVM

Results come out by column; those with types that a pandas frame would change (decimals, times,
structs) come packed, and are unpacked by one more mapInArrow.

Keys are spread over B buckets by their hash. A bucket keeps the slices of all its keys together
and evaluates them with the kernels of batch (muntin.state), so the cost of a key is that of a
few array elements. Its rows equal those of Spark's own window() in every batch.

Each batch reports on itself in the query's progress, in an observed metric whose name begins with
"muntin": pieces that came too `late` for some of their windows, those `dropped` because all had
fired, and from when windows that joined at a restart are complete.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

import pyarrow as pa
from pyspark.sql import Column, DataFrame, GroupedData, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from muntin.aggregates.columns import Columns
from muntin.engines.spark.arrow_stage import map_in_arrow
from muntin.engines.spark.bind import Bound
from muntin.engines.spark.deferred import defer
from muntin.engines.spark.finishing import filled_results, finish, missed_column
from muntin.engines.spark.history import empty_cells, pack_history
from muntin.engines.spark.key_marks import LISTED, REVISED
from muntin.engines.spark.labels import labels
from muntin.engines.spark.operators.expand import from_source
from muntin.engines.spark.packing import BUCKET, Packing, unpack
from muntin.engines.spark.plain_results import plain_schema
from muntin.engines.spark.preaggregate import PreAggregation
from muntin.engines.spark.processor import OUTPUT, BucketProcessor
from muntin.engines.spark.row_partials import fields_of, one_zero
from muntin.engines.spark.session_facts import is_connect, shuffle_partitions, version_of
from muntin.engines.spark.stream_source import EVENT_TIME, StreamSource
from muntin.model.windows import Window, kept_from
from muntin.physical import PhysicalPlan
from muntin.physical.operators.bucketed import BUCKETED, Bucketed
from muntin.physical.operators.expand import Level, source_level
from muntin.physical.operators.kernel import Base
from muntin.state.corrected import REVISION
from muntin.state.extras import extras
from muntin.state.missed import RECORD, RECORDS, TEXTS, TIME
from muntin.state.spec import Spec

MOST = 1_000
"""Buckets by default, at most: more of them are for those who ask."""

_MULTIPLE = "spark.sql.streaming.statefulOperator.allowMultiple"
_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_TYPES: dict[pa.DataType, DataType] = {
    pa.int32(): IntegerType(),
    pa.int64(): LongType(),
    pa.bool_(): BooleanType(),
    TEXTS: ArrayType(StringType()),
}
_made = count(1)
"""Operators made by this process: a query may hold several, and no two metrics of one name."""


def run(physical: PhysicalPlan, bound: Bound) -> DataFrame:
    """The rows of all windows asked for."""
    source = bound.source(physical)
    spec = spec_of(source, bound)
    windows = {n: w for base in spec.bases for n, w in base.windows.items()}
    ids = tuple(w.id for w in windows.values())
    packed = pack_by_bucket(source, spec, spec.bases)
    besides = [StructField(name, _TYPES[kind]) for name, kind in extras(spec).items()]
    schema = StructType([*source.schema, *besides])
    output, plain = plain_schema(schema) or (OUTPUT, None)
    stepped = packed.groupBy(BUCKET).transformWithStateInPandas(
        defer(BucketProcessor(spec, ids, plain)),
        output,
        "Update" if spec.update else "Append",
        "EventTime",
        initialState=initial_slices(bound, spec, windows.values(), source_level(physical)),
    )
    if plain is None:
        observed = stepped.observe(metric_name(), *_metrics(ids, "complete_from"))
        rows = map_in_arrow(observed.select("results"), unpack, schema)
    else:
        since = F.from_json("complete_from", "array<bigint>").alias("since")
        said = stepped.select("*", since).observe(metric_name(), *_metrics(ids, "since"))
        rows = said.where("node IS NOT NULL").select(*schema.names)
    computed = None if spec.fill_for is None else filled_results(source.query, source.table)
    more = [F.col(REVISION).alias(REVISION, metadata={REVISED: True})] if spec.revises else []
    more += [missed_column(physical, source.table)] if spec.keeps_late else []
    more += [F.col(RECORDS).alias(RECORDS, metadata={LISTED: True})] if spec.keeps_records else []
    named = rows, physical, source.query, source.table, EVENT_TIME
    return finish(*named, more, computed, late=spec.keeps_late)


def refusal(bound: Bound) -> str | None:
    """Why the stream cannot have columnar state, or None."""
    spark, streaming = bound.df.sparkSession, bound.streaming
    if streaming is not None and streaming.output == "complete":
        return "complete mode keeps every window, and its state lets them go; use 'native'"
    if not bound.watermarked:
        return "its state leaves with the watermark: give watermark='10 minutes' or use 'native'"
    if streaming is not None and streaming.lateness is not None and judges_now(spark):
        return f"allowed_lateness needs {_MULTIPLE}=true, which is Spark's default"
    if is_connect(spark) and version_of(spark) < (4, 1):
        return f"on Spark Connect it needs Spark 4.1, and this is {spark.version}"
    provider = str(spark.conf.get(_PROVIDER, ""))
    if "RocksDB" not in provider:
        return (
            "it needs state in RocksDB: set spark.sql.streaming.stateStore.providerClass to "
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
        )
    return None


def spec_of(source: StreamSource, bound: Bound, operator: Bucketed = BUCKETED) -> Spec:
    """What the query asks of each bucket."""
    assert bound.streaming is not None, "it runs on streams"
    spark = bound.df.sparkSession
    return Spec(
        source.bases,
        source.table.keys,
        source.table.columns.partials,
        bucket_count(source.table.keys, bound.streaming.buckets, spark),
        source.query.keys,
        describe_partials(source.table.columns),
        update=bound.streaming.output == "update",
        late_now=judges_now(spark),
        wraps=source.wraps,
        technique=operator.due_technique(source.physical, bound.streaming.technique)[0],
        asked=bound.streaming.technique != "auto",
        lateness=bound.streaming.lateness,
        fill_for=bound.streaming.fill_length(source.query),
        keeps_late=bound.streaming.keeps_late,
        keeps_records=bound.streaming.keeps_records,
        until=bound.until,
    )


def judges_now(spark: SparkSession) -> bool:
    """Whether Spark judges lateness by the watermark of the present batch."""
    return str(spark.conf.get(_MULTIPLE, "true")) == "false"


def describe_partials(columns: Columns) -> tuple[str, ...]:
    """The partial columns in the user's words: what each is lifted from.

    >>> from muntin.aggregates import avg
    >>> from muntin.aggregates.columns import columns_of
    >>> describe_partials(columns_of([avg("price").filter("price > 0")], lambda _: "double"))
    ('sum([price if price > 0])', 'count([price if price > 0])')
    """
    texts = [
        f"[{each.argument} if {each.predicate}]" if each.predicate else f"[{each.argument}]"
        for each in columns.inputs
    ]
    lifts = [f"{p.code} of {p.lift}" if p.code else p.lift for p in columns.partials]
    for i in reversed(range(len(texts))):
        lifts = [lift.replace(f"v{i}", texts[i]) for lift in lifts]
    return tuple(lifts)


def bucket_count(keys: tuple[str, ...], given: int | None, spark: SparkSession) -> int:
    """How many buckets: as many as were asked for, or as there are shuffle partitions."""
    if not keys:
        return 1
    if given is not None:
        return given
    return min(shuffle_partitions(spark), MOST)


def pack_by_bucket(source: StreamSource, spec: Spec, bases: tuple[Base, ...]) -> DataFrame:
    """The rows of each batch as pieces of these bases, packed, and the start of the newest."""
    own = labels(spec.buckets)
    given = source.send_rows()
    keyed = add_bucket(given.rows, spec.keys, own)
    keys = (*spec.keys, BUCKET)
    body = PreAggregation(keys, spec.partials, bases, spec.wraps, sent=given.sent)
    beside = (*spec.keys, TIME, RECORD) if spec.keeps_records else ()
    packing = Packing(body, own, with_newest=True, beside=beside)
    cells = "bucket int, pieces binary, newest string"
    return map_in_arrow(keyed, packing, f"{cells}, records binary" if beside else cells)


def initial_slices(
    bound: Bound, spec: Spec, windows: Iterable[Window], level: Level
) -> GroupedData | None:
    """The slices of the history by bucket, which the state begins with; None without history.

    They are those of the first level, as far back as a window reaches that is open at its end;
    where empty windows are emitted, that was open so long before.
    """
    if spec.until is None:
        return None
    own = labels(spec.buckets)
    table = bound.history(kept_from(windows, spec.until - (spec.fill_for or 0)))
    if table is None:
        return empty_cells(bound.df, ()).groupBy(BUCKET)
    slices = from_source(table, level)
    plain = [F.expr(one_zero(f)).alias(f.name) for f in fields_of(table, table.keys)]
    # Cast as the stream's own partials are: else the fields of Spark's structs are never null.
    partials = [F.expr(f"CAST({f.name} AS {f.dataType.simpleString()})") for f in table.fields]
    named = [partial.alias(f.name) for partial, f in zip(partials, table.fields, strict=True)]
    keyed = add_bucket(slices.select(*plain, "node", "start", *named), spec.keys, own)
    return pack_history(keyed, own).groupBy(BUCKET)


def add_bucket(rows: DataFrame, keys: tuple[str, ...], own: tuple[int, ...]) -> DataFrame:
    """Rows with the label of the bucket of their keys."""
    label = f"element_at(array({', '.join(map(str, own))}), pmod(hash(%s), {len(own)}) + 1)"
    return rows.withColumn(BUCKET, F.expr(label % ", ".join(keys) if keys else str(own[0])))


def metric_name() -> str:
    """A name for the metrics of one operator more."""
    number = next(_made)
    return f"muntin {number}" if number > 1 else "muntin"


def _metrics(ids: tuple[str, ...], since: str) -> list[Column]:
    begins = [
        F.timestamp_micros(F.max(F.get(since, F.lit(i)))).cast("string").alias(id)
        for i, id in enumerate(ids)
    ]
    return [
        F.sum("late").alias("late"),
        F.sum("dropped").alias("dropped"),
        F.to_json(F.struct(*begins)).alias("complete_from"),
    ]

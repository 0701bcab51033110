"""Distinct items of nested windows on Spark: the most recent appearance decides for all of them.

batch    rows ─ one for each item and stretch between two ends, its last appearance
              ─ each with the next appearance of the same item
              ─ the ends between the two at which a window holds it: what there is to say, once
stream   rows ─ copied to the ends at which a window holds them ─ one stateful aggregation

An item that appeared last at t is held, at an end T of a group, by the windows that end there and
have range ≥ T - t. So one row for each item and end says it for all windows of the group; the
narrowest of them is the smallest window that holds the item (`muntin.nesting.distinct`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import Window as Over
from pyspark.sql import functions as F

from muntin.dialects.lists import SparkLists
from muntin.dialects.nested import FOREVER, NestedText
from muntin.dialects.programs import slice_start
from muntin.dialects.spark_text import SparkWriter
from muntin.engines.spark.finishing import window_column
from muntin.engines.spark.guard import check_guarded, guard
from muntin.engines.spark.session_facts import check_table
from muntin.engines.spark.stream_source import EVENT_TIME, delay_of
from muntin.engines.spark.streaming import Streaming, set_watermark
from muntin.engines.spark.table import Table, prepare
from muntin.model.query import Query
from muntin.nesting import Group
from muntin.nesting.questions import DistinctItems
from muntin.physical.operators.distinct import BATCH_STEPS, describe, stretches

TEXT = NestedText(SparkLists())
_STREAM_STEPS = "rows are copied to the ends that hold them, and one stateful aggregation follows"


@dataclass(frozen=True, slots=True)
class SparkDistinct:
    """A question about distinct items, bound to a DataFrame."""

    df: DataFrame
    asked: DistinctItems
    streaming: Streaming

    def run(self) -> DataFrame:
        """The rows, in the layout asked for."""
        return run(self.df, self.asked, self.streaming)

    def explain(self) -> list[str]:
        """How rows become items of windows, and the groups."""
        run(self.df, self.asked, self.streaming)  # what would be refused is refused here, too
        if self.df.isStreaming:
            return describe(self.asked, "on a stream of Spark", _STREAM_STEPS)
        return describe(self.asked, "on Spark", BATCH_STEPS)


def run(df: DataFrame, asked: DistinctItems, streaming: Streaming) -> DataFrame:
    """The distinct values of the query's keys (items among them) in all windows."""
    check_table(df)
    query, groups = asked.query, asked.groups
    if df.isStreaming:
        check_guarded(df.sparkSession)
        marked = set_watermark(df, query, streaming)
        table = prepare(marked, query)
        unmarked = delay_of(marked, query) is None
        rows = _from_stream(table, query, groups, {} if unmarked else EVENT_TIME)
    else:
        table = prepare(df, query)
        rows = _from_batch(table, groups)
    return _lay_out(rows, table, asked)


def _from_batch(table: Table, groups: Sequence[Group]) -> DataFrame:
    """(k…, last, g, stop): of each item and stretch the last appearance, until it comes again."""
    keys = table.keys
    stretch = F.expr(slice_start(stretches(groups), "t", SparkWriter()))
    last = (
        table.rows.withColumn("stretch", stretch)
        .groupBy(*keys, "stretch")
        .agg(F.max("t").alias("last"))
    )
    after = F.lead("last").over(Over.partitionBy(*keys).orderBy("last"))
    reigns = last.withColumn("until", F.coalesce(after, F.lit(FOREVER)))
    at = F.inline(F.expr(TEXT.group_ends(groups, "last", "until")))
    return reigns.select(*keys, "last", at)


def _from_stream(
    table: Table, query: Query, groups: Sequence[Group], metadata: dict[str, int]
) -> DataFrame:
    """The same, by one aggregation over the ends at which each row counts."""
    writer = SparkWriter()
    exploded = table.rows.select(*table.keys, "t", F.inline(F.expr(TEXT.group_ends(groups, "t"))))
    at = F.expr(writer.instant("stop", table.time_type))
    keyed = exploded.select(
        *(*table.keys, "t", "g"),
        at.alias("at", metadata=metadata),
        F.expr(guard(query, query.windows)).alias("guard"),
    )
    grouped = keyed.groupBy("at", "g", "guard", *table.keys).agg(F.max("t").alias("last"))
    stop = F.expr(writer.microseconds("at", table.time_type)).alias("stop")
    return grouped.select(*table.keys, "last", "g", stop)


def _lay_out(rows: DataFrame, table: Table, asked: DistinctItems) -> DataFrame:
    held = rows.withColumn("held", F.expr(TEXT.holders(asked.groups)))
    names = asked.query.keys
    items = [F.col(k).alias(name) for k, name in zip(table.keys, names, strict=True)]

    def at(sql: str, name: str) -> Column:
        return F.expr(SparkWriter().instant(sql, table.time_type)).alias(name)

    if asked.layout == "long":
        each = held.select(*table.keys, "last", "stop", F.inline("held"))
        window = window_column("(stop - reach)", "stop", table.time_type, "window")
        return each.select(F.col("id").alias("window_id"), window, *items, at("last", "last_seen"))
    return held.select(
        F.expr("held[0].id").alias("window_id"),
        at("stop", "window_end"),
        *items,
        at("last", "last_seen"),
        at("(last + held[0].reach)", "expires"),
        F.expr("transform(held, w -> w.id)").alias("windows"),
    )

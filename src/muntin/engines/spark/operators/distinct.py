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
from math import gcd
from typing import get_args

from pyspark.sql import Column, DataFrame
from pyspark.sql import Window as Over
from pyspark.sql import functions as F

from muntin.dialects.spark_text import SparkWriter
from muntin.engines.spark.finishing import window_column
from muntin.engines.spark.guard import check_guarded, guard
from muntin.engines.spark.nested_windows import FOREVER, group_ends, holders
from muntin.engines.spark.operators.expand import slice_start
from muntin.engines.spark.session_facts import check_table
from muntin.engines.spark.stream_source import EVENT_TIME, delay_of
from muntin.engines.spark.streaming import Streaming, set_watermark
from muntin.engines.spark.table import Table, prepare
from muntin.errors import QueryError, StrategyError, is_one_of, unknown
from muntin.model.choices import NestedLayout
from muntin.model.query import Query
from muntin.nesting import Group, WindowManager
from muntin.plan.slicing.cuts import Cut, Slices, cut_everywhere, ends

RESERVED = ("window_end", "last_seen", "expires", "windows")

WRITTEN_OUT = 64
"""Up to this many kinds of ends are written out in one expression."""


def run(df: DataFrame, query: Query, layout: str, grouping: str, streaming: Streaming) -> DataFrame:
    """The distinct values of the query's keys (items among them) in all windows."""
    check_layout(layout, query.keys, RESERVED)
    check_table(df)
    groups = WindowManager(query.windows, grouping).groups
    if df.isStreaming:
        check_guarded(df.sparkSession)
        marked = set_watermark(df, query, streaming)
        table = prepare(marked, query)
        unmarked = delay_of(marked, query) is None
        rows = _from_stream(table, query, groups, {} if unmarked else EVENT_TIME)
    else:
        table = prepare(df, query)
        rows = _from_batch(table, groups)
    return _lay_out(rows, table, query, groups, layout)


def check_layout(layout: str, names: Sequence[str], reserved: Sequence[str]) -> None:
    """Refuse an unknown layout, and columns that the result has itself."""
    if not is_one_of(layout, get_args(NestedLayout)):
        raise StrategyError(unknown("layout", layout, get_args(NestedLayout)))
    for name in names:
        if name in reserved:
            raise QueryError(f"{name!r} is a column of the result: rename it first")


def _from_batch(table: Table, groups: Sequence[Group]) -> DataFrame:
    """(k…, g, end, last): of each item and stretch the last appearance, until it appears again."""
    keys = table.keys
    last = (
        table.rows.withColumn("stretch", F.expr(slice_start(stretches(groups), "t")))
        .groupBy(*keys, "stretch")
        .agg(F.max("t").alias("last"))
    )
    after = F.lead("last").over(Over.partitionBy(*keys).orderBy("last"))
    reigns = last.withColumn("until", F.coalesce(after, F.expr(FOREVER)))
    at = F.inline(F.expr(group_ends(groups, "last", "until")))
    return reigns.select(*keys, "last", at)


def stretches(groups: Sequence[Group]) -> Slices:
    """Slices between the ends of all seeds, and so of all windows.

    Within one, only the last appearance counts. Where there are too many kinds of ends for one
    expression, even steps that have them all.
    """
    cuts = cut_everywhere(ends(group.seed) for group in groups).cuts
    if len(cuts) > WRITTEN_OUT:
        step = gcd(*(n for cut in cuts for n in (cut.step, cut.phase - cuts[0].phase)))
        cuts = (Cut(step, cuts[0].phase % step),)
    return Slices(cuts)


def _from_stream(
    table: Table, query: Query, groups: Sequence[Group], metadata: dict[str, int]
) -> DataFrame:
    """The same, by one aggregation over the ends at which each row counts."""
    writer = SparkWriter()
    exploded = table.rows.select(*table.keys, "t", F.inline(F.expr(group_ends(groups, "t"))))
    at = F.expr(writer.instant("end", table.time_type))
    keyed = exploded.select(
        *(*table.keys, "t", "g"),
        at.alias("at", metadata=metadata),
        F.expr(guard(query, query.windows)).alias("guard"),
    )
    grouped = keyed.groupBy("at", "g", "guard", *table.keys).agg(F.max("t").alias("last"))
    end = F.expr(writer.microseconds("at", table.time_type)).alias("end")
    return grouped.select(*table.keys, "last", "g", end)


def _lay_out(
    rows: DataFrame, table: Table, query: Query, groups: Sequence[Group], layout: str
) -> DataFrame:
    held = rows.withColumn("held", F.expr(holders(groups)))
    items = [F.col(k).alias(name) for k, name in zip(table.keys, query.keys, strict=True)]

    def at(sql: str, name: str) -> Column:
        return F.expr(SparkWriter().instant(sql, table.time_type)).alias(name)

    if layout == "long":
        each = held.select(*table.keys, "last", "end", F.inline("held"))
        window = window_column("(end - range)", "end", table.time_type).alias("window")
        return each.select(F.col("id").alias("window_id"), window, *items, at("last", "last_seen"))
    return held.select(
        F.expr("held[0].id").alias("window_id"),
        at("end", "window_end"),
        *items,
        at("last", "last_seen"),
        at("(last + held[0].range)", "expires"),
        F.expr("transform(held, w -> w.id)").alias("windows"),
    )

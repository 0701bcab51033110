"""A join over nested windows on Spark: pairs are looked for once, within the widest window.

Two rows meet in a window if an instance holds both. With t⁻ and t⁺ the earlier and the later time,
that is at every end of the window in (t⁺, t⁻ + range]; so the ends at which a pair is held by each
window follow from its times, and no window needs a join of its own (`muntin.nesting.join`).

batch    an equality join on the keys and a stretch of time as long as the widest range; a right row
         is copied into three stretches, so that each pair is found once
stream   Spark's own stream-stream join, with bounds on both times, so that it drops what no window
         can hold any more
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from muntin.dialects.spark_text import SparkWriter
from muntin.engines.spark.finishing import window_column
from muntin.engines.spark.names import find_column
from muntin.engines.spark.nested_windows import members
from muntin.engines.spark.operators.distinct import check_layout
from muntin.engines.spark.session_facts import check_table
from muntin.engines.spark.streaming import Streaming, set_watermark
from muntin.model.query import Query

RESERVED = ("left", "right", "expires", "windows")
_HELD = """
filter(transform({windows}, w -> named_struct(
    'id', w.id, 'range', w.range, 'slide', w.slide,
    'first', later - pmod(later - w.phase, w.slide) + w.slide,
    'last', earlier + w.range - pmod(earlier + w.range - w.phase, w.slide))),
  h -> h.first <= h.last)
"""


def run(
    left: DataFrame,
    right: DataFrame,
    queries: tuple[Query, Query],
    layout: str,
    streaming: Streaming,
) -> DataFrame:
    """Pairs with equal keys; the two queries name each side's time, and the keys and windows."""
    on, windows = queries[0].keys, queries[0].windows
    check_layout(layout, on, RESERVED)
    sides = [
        _side(df, query, prefix, streaming)
        for df, query, prefix in zip((left, right), queries, ("l", "r"), strict=True)
    ]
    streams = {bool(df.isStreaming) for df in (left, right)}
    paired = _stream if True in streams else _batch
    pairs = paired(sides[0], sides[1], max(w.range for w in windows))
    times = pairs.withColumns({"earlier": F.least("lt", "rt"), "later": F.greatest("lt", "rt")})
    held = times.withColumn("held", F.expr(_HELD.format(windows=members(windows))))
    return _lay_out(held.where("size(held) > 0"), on, sides[0].kind, layout)


@dataclass(frozen=True, slots=True)
class _Side:
    """The rows of one side as a struct, with keys, time and microseconds under plain names."""

    rows: DataFrame
    kind: str
    keys: int


def _side(df: DataFrame, query: Query, prefix: str, streaming: Streaming) -> _Side:
    check_table(df)
    marked = set_watermark(df, query, streaming) if df.isStreaming else df
    time = find_column(query.time, df.columns, "time")
    keys = [find_column(key, df.columns, "key") for key in query.keys]
    kind = df.select(F.expr(time)).schema[0].dataType.simpleString()
    rows = marked.select(
        F.struct("*").alias({"l": "left", "r": "right"}[prefix]),
        F.expr(time).alias(f"{prefix}time"),
        F.expr(SparkWriter().microseconds(time, kind)).alias(f"{prefix}t"),
        *(F.expr(key).alias(f"{prefix}{i}") for i, key in enumerate(keys)),
    )
    return _Side(rows, kind, len(keys))


def _equal(side: _Side) -> list[Column]:
    return [F.col(f"l{i}") == F.col(f"r{i}") for i in range(side.keys)]


def _batch(left: _Side, right: _Side, widest: int) -> DataFrame:
    """Each left row looks at its own stretch, in which right rows of all three stand."""
    own = left.rows.withColumn("ls", F.expr(f"lt - pmod(lt, {widest}L)"))
    begin = f"(rt - pmod(rt, {widest}L))"
    around = f"explode(array({begin} - {widest}L, {begin}, {begin} + {widest}L))"
    others = right.rows.withColumn("rs", F.expr(around))
    near = F.expr(f"abs(lt - rt) < {widest}L")
    return own.join(others, [*_equal(left), F.col("ls") == F.col("rs"), near])


def _stream(left: _Side, right: _Side, widest: int) -> DataFrame:
    reach = f"INTERVAL {widest} MICROSECONDS"
    bounds = [F.expr(f"ltime >= rtime - {reach}"), F.expr(f"rtime >= ltime - {reach}")]
    return left.rows.join(right.rows, [*_equal(left), *bounds])


def _lay_out(held: DataFrame, on: Sequence[str], kind: str, layout: str) -> DataFrame:
    keys = [F.col(f"l{i}").alias(name) for i, name in enumerate(on)]
    instant = SparkWriter().instant
    if layout == "long":
        each = held.select("*", F.inline("held"))
        ends = each.withColumn("end", F.expr("explode(sequence(first, last, slide))"))
        window = window_column("(end - range)", "end", kind).alias("window")
        return ends.select(F.col("id").alias("window_id"), window, *keys, "left", "right")
    windows = (
        "transform(held, h -> named_struct('window_id', h.id, "
        f"'first_end', {instant('h.first', kind)}, 'expires', {instant('h.last', kind)}))"
    )
    return held.select(
        F.expr("held[0].id").alias("window_id"),
        *keys,
        "left",
        "right",
        F.expr(instant("held[0].last", kind)).alias("expires"),
        F.expr(windows).alias("windows"),
    )

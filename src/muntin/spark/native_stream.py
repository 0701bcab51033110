"""The native operator: all windows of a stream in one stateful aggregation of Spark's own.

    pre-aggregated instances ─┬─ groupBy(window, which, guard, keys) ─ results
    or rows, copied          ─┘

Each partial carries its instance as a struct (start, end), of which Spark is told that it is the
event time: so it judges lateness, evicts state and emits exactly as for its own window(), instance
by instance, in append, update and complete mode.

State is keyed by a number that depends on the window alone (`stable_number`), never on its place
in the list. The guard (muntin.spark.guard) makes Spark refuse a checkpoint of another query or of
another set of windows, which else it would silently mix. Where the windows that a checkpoint was
started with are named, those that are kept go on exactly, and rows of those gone are left out.
"""

from __future__ import annotations

from hashlib import blake2b

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from muntin.coverage import every
from muntin.physical import Level, feeds_of
from muntin.physical.lowering import FROM_SOURCE
from muntin.physical.stream_operators import GROWING
from muntin.spark.batch import lookup, results
from muntin.spark.expand import copied
from muntin.spark.guard import guard
from muntin.spark.stream_source import DELAY, StreamSource
from muntin.sql.spark_text import SparkWriter
from muntin.windows import Window

EVENT_TIME = {DELAY: 0}
"""Tells Spark that a column is the event time; the delay was taken off where rows came in."""


def by_native(source: StreamSource, started_with: tuple[Window, ...]) -> DataFrame:
    """The rows of all windows asked for."""
    partials = source.table.columns.partials
    if not_pre_aggregated(source) is None:
        rows, merges = source.instances(), [p.merge for p in partials]
    else:
        rows, merges = _copies(source), [p.lift for p in partials]
    keyed = rows.withColumns(
        {
            "window": _instance(source),
            "which": F.expr(lookup(_numbers(source))),
            "guard": F.expr(guard(source.query, started_with)),
        }
    ).withColumn(
        "window", F.col("window").alias("window", metadata=EVENT_TIME if source.watermarked else {})
    )
    merged = [F.expr(text).alias(p.name) for text, p in zip(merges, partials, strict=True)]
    grouped = keyed.groupBy("window", "which", "guard", *source.table.keys).agg(*merged)
    return _finished(_kept(grouped, source, started_with), source)


def not_pre_aggregated(source: StreamSource) -> str | None:
    """Why rows are copied into their instances one by one, or None."""
    growing = any(GROWING in p.merge for p in source.table.columns.partials)
    return source.refusal or ("its partials do not merge in bounded state" if growing else None)


def stable_number(window: Window) -> int:
    """A number of 64 bits for a window, the same in every query and every run.

    >>> stable_number(Window(10, 5)) == stable_number(Window(10, 5, id="other"))
    True
    """
    text = f"{window.range}/{window.slide}/{window.offset}"
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big", signed=True)


def _windows(source: StreamSource) -> dict[int, Window]:
    """The windows asked for by their position in the plan."""
    return {number: w for base in source.bases for number, w in base.windows.items()}


def _numbers(source: StreamSource) -> dict[int, int]:
    return {number: stable_number(w) for number, w in _windows(source).items()}


def _copies(source: StreamSource) -> DataFrame:
    """Every row once for each instance that it belongs to."""
    feeds = [f for i, w in _windows(source).items() for f in feeds_of(i, w, every(w.range))]
    return copied(source.table, Level({FROM_SOURCE: tuple(feeds)}, {}))


def _instance(source: StreamSource) -> Column:
    instant, kind = SparkWriter().instant, source.table.time_type
    end = f"(start + {lookup({i: w.range for i, w in _windows(source).items()})})"
    return F.struct(
        F.expr(instant("start", kind)).alias("start"), F.expr(instant(end, kind)).alias("end")
    )


def _kept(grouped: DataFrame, source: StreamSource, started_with: tuple[Window, ...]) -> DataFrame:
    """Without the rows of windows that are gone, which the state still holds and gives out."""
    if set(started_with) == set(source.query.windows):
        return grouped
    known = ", ".join(str(stable_number(w)) for w in source.query.windows)
    # uuid() keeps Spark from moving the filter below the aggregation, where state does not pass.
    return grouped.where(f"which IN ({known}) OR uuid() = ''")


def _finished(grouped: DataFrame, source: StreamSource) -> DataFrame:
    """The results under the user's names."""
    ids = {stable_number(w): w.id for w in source.query.windows}
    cases = " ".join(f"WHEN {n} THEN {SparkWriter().literal(id)}" for n, id in ids.items())
    keys = zip(source.table.keys, source.query.keys, strict=True)
    return grouped.select(
        F.expr(f"CASE which {cases} END").alias("window_id"),
        "window",
        *(F.col(k).alias(name) for k, name in keys),
        *results(source.table.columns),
    )

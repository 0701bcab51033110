"""A join over nested windows on Spark: pairs are looked for once, within the widest windows.

Each side has its windows. A pair is held by two of them at every common end in (t⁺, t⁻], where t⁺
is the later time and t⁻ the first at which one of the two rows is no longer held; so the ends
follow from the times, and no window needs a join of its own (`muntin.nesting.joint`).

batch    an equality join on the keys and a stretch of time as long as the widest range; a right row
         is copied into each stretch that it reaches, three at most, so that each pair is found once
stream   Spark's own stream-stream join, with bounds on both times, so that it drops what no window
         can hold any more; rows before the watermark are late, and dropped
control  windows that come and go need the rows that met before: buckets of our own keep them
         (`controlled_join`)

A condition on both rows is part of the join. The state of a stream is that of the windows and the
condition that it was started with: a guard in its key has Spark refuse others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from muntin.dialects.lists import SparkLists
from muntin.dialects.nested import NestedText
from muntin.dialects.pair_condition import pair_condition
from muntin.dialects.spark_text import SparkWriter
from muntin.engines.spark.controlled_join import (
    CONTROLLED_STEPS,
    check_controlled,
    join_controlled,
)
from muntin.engines.spark.faults import translate_refusals
from muntin.engines.spark.finishing import window_column
from muntin.engines.spark.guard import check_guarded, guarded_zero
from muntin.engines.spark.join_sides import JoinSide, read_side
from muntin.engines.spark.streaming import Streaming
from muntin.errors import QueryError, shown
from muntin.nesting.questions import WindowJoin
from muntin.physical.operators.join import describe, stretch

TEXT = NestedText(SparkLists())
_BATCH_STEPS = "rows meet by keys and stretches of time, right rows in each that they reach"
_STREAM_STEPS = "Spark's own join of the two, with these bounds, keeps the rows that they need"


@dataclass(frozen=True, slots=True)
class SparkJoin:
    """A question about pairs, bound to two DataFrames."""

    left: DataFrame
    right: DataFrame
    asked: WindowJoin
    streaming: Streaming

    def run(self) -> DataFrame:
        """The pairs, in the layout asked for."""
        return run(self.left, self.right, self.asked, self.streaming)

    def explain(self) -> list[str]:
        """How pairs are found, and the windows."""
        if self.streaming.control is not None:
            sides = _sides(self.left, self.right, self.asked, self.streaming)
            _condition(sides, self.asked)
            check_controlled(sides, self.asked, self.streaming)
            return describe(self.asked, "on streams of Spark", CONTROLLED_STEPS)
        run(self.left, self.right, self.asked, self.streaming)  # refuses what cannot run
        if self.left.isStreaming or self.right.isStreaming:
            return describe(self.asked, "on streams of Spark", _STREAM_STEPS)
        return describe(self.asked, "on Spark", _BATCH_STEPS)


def run(left: DataFrame, right: DataFrame, asked: WindowJoin, streaming: Streaming) -> DataFrame:
    """Pairs with equal keys that a window holds and for which the condition holds."""
    sides = _sides(left, right, asked, streaming)
    condition = _condition(sides, asked)
    if streaming.control is not None:
        return join_controlled(sides, asked, condition, streaming)
    if left.isStreaming or right.isStreaming:
        check_guarded(left.sparkSession)
        pairs = _stream(sides, asked, condition)
    else:
        pairs = _batch(sides, asked, condition)
    held = pairs.withColumn("held", F.expr(TEXT.held(asked.windows)))
    return _lay_out(held.where("size(held) > 0"), asked, sides[0].kind)


def _sides(
    left: DataFrame, right: DataFrame, asked: WindowJoin, streaming: Streaming
) -> list[JoinSide]:
    return [
        read_side(df, query, prefix, streaming)
        for df, query, prefix in zip((left, right), (asked.left, asked.right), "lr", strict=True)
    ]


def _condition(sides: Sequence[JoinSide], asked: WindowJoin) -> list[Column]:
    """The condition on a pair, found to be one that Spark can compute: true or false."""
    if asked.where is None:
        return []
    if isinstance(asked.where, str):
        columns = {"left": sides[0].columns, "right": sides[1].columns}
        tree = pair_condition(asked.where, columns, asked.on)
        condition = F.expr(SparkWriter().expression(tree))
    elif isinstance(asked.where, Column):
        condition = asked.where
    else:
        raise QueryError(
            f"where {shown(asked.where)} must be an SQL condition, as text: "
            "where='left.price < right.price', or a Column of Spark's"
        )
    words = shown(asked.where) if isinstance(asked.where, str) else str(asked.where)
    with translate_refusals(f"where {words} cannot be evaluated"):
        both = sides[0].rows.select("left").crossJoin(sides[1].rows.select("right"))
        both.where(condition).schema  # noqa: B018
    return [condition]


def _equal(asked: WindowJoin) -> list[Column]:
    return [F.col(f"l{i}") == F.col(f"r{i}") for i, _ in enumerate(asked.on)]


def _batch(sides: Sequence[JoinSide], asked: WindowJoin, condition: list[Column]) -> DataFrame:
    """Each left row looks at its own stretch, in which right rows of all that they reach stand."""
    ahead, behind = asked.reach
    step = stretch(asked)

    def begin(instant: str) -> str:
        return SparkWriter().latest(instant, 0, step)

    first, last = begin(f"(rt - {ahead - 1}L)"), begin(f"(rt + {behind - 1}L)")
    own = sides[0].rows.withColumn("ls", F.expr(begin("lt")))
    others = sides[1].rows.withColumn("rs", F.expr(f"explode(sequence({first}, {last}, {step}L))"))
    near = F.expr(f"rt - lt < {ahead}L AND lt - rt < {behind}L")
    return own.join(others, [*_equal(asked), F.col("ls") == F.col("rs"), near, *condition])


def _stream(sides: Sequence[JoinSide], asked: WindowJoin, condition: list[Column]) -> DataFrame:
    ahead, behind = (f"INTERVAL {length} MICROSECONDS" for length in asked.reach)
    bounds = [F.expr(f"ltime >= rtime - {ahead}"), F.expr(f"rtime >= ltime - {behind}")]
    meaning = (
        *((query.time, query.keys) for query in (asked.left, asked.right)),
        sorted(each.order for each in asked.windows),
        None if asked.where is None else str(asked.where),
    )
    left, right = (
        side.rows.withColumn(f"{prefix}guard", F.expr(guarded_zero(meaning, f"{prefix}0")))
        for side, prefix in zip(sides, "lr", strict=True)
    )
    same = [*_equal(asked), F.col("lguard") == F.col("rguard")]
    return left.join(right, [*same, *bounds, *condition])


def _lay_out(held: DataFrame, asked: WindowJoin, kind: str) -> DataFrame:
    keys = [F.col(f"l{i}").alias(name) for i, name in enumerate(asked.on)]
    instant = SparkWriter().instant
    if asked.layout == "long":
        each = held.select("*", F.inline("held"))
        ends = each.withColumn("stop", F.expr("explode(sequence(first, last, slide))"))
        windows = [window_column("(stop - l_reach)", "stop", kind, "window")]
        if asked.paired:
            windows += [window_column("(stop - r_reach)", "stop", kind, "right_window")]
        return ends.select(F.col("id").alias("window_id"), *windows, *keys, "left", "right")
    windows_held = (
        "transform(held, h -> named_struct('window_id', h.id, "
        f"'first_end', {instant('h.first', kind)}, 'expires', {instant('h.last', kind)}))"
    )
    return held.select(
        F.expr("held[0].id").alias("window_id"),
        *keys,
        "left",
        "right",
        F.expr(instant("held[0].last", kind)).alias("expires"),
        F.expr(windows_held).alias("windows"),
    )

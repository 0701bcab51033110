"""Spark's own evaluation of trailing windows: RANGE frames, and a range join for the rest.

    RANGE frames   the rows are the events, windows have a duration or no end, and Spark takes the
                   function over a frame
    range join     other events, windows of so many rows or with a grain, functions that Spark has
                   for groups only: each row with all events that it may reach, grouped by the row

The judge of our features, and what runs where our kernel cannot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_

from pyspark.sql import Column, DataFrame
from pyspark.sql import Window as Over
from pyspark.sql import functions as F

from muntin.aggregates import Aggregate
from muntin.aggregates.columns import Input, distinct_inputs, inputs_of
from muntin.aggregates.signatures import has_no_order
from muntin.dialects.spark_text import SparkWriter
from muntin.engines.spark.faults import REFUSALS, silence_log
from muntin.engines.spark.names import column, find_column
from muntin.engines.spark.own_windows import own_call
from muntin.engines.spark.session_facts import version_of
from muntin.engines.spark.table import columns_in, filter_rows, input_column
from muntin.errors import StrategyError
from muntin.model.as_of import AsOf
from muntin.model.frames import Trailing


def run_own_frames(rows: DataFrame, asked: AsOf, events: DataFrame | None = None) -> DataFrame:
    """The rows with the features of these aggregates, as Spark itself computes them."""
    for aggregate in asked.aggregates:
        if aggregate.function.in_python:
            raise StrategyError(
                f"{aggregate.name} is written in Python, which Spark's own frames cannot call: "
                "use operator 'frames'"
            )
    framed, others = split_own(rows, asked, events)
    found = rows
    if framed:
        found = _by_frames(found, asked.about(framed))
    if others:
        found = _by_join(found, asked.about(others), found if events is None else events)
    names = [*rows.columns, *asked.columns]
    return found.select(*map(column, names))


def split_own(
    rows: DataFrame, asked: AsOf, events: DataFrame | None
) -> tuple[tuple[Aggregate, ...], tuple[Aggregate, ...]]:
    """The aggregates that RANGE frames compute, and those that need a join."""
    if events is not None or any(f.rows is not None or f.grain for f in asked.frames):
        return (), asked.aggregates
    framed = tuple(a for a in asked.aggregates if _is_framed(rows, asked.about((a,))))
    return framed, tuple(a for a in asked.aggregates if a not in framed)


def _is_framed(rows: DataFrame, asked: AsOf) -> bool:
    """Whether Spark takes this aggregate over a frame."""
    try:
        with silence_log():
            _by_frames(rows, asked).schema  # noqa: B018
    except REFUSALS:
        return False
    return True


def _by_frames(rows: DataFrame, asked: AsOf) -> DataFrame:
    names = columns_in(rows)
    time, instant = _instant(rows, asked.time)
    known = f"{time} IS NOT NULL"
    query = asked.events
    own = tuple(
        (a.filter(query.where) if query.where else a).filter(known) for a in asked.aggregates
    )
    inputs = distinct_inputs(own)
    keys = [find_column(key, names, "key") for key in asked.keys]
    plain = rows.select(
        F.struct(*(column(name).alias(f"c{i}") for i, name in enumerate(names))).alias("r"),
        instant.alias("t"),
        *(F.expr(sql).alias(f"k{i}") for i, sql in enumerate(keys)),
        *(input_column(each, names).alias(f"v{i}") for i, each in enumerate(inputs)),
    )
    version = version_of(rows.sparkSession)
    own_keys = [F.col(f"k{i}") for i, _ in enumerate(keys)] or [F.lit(0)]
    by = Over.partitionBy(*own_keys).orderBy("t")
    features = [
        F.when(
            F.col("t").isNotNull(),
            _own(filtered, inputs, version).over(by.rangeBetween(*_offsets(frame, asked.closed))),
        ).alias(asked.column(a, frame))
        for a, filtered in zip(asked.aggregates, own, strict=True)
        for frame in asked.frames
    ]
    return plain.select(*(F.col(f"r.c{i}").alias(name) for i, name in enumerate(names)), *features)


def _offsets(frame: Trailing, closed: str) -> tuple[int, int]:
    """The bounds of a RANGE frame, both inclusive, relative to the row in microseconds."""
    end = -frame.delay - (0 if closed in ("right", "both") else 1)
    if frame.length is None:
        return Over.unboundedPreceding, end
    start = -frame.delay - frame.length + (0 if closed in ("left", "both") else 1)
    return start, end


def _own(aggregate: Aggregate, inputs: Sequence[Input], version: tuple[int, ...]) -> Column:
    """Spark's own function over inputs v0, v1, …"""
    own = [f"v{inputs.index(each)}" for each in inputs_of(aggregate)]
    return _call(aggregate, own, version)


def _call(aggregate: Aggregate, own: list[str], version: tuple[int, ...]) -> Column:
    if aggregate.function.name == "product":  # which Spark has for DataFrames but not in SQL
        return F.product(F.expr(own[0]))
    return F.expr(own_call(aggregate.function.native(), version).format(*own))


def _instant(df: DataFrame, name: str) -> tuple[str, Column]:
    """The time column as SQL, and its microseconds."""
    time = find_column(name, columns_in(df), "time")
    kind = df.select(F.expr(time)).schema[0].dataType.simpleString()
    return time, F.expr(SparkWriter().microseconds(time, kind))


@dataclass(frozen=True, slots=True)
class _Side:
    """The events of a join under plain names: keys, time, inputs and what orders ties."""

    rows: DataFrame
    inputs: tuple[Input, ...]
    ties: tuple[str, ...]


def _events(asked: AsOf, df: DataFrame) -> _Side:
    names, query = columns_in(df), asked.events
    _, instant = _instant(df, query.time)
    inputs = distinct_inputs(query.aggregates)
    keys = [find_column(key, names, "key") for key in query.keys]
    order = [find_column(name, names, "order_by") for name in query.order_by]
    plain = filter_rows(df, query.where).select(
        instant.alias("at"),
        *(F.expr(sql).alias(f"e{i}") for i, sql in enumerate(keys)),
        *(input_column(each, names).alias(f"v{i}") for i, each in enumerate(inputs)),
        *(F.expr(sql).alias(f"o{i}") for i, sql in enumerate(order)),
    )
    values = [f"v{i}" for i, _ in enumerate(inputs)]
    kinds = dict(plain.dtypes)
    ties = [f"o{i}" for i, _ in enumerate(order)] + [
        v for v in values if not has_no_order(kinds[v])
    ]
    return _Side(plain.where("at IS NOT NULL"), inputs, tuple(ties))


def _by_join(rows: DataFrame, asked: AsOf, events: DataFrame) -> DataFrame:
    names, side = columns_in(rows), _events(asked, events)
    _, instant = _instant(rows, asked.time)
    keys = [find_column(key, names, "key") for key in asked.keys]
    left = rows.select(
        F.struct(*(column(name).alias(f"c{i}") for i, name in enumerate(names))).alias("r"),
        F.monotonically_increasing_id().alias("id"),
        instant.alias("t"),
        *(F.expr(sql).alias(f"k{i}") for i, sql in enumerate(keys)),
    )
    reach = "" if asked.reach is None else f" AND at >= t - {asked.reach}L"
    near = [F.expr(f"at <= t{reach}")]
    near += [F.col(f"k{i}").eqNullSafe(F.col(f"e{i}")) for i, _ in enumerate(keys)]
    both = left.join(side.rows, reduce(and_, near), "left")
    for i, frame in enumerate(asked.frames):
        both = _mark(both, f"w{i}", frame, asked.closed, side.ties)
    version = version_of(rows.sparkSession)
    features = [
        F.when(F.first("t").isNotNull(), _over_join(a, f"w{i}", side, version)).alias(f"x{n}_{i}")
        for n, a in enumerate(asked.aggregates)
        for i, _ in enumerate(asked.frames)
    ]
    grouped = both.groupBy("id").agg(F.first("r").alias("r"), *features)
    return grouped.select(
        *(F.col(f"r.c{i}").alias(name) for i, name in enumerate(names)),
        *(
            F.col(f"x{n}_{i}").alias(asked.column(a, frame))
            for n, a in enumerate(asked.aggregates)
            for i, frame in enumerate(asked.frames)
        ),
    )


def _mark(
    both: DataFrame, name: str, frame: Trailing, closed: str, ties: Sequence[str]
) -> DataFrame:
    """Whether the event of a pair lies in the frame of its row."""
    start, end = _offsets(frame, closed)
    bounds = [F.expr(f"at <= t + ({end}L)")]
    if frame.length is not None:
        bounds.append(F.expr(f"at >= {_since(frame, start)}"))
    both = both.withColumn(name, F.coalesce(reduce(and_, bounds), F.lit(False)))
    if frame.rows is None:
        return both
    newest = Over.partitionBy("id", name).orderBy(F.desc("at"), *map(F.desc, ties))
    turn = both.withColumn("turn", F.row_number().over(newest))
    return turn.withColumn(name, F.expr(f"{name} AND turn <= {frame.rows}")).drop("turn")


def _since(frame: Trailing, start: int) -> str:
    """The first instant of a frame, as SQL."""
    if not frame.grain or frame.length is None:
        return f"t + ({start}L)"
    bound = f"(t - {frame.delay + frame.length}L)"
    inside = start + frame.delay + frame.length  # 0, or 1 where the bound itself does not belong
    return f"{bound} - pmod({bound}, {frame.grain}L) + {inside}L"


def _over_join(aggregate: Aggregate, mark: str, side: _Side, version: tuple[int, ...]) -> Column:
    own = [f"v{side.inputs.index(each)}" for each in inputs_of(aggregate)] or ["1"]
    return _call(aggregate, [f"(CASE WHEN {mark} THEN {v} END)" for v in own], version)

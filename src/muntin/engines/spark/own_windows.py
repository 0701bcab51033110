"""Spark's own evaluation: one window() query for each window, in a union.

The judge of our rows, and what a plan without sharing comes down to.

Spark 4.0 is asked for corr in other words. In ANSI mode it divides by zero where a column does not
vary; later versions give null there, and so for a single row and for a NaN beside such a column.
The same value without that division is the covariance by the deviations, of the rows where neither
column is null.
"""

from __future__ import annotations

import re
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from muntin.aggregates import Aggregate
from muntin.aggregates.columns import Input, distinct_inputs, inputs_of
from muntin.engines.spark.names import column, find_column
from muntin.engines.spark.session_facts import Version, version_of
from muntin.engines.spark.table import filter_rows, input_column
from muntin.errors import StrategyError
from muntin.model.data_windows import DataWindow, Session
from muntin.model.query import Query
from muntin.model.windows import Window

MOST_COPIES = 3_000
"""Instances of a row that Spark's window() is asked to write out: its plan has an expression for
each. With 3,000 it works, slowly; with 10,000 it fails after minutes."""

_CORR = re.compile(r"\bcorr\((\{\d+\}), (\{\d+\})\)")


def run_own_windows(df: DataFrame, query: Query) -> DataFrame:
    """The long result of the query as Spark itself computes it."""
    columns, inputs = df.columns, distinct_inputs(query.aggregates)
    rows = filter_rows(df, query.where).select(
        F.expr(find_column(query.time, columns, "time")).alias("t"),
        *(F.expr(find_column(k, columns, "key")).alias(f"k{i}") for i, k in enumerate(query.keys)),
        *(input_column(each, columns).alias(f"v{i}") for i, each in enumerate(inputs)),
    )
    time = F.col("t")
    if query.set_back:
        time = time - F.expr(f"INTERVAL '{query.set_back}' MICROSECOND")
    keys = [F.col(f"k{i}").alias(k) for i, k in enumerate(query.keys)]
    version = version_of(df.sparkSession)
    results = [_own_aggregate(a, inputs, version) for a in query.aggregates]
    names = ["window", *query.keys, *(a.name for a in query.aggregates)]

    def compute(window: Window | DataWindow) -> DataFrame:
        grouped = rows.groupBy(_own_window(window, time).alias("window"), *keys).agg(*results)
        named = (column(name) for name in names)
        return grouped.select(F.lit(window.id).alias("window_id"), *named)

    windows: list[Window | DataWindow] = [*query.windows, *query.data_windows]
    return reduce(DataFrame.unionAll, map(compute, windows))


def _own_window(window: Window | DataWindow, time: Column) -> Column:
    if isinstance(window, Session) and window.maximum is None:
        return F.session_window(time, f"{window.gap} microseconds")
    if not isinstance(window, Window):
        raise StrategyError(
            f"Spark has no window of its own to compare {window.id!r} with: "
            "leave it out, or compare with muntin.data_windows.evaluate"
        )
    if window.overlap > MOST_COPIES:
        raise StrategyError(
            f"Spark's own window() cannot compute {window.id!r}: it would write out "
            f"{window.overlap:,.0f} copies of a row, and at most {MOST_COPIES:,} are tried; use "
            "operator 'expand' or 'kernel', and verify a longer slide"
        )
    lengths = (window.range, window.slide, window.offset)
    return F.window(time, *(f"{n} microseconds" for n in lengths))


def _own_aggregate(aggregate: Aggregate, inputs: tuple[Input, ...], version: Version) -> Column:
    """The aggregate by Spark's own function."""
    own = [f"v{inputs.index(each)}" for each in inputs_of(aggregate)] or ["1"]
    if aggregate.function.name == "product":  # which Spark has for DataFrames but not in SQL
        return F.product(F.expr(own[0])).alias(aggregate.name)
    call = own_call(aggregate.function.native(), version)
    return F.expr(call.format(*own)).alias(aggregate.name)


def own_call(text: str, version: Version) -> str:
    """Spark's own call of an aggregate over {0}, {1}, …, as this version must be asked for it.

    >>> own_call("corr({0}, {1})", (4, 3)), own_call("sum({0})", (4, 0))
    ('corr({0}, {1})', 'sum({0})')
    >>> own_call("corr({0}, {1})", (4, 0)).split(" / ")[0]
    'CASE WHEN regr_count({1}, {0}) > 1 THEN covar_pop({0}, {1})'
    """
    return text if version >= (4, 1) else _CORR.sub(_by_deviations, text)


def _by_deviations(call: re.Match[str]) -> str:
    x, y = call[1], call[2]
    deviations = [
        f"nullif(stddev_pop(CASE WHEN {other} IS NOT NULL THEN CAST({one} AS DOUBLE) END), 0D)"
        for one, other in ((x, y), (y, x))
    ]
    value = " / ".join([f"covar_pop({x}, {y})", *deviations])
    return f"CASE WHEN regr_count({y}, {x}) > 1 THEN {value} END"

"""sql: a query in the language of Azure Stream Analytics, planned and run on its input."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from muntin.api.optimize import optimize
from muntin.errors import QueryError
from muntin.query import Query
from muntin.sql import parse_statement
from muntin.sql.rendering import shift_of
from muntin.sql.spark_text import SparkWriter

_TIME = "muntin_time"


def sql(
    text: str,
    spark: Any = None,
    bounds: str = "spark",
    strategy: str = "auto",
    rate: float = 100.0,
    distinct_keys: float = 1,
    **tables: Any,
) -> Any:
    """The long result of an ASA query; its input is given by name, or is a table of the session.

    With bounds="asa" an instance is (start, end] as in ASA, else [start, end) as in Spark.
    """
    shift = shift_of(bounds)
    statement = parse_statement(text)
    if spark is not None and not any(n.lower() == statement.table.lower() for n in tables):
        data = spark.table(SparkWriter().quoted(statement.table))
    else:
        data = statement.input_of(tables)
    plan = optimize(statement.query, strategy, rate, distinct_keys)
    from muntin.embedded import apply, handles

    if handles(data):
        return apply(plan.tree, plan.query, data, bounds)
    if not shift:
        return plan.apply(data)
    moved, query = _set_back(data, statement.query, shift)
    return replace(plan, query=query).apply(moved)


def _set_back(df: Any, query: Query, shift: int) -> tuple[Any, Query]:
    """The time set back in a column of its own: aggregates of the time itself stay right."""
    if _TIME in df.columns:
        raise QueryError(f"the input has a column {_TIME!r}: rename it to use bounds='asa'")
    time = SparkWriter().quoted(query.time)
    earlier = f"{time} - INTERVAL {shift} MICROSECOND AS {_TIME}"
    return df.selectExpr("*", earlier), replace(query, time=_TIME)

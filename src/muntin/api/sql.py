"""sql: a query in the language of Azure Stream Analytics, planned and run on its input."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from muntin.api.engine import engine_of
from muntin.api.optimize import optimize
from muntin.errors import StrategyError, shown
from muntin.model.choices import Bounds, Strategy
from muntin.model.query import Query

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def parse_sql(text: str) -> Query:
    """The query of an Azure Stream Analytics text, as mt.query would make it; nothing runs.

    A `text` that is no such query is refused with the place in it.

    >>> parse_sql("SELECT min(t) FROM Input TIMESTAMP BY ts GROUP BY TumblingWindow(hour, 1)").time
    'ts'
    """
    from muntin.dialects import parse_sql as parse

    return parse(text)


def sql(
    text: str,
    spark: SparkSession | None = None,
    bounds: Bounds = "spark",
    strategy: Strategy = "auto",
    rate: float | None = None,
    distinct_keys: float | None = None,
    **tables: object,
) -> Any:
    """The long result of an ASA query; its input is given by name, or is a table of the session.

    text      the query: docs/sql.md has the dialect
    tables    its input, under the name that the text calls it by: `Trips=trips`
    spark     or a session that has a table of that name
    bounds    "asa": an instance is (start, end] as in ASA; "spark", the default: [start, end)
    strategy  how the plan is found; `rate` and `distinct_keys` are what is known of the data

    The result is of the kind of its input. A text that is no such query is refused with the place
    in it.

    >>> import muntin as mt, pyarrow as pa
    >>> from datetime import datetime
    >>> times = [datetime(2026, 1, 1, 0, minute) for minute in (1, 9, 25)]
    >>> trips = pa.table({"at": times, "toll": [2, 3, 4]})
    >>> text = (
    ...     "SELECT System.Window().Id, Sum(toll) AS paid FROM Trips TIMESTAMP BY at "
    ...     "GROUP BY Windows(Window('short', TumblingWindow(minute, 10)), "
    ...     "Window('long', TumblingWindow(minute, 30)))"
    ... )
    >>> found = mt.sql(text, Trips=trips).to_pylist()
    >>> sorted((row["window_id"], row["paid"]) for row in found)
    [('long', 9), ('short', 4), ('short', 5)]
    """
    from muntin.dialects import parse_statement

    statement = parse_statement(text)
    query = replace(statement.query, bounds=bounds)
    if spark is not None and not hasattr(spark, "table"):
        raise StrategyError(f"spark {shown(spark)} must be a Spark session")
    if spark is not None and not any(n.lower() == statement.table.lower() for n in tables):
        from muntin.engines.spark.names import find_table

        data: object = find_table(spark, statement.table)
    else:
        data = statement.input_of(tables)
    engine = engine_of(data).name
    return optimize(query, strategy, rate, distinct_keys, engine=engine).apply(data)

"""The prepared table: keys, time and inputs under plain names, whatever the user's names are.

    k0, k1, …   keys            t   microseconds            v0, v1, …   inputs of the aggregates

Rows without a time are dropped; a filtered input is null where its filter does not hold. From here
on no name of the user's appears in any expression until the result is named.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from muntin.aggregates.columns import Columns, Input, columns_of, distinct_inputs
from muntin.errors import ColumnError
from muntin.query import Query
from muntin.spark.instants import to_microseconds
from muntin.spark.names import existing, expression


@dataclass(frozen=True, slots=True)
class Table:
    """Prepared rows, the columns of the query's aggregates, and the type of the time column."""

    rows: DataFrame
    columns: Columns
    time_type: str

    @property
    def keys(self) -> list[str]:
        """The plain names of the keys."""
        return [c for c in self.rows.columns if c.startswith("k")]


def prepared(df: DataFrame, query: Query) -> Table:
    """Resolve the query's names against the table, with a sentence for each that does not fit."""
    if not isinstance(df, DataFrame) and not hasattr(df, "isStreaming"):
        raise ColumnError(f"expected a Spark DataFrame, got {type(df).__name__}")
    columns = df.columns
    time = existing(query.time, columns, "time")
    time_type = df.select(F.expr(time)).schema[0].dataType.simpleString()
    inputs = distinct_inputs(query.aggregates)
    rows = filtered(df, query.where)
    selected = [
        *(F.expr(existing(k, columns, "key")).alias(f"k{i}") for i, k in enumerate(query.keys)),
        F.expr(to_microseconds(time, time_type, query.time)).alias("t"),
        *(F.expr(input_sql(each, columns)).alias(f"v{i}") for i, each in enumerate(inputs)),
    ]
    try:
        rows = rows.select(*selected).where("t IS NOT NULL")
        types = {f.name: f.dataType.simpleString() for f in rows.schema}
    except (AnalysisException, ParseException) as error:
        raise ColumnError(f"an aggregate cannot be computed: {first_line(error)}") from None
    kinds = {each: types[f"v{i}"] for i, each in enumerate(inputs)}
    return Table(rows, columns_of(query.aggregates, kinds.__getitem__), time_type)


def filtered(df: DataFrame, where: str | None) -> DataFrame:
    """The rows where the query's condition holds."""
    if where is None:
        return df
    try:
        rows = df.where(where)
        rows.schema  # noqa: B018  (a Connect DataFrame is analysed only when its schema is read)
    except (AnalysisException, ParseException) as error:
        raise ColumnError(f"where {where!r} cannot be evaluated: {first_line(error)}") from None
    return rows


def input_sql(each: Input, columns: list[str]) -> str:
    """An input as SQL: null where its filter does not hold."""
    value = expression(each.argument, columns)
    return f"CASE WHEN {each.predicate} THEN {value} END" if each.predicate else value


def first_line(error: Exception) -> str:
    """What Spark says, without its plan dump."""
    return str(error).strip().splitlines()[0]

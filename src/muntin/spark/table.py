"""The prepared table: keys, time and inputs under plain names, whatever the user's names are.

    k0, k1, …   keys            t   microseconds            v0, v1, …   inputs of the aggregates

Rows without a time are dropped; a filtered input is null where its filter does not hold. From here
on no name of the user's appears in any expression until the result is named.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from muntin.aggregates import Aggregate
from muntin.aggregates.columns import Columns, Input, columns_of, distinct_inputs, inputs_of
from muntin.errors import ColumnError
from muntin.query import Query
from muntin.spark.names import existing, expression
from muntin.sql.spark_text import SparkWriter


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


def prepared(df: DataFrame, query: Query, lifted: bool = True) -> Table:
    """Resolve the query's names against the table, with a sentence for each that does not fit.

    Where aggregates are not lifted but left to Spark, the table has no partial columns.
    """
    if not isinstance(df, DataFrame) and not hasattr(df, "isStreaming"):
        raise ColumnError(f"expected a Spark DataFrame, got {type(df).__name__}")
    columns, inputs = df.columns, distinct_inputs(query.aggregates)
    time = existing(query.time, columns, "time")
    keys = [existing(k, columns, "key") for k in query.keys]
    values = [input_sql(each, columns) for each in inputs]
    named = [(f"time {query.time!r}", time)]
    named += [(f"key {k!r}", sql) for k, sql in zip(query.keys, keys, strict=True)]
    named += [(f"input {each.argument!r}", sql) for each, sql in zip(inputs, values, strict=True)]
    time_type, *others = _types(df, named)
    kinds = dict(zip(inputs, others[len(keys) :], strict=True))
    rows = filtered(df, query.where).select(
        *(F.expr(sql).alias(f"k{i}") for i, sql in enumerate(keys)),
        F.expr(instant(time, time_type, query)).alias("t"),
        *(F.expr(sql).alias(f"v{i}") for i, sql in enumerate(values)),
    )
    rows = rows.where("t IS NOT NULL")
    if not lifted:
        return Table(rows, Columns(inputs, (), ()), time_type)
    _check_lifts(rows, query, kinds)
    return Table(rows, columns_of(query.aggregates, kinds.__getitem__), time_type)


def _types(df: DataFrame, named: list[tuple[str, str]]) -> list[str]:
    """The types of these expressions; the first that cannot be computed is named."""
    try:
        selected = df.select(*(F.expr(sql).alias(f"c{i}") for i, (_, sql) in enumerate(named)))
        return [field.dataType.simpleString() for field in selected.schema]
    except (AnalysisException, ParseException) as error:
        if len(named) > 1:
            for one in named:
                _types(df, [one])
        raise ColumnError(f"{named[0][0]} cannot be computed: {first_line(error)}") from None


def _check_lifts(rows: DataFrame, query: Query, kinds: dict[Input, str]) -> None:
    """Refuse an aggregate whose function does not take what it is given, by its name."""
    position = {each: f"v{i}" for i, each in enumerate(kinds)}

    def lifts(aggregate: Aggregate) -> list[Column]:
        own = inputs_of(aggregate)
        partials = aggregate.function.partials([kinds[each] for each in own])
        arguments = [position[each] for each in own]
        texts = [partial.lift for partial in partials]
        if not aggregate.function.in_python:  # a lift that casts takes more types than Spark does
            texts.append(aggregate.function.native())
        return [F.expr(text.format(*(arguments or ["1"]))) for text in texts]

    try:
        rows.agg(*(lift for each in query.aggregates for lift in lifts(each))).schema  # noqa: B018
    except (AnalysisException, ParseException):
        for aggregate in query.aggregates:
            try:
                rows.agg(*lifts(aggregate)).schema  # noqa: B018  (Connect analyses only now)
            except (AnalysisException, ParseException) as error:
                reason = first_line(error)
                raise ColumnError(f"{aggregate.name} cannot be computed: {reason}") from None
        raise


def instant(time: str, kind: str, query: Query) -> str:
    """SQL for the microseconds that decide which instances a row belongs to."""
    plain = SparkWriter().microseconds(time, kind)
    return f"{plain} - {query.set_back}L" if query.set_back else plain


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

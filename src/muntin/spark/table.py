"""The prepared table: keys, time and inputs under plain names, whatever the user's names are.

    k0, k1, …   keys            t   microseconds            v0, v1, …   inputs of the aggregates

Rows without a time are dropped; a filtered input is null where its filter does not hold. From here
on no name of the user's appears in any expression until the result is named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from muntin.aggregates import Aggregate
from muntin.aggregates.columns import Columns, Input, columns_of, distinct_inputs, inputs_of
from muntin.aggregates.signatures import has_no_order
from muntin.errors import ColumnError
from muntin.query import Query
from muntin.spark.faults import REFUSALS, told, unlogged
from muntin.spark.given import check_table
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


def prepared(
    df: DataFrame, query: Query, lifted: bool = True, extra: Mapping[str, str] | None = None
) -> Table:
    """Resolve the query's names against the table, with a sentence for each that does not fit.

    Where aggregates are not lifted but left to Spark, the table has no partial columns. `extra`
    are further columns, by plain name, as SQL that has been tried.
    """
    columns = columns_in(df)
    inputs = distinct_inputs(query.aggregates)
    time = existing(query.time, columns, "time")
    keys = [existing(k, columns, "key") for k in query.keys]
    values = [input_sql(each, columns) for each in inputs]
    chosen = filtered(df, query.where)
    types = _types(chosen, _named(query, time, keys, inputs, values))
    kinds = {each: types[sql] for each, sql in zip(inputs, values, strict=True)}
    _check_keys({name: types[sql] for name, sql in zip(query.keys, keys, strict=True)})
    rows = chosen.select(
        *(F.expr(sql).alias(f"k{i}") for i, sql in enumerate(keys)),
        F.expr(instant(time, types[time], query)).alias("t"),
        *(F.expr(sql).alias(f"v{i}") for i, sql in enumerate(values)),
        *(F.expr(sql).alias(name) for name, sql in (extra or {}).items()),
    )
    rows = rows.where("t IS NOT NULL")
    if not lifted:
        _check_unshared(query, kinds)
        return Table(rows, Columns(inputs, (), ()), types[time])
    _check_calls(chosen, query, columns)
    _check_lifts(rows, query, kinds)
    return Table(rows, columns_of(query.aggregates, kinds.__getitem__), types[time])


def columns_in(df: DataFrame) -> list[str]:
    """The names of the columns of what was given as a table."""
    check_table(df)
    with told("the DataFrame itself cannot be computed"):
        return df.columns


def kinds_of(df: DataFrame, query: Query) -> dict[Input, str]:
    """The type of every input of a query without keys."""
    columns = columns_in(df)
    inputs, time = distinct_inputs(query.aggregates), existing(query.time, columns, "time")
    values = [input_sql(each, columns) for each in inputs]
    types = _types(filtered(df, query.where), _named(query, time, [], inputs, values))
    return {each: types[sql] for each, sql in zip(inputs, values, strict=True)}


def _named(
    query: Query, time: str, keys: list[str], inputs: tuple[Input, ...], values: list[str]
) -> list[tuple[str, str]]:
    """Every expression of a row with the words for it, in the order in which to blame them."""
    named = [(f"time {query.time!r}", time)]
    named += [(f"key {k!r}", sql) for k, sql in zip(query.keys, keys, strict=True)]
    for each, sql in zip(inputs, values, strict=True):
        if each.predicate:
            named.append((f"filter {each.predicate!r}", _where("1", each.predicate)))
        named.append((f"input {each.argument!r}", sql))
    return named


def _types(df: DataFrame, named: list[tuple[str, str]]) -> dict[str, str]:
    """The types of these expressions; the first that cannot be computed is named."""

    def tried(some: list[tuple[str, str]]) -> dict[str, str]:
        selected = df.select(*(F.expr(sql).alias(f"c{i}") for i, (_, sql) in enumerate(some)))
        kinds = [field.dataType.simpleString() for field in selected.schema]
        return {sql: kind for (_, sql), kind in zip(some, kinds, strict=True)}

    try:
        with unlogged():
            return tried(named)
    except REFUSALS:
        for number, (what, _) in enumerate(named):
            with told(f"{what} cannot be computed"):
                # Beside the time, since an aggregate by itself would be a query of its own.
                tried([named[0], named[number]][: number + 1])
        raise


def _check_keys(kinds: dict[str, str]) -> None:
    """Refuse what rows cannot be ordered by, and so cannot be grouped by everywhere."""
    for name, kind in kinds.items():
        if has_no_order(kind):
            text = f"CAST({name} AS STRING)" if kind == "interval" else f"to_json({name})"
            raise ColumnError(
                f"key {name!r} is {kind}, which has no order: make a column of {text} and take "
                "that as the key"
            )


def _check_unshared(query: Query, kinds: dict[Input, str]) -> None:
    """Refuse on an older Spark, which only evaluates it directly, what newer ones refuse.

    Spark's own function may take more, such as a text, and fail over its values while a job runs.
    """
    for aggregate in query.aggregates:
        if not aggregate.function.holistic and aggregate.function.since > (4, 0):
            aggregate.function.partials([kinds[each] for each in inputs_of(aggregate)])


def _check_calls(df: DataFrame, query: Query, columns: list[str]) -> None:
    """Refuse what Spark's own function refuses: a lift that casts takes more than Spark does."""

    def call(aggregate: Aggregate) -> Column:
        function, inputs = aggregate.function, inputs_of(aggregate)
        values = [input_sql(each, columns) for each in inputs] or ["1"]
        if function.in_python:
            return F.struct(*(F.count(F.expr(value)) for value in values))
        return F.expr(function.native().format(*values))

    _tried(df, query, lambda aggregate: [call(aggregate)])


def _check_lifts(rows: DataFrame, query: Query, kinds: dict[Input, str]) -> None:
    """Refuse an aggregate whose partials cannot be made of what it is given."""
    position = {each: f"v{i}" for i, each in enumerate(kinds)}

    def lifts(aggregate: Aggregate) -> list[Column]:
        own = inputs_of(aggregate)
        arguments = [position[each] for each in own] or ["1"]
        partials = aggregate.function.partials([kinds[each] for each in own])
        return [F.expr(partial.lift.format(*arguments)) for partial in partials]

    _tried(rows, query, lifts)


def _tried(rows: DataFrame, query: Query, calls: Callable[[Aggregate], list[Column]]) -> None:
    """Analyse all calls together; if Spark refuses, one by one, to name the aggregate."""
    try:
        with unlogged():
            rows.agg(*(call for each in query.aggregates for call in calls(each))).schema  # noqa: B018
    except REFUSALS:
        for aggregate in query.aggregates:
            with told(f"{aggregate.name} cannot be computed"):
                rows.agg(*calls(aggregate)).schema  # noqa: B018
        raise


def instant(time: str, kind: str, query: Query) -> str:
    """SQL for the microseconds that decide which instances a row belongs to."""
    plain = SparkWriter().microseconds(time, kind)
    return f"{plain} - {query.set_back}L" if query.set_back else plain


def filtered(df: DataFrame, where: str | None) -> DataFrame:
    """The rows where the query's condition holds."""
    if where is None:
        return df
    with told(f"where {where!r} cannot be evaluated"):
        rows = df.where(where)
        rows.select(F.lit(1)).schema  # noqa: B018  (Connect takes the schema of rows from df)
    return rows


def input_sql(each: Input, columns: list[str]) -> str:
    """An input as SQL: null where its filter does not hold."""
    value = expression(each.argument, columns)
    return _where(value, each.predicate) if each.predicate else value


def _where(value: str, predicate: str) -> str:
    """The line ends before what follows, so that a comment at the end of a predicate is one."""
    return f"CASE WHEN ({predicate}\n) THEN {value} END"

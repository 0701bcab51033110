"""The prepared table: keys, time and inputs under plain names, whatever the user's names are.

    k0, k1, …   keys            t           microseconds
    v0, v1, …   inputs of the aggregates
    u0, u1, …   what windows read            o0, o1, …   the columns of `order_by`

Rows without a time are dropped; a filtered input is null where its filter does not hold. From here
on no name of the user's appears in any expression until the result is named.

Where the order of records matters, it is time, then `order_by`, then what the query reads of them.
Spark hands rows on in any order after a shuffle, so an order is always brought about, never found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import or_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from muntin.aggregates import Aggregate
from muntin.aggregates.columns import (
    ORDER,
    Columns,
    Input,
    columns_of,
    distinct_inputs,
    inputs_of,
)
from muntin.aggregates.signatures import has_no_order, result_type
from muntin.dialects.spark_text import SparkWriter
from muntin.engines.spark.faults import REFUSALS, silence_log, translate_refusals, try_parts
from muntin.engines.spark.names import expression, find_column, named, quoted
from muntin.engines.spark.session_facts import check_table
from muntin.errors import ColumnError, MuntinError, shown
from muntin.model.query import Query

PLAIN: dict[str, DataType] = {
    kind.simpleString(): kind
    for kind in (
        *(ByteType(), ShortType(), IntegerType(), LongType(), FloatType(), DoubleType()),
        *(BooleanType(), DateType(), TimestampType(), TimestampNTZType()),
    )
}
"""Types that have no more to them than their name."""


@dataclass(frozen=True, slots=True)
class _Part:
    """An expression of a row: what it is of, the words for it, and how Spark is given it.

    `name` is that of the column that it is, if it is no more than a column.
    """

    of: object
    words: str
    column: Callable[[], Column]
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """Prepared rows, the columns of the query's aggregates, and the type of the time column.

    `keys`, `values` (the inputs of aggregates), `read` (what windows read) and `order` (what orders
    records of equal time) are the plain names of its columns besides the time. `fields` are the
    partial columns with their types.
    """

    rows: DataFrame
    columns: Columns
    time_type: str
    keys: tuple[str, ...]
    values: tuple[str, ...]
    read: tuple[str, ...]
    order: tuple[str, ...]
    fields: tuple[StructField, ...] = ()


def prepare(
    df: DataFrame, query: Query, lifted: bool = True, carried: Mapping[str, Column] | None = None
) -> Table:
    """Resolve the query's names against the table, with a sentence for each that does not fit.

    Where aggregates are not lifted but left to Spark, the table has no partial columns. What is
    `carried` along, under these names, counts among what is read.
    """
    columns = columns_in(df)
    read = {f"window input {text!r}": expression(text, columns) for text in query.window_inputs}
    order = {f"order_by {n!r}": find_column(n, columns, "order_by") for n in query.order_by}
    _check_order(df, read, order)
    inputs = distinct_inputs(query.aggregates)
    time = find_column(query.time, columns, "time")
    keys = [find_column(k, columns, "key") for k in query.keys]
    chosen = filter_rows(df, query.where)
    types = _types(chosen, _parts(query, time, keys, columns))
    _check_keys({name: types["key", name] for name in query.keys})
    kinds = {each: types[each] for each in inputs}
    instant = SparkWriter().microseconds(time, types["time"])
    k, v, u, o = map(_plain_names, "kvuo", (keys, inputs, read, order))
    rows = chosen.select(
        *map(named, keys, k),
        named(f"{instant} - {query.set_back}L" if query.set_back else instant, "t"),
        *_aliased((input_column(each, columns) for each in inputs), v),
        *_aliased(map(F.expr, read.values()), u),
        *map(named, order.values(), o),
        *(column.alias(name) for name, column in (carried or {}).items()),
    )
    rows = rows.where("t IS NOT NULL")
    table = Table(rows, Columns(inputs, (), ()), types["time"], k, v, (*u, *(carried or {})), o)
    if not lifted:
        _check_unshared(query, kinds)
        return table
    try:
        with silence_log():
            return _lifted(table, query, kinds)
    except (*REFUSALS, MuntinError):  # which of the aggregates it is, takes a closer look
        _check_calls(chosen, query, columns)
        _check_lifts(rows, query, kinds)
        raise


def _lifted(table: Table, query: Query, kinds: dict[Input, str]) -> Table:
    """The table with its partial columns; of types that do not tell, Spark looks at all at once."""
    columns = columns_of(query.aggregates, kinds.__getitem__)
    fields = declared_fields(query, columns, kinds)
    if fields is None:
        position = dict(zip(kinds, table.values, strict=True))
        calls = [_call(each, position) for each in query.aggregates]
        fields = partial_fields(table.rows, columns, calls)
    return replace(table, columns=columns, fields=fields)


def declared_fields(
    query: Query, columns: Columns, kinds: Mapping[Input, str]
) -> tuple[StructField, ...] | None:
    """The partial columns, where functions say what they take and make of plain types.

    To ask Spark takes as long as any step of the query.
    """
    for aggregate in query.aggregates:
        takes, given = aggregate.function.takes, [kinds[each] for each in inputs_of(aggregate)]
        plain = len(given) < 2 and all(kind in PLAIN and result_type(takes, kind) for kind in given)
        if not plain:
            return None
    made = {partial.name: PLAIN.get(partial.kind or "") for partial in columns.partials}
    fields = tuple(StructField(name, kind) for name, kind in made.items() if kind is not None)
    return fields if len(fields) == len(made) else None


def partial_fields(
    rows: DataFrame, columns: Columns, calls: Sequence[Column] = ()
) -> tuple[StructField, ...]:
    """The partial columns of prepared rows with their types; other calls are looked at, too."""
    lifts = [named(p.lift, p.name) for p in columns.partials]
    made = list(rows.agg(F.expr("1"), *calls, *lifts).schema)[1 + len(calls) :]
    return tuple(StructField(f.name, f.dataType) for f in made)  # whatever its nulls


def _check_order(df: DataFrame, read: dict[str, str], order: dict[str, str]) -> None:
    """Refuse what windows cannot read, and what records cannot be ordered by."""
    for what, sql in (read | order).items():
        with translate_refusals(f"{what} cannot be computed"):
            kind = df.select(F.expr(sql)).schema[0].dataType.simpleString()
        if what in order and has_no_order(kind):
            raise ColumnError(f"{what} is {kind}, which has no order: name a column that has one")


def _plain_names(letter: str, of: Collection[object]) -> tuple[str, ...]:
    return tuple(f"{letter}{i}" for i, _ in enumerate(of))


def _aliased(columns: Iterable[Column], names: tuple[str, ...]) -> list[Column]:
    return [column.alias(name) for column, name in zip(columns, names, strict=True)]


def columns_in(df: DataFrame) -> list[str]:
    """The names of the columns of what was given as a table."""
    check_table(df)
    with translate_refusals("the DataFrame itself cannot be computed"):
        return df.columns


def kinds_of(df: DataFrame, query: Query) -> dict[Input, str]:
    """The type of every input of a query without keys."""
    columns = columns_in(df)
    inputs, time = distinct_inputs(query.aggregates), find_column(query.time, columns, "time")
    types = _types(filter_rows(df, query.where), _parts(query, time, [], columns))
    return {each: types[each] for each in inputs}


def _parts(query: Query, time: str, keys: list[str], columns: list[str]) -> list[_Part]:
    """Every expression of a row, in the order in which to blame them."""
    plain = {quoted(name): name for name in columns}
    parts = [_Part("time", f"time {query.time!r}", partial(F.expr, time), plain.get(time))]
    parts += [
        _Part(("key", k), f"key {k!r}", partial(F.expr, sql), plain.get(sql))
        for k, sql in zip(query.keys, keys, strict=True)
    ]
    for each in distinct_inputs(query.aggregates):
        if each.predicate:
            counted = partial(input_column, Input("(1)", each.predicate), columns)
            parts.append(_Part(None, f"filter {shown(each.predicate)}", counted))
        value = partial(input_column, each, columns)
        name = each.argument if each.argument in columns and not each.predicate else None
        parts.append(_Part(each, f"input {shown(each.argument)}", value, name))
    return parts


def _types(df: DataFrame, parts: list[_Part]) -> dict[object, str]:
    """The types of these expressions; the first that cannot be computed is named.

    Those of plain columns stand in the schema; two whose names differ in case only are ambiguous.
    """
    names = Counter(name.lower() for name in df.columns)
    kinds = {f.name: f.dataType.simpleString() for f in df.schema if names[f.name.lower()] == 1}
    known: dict[object, str] = {p.of: kinds[p.name] for p in parts if p.name in kinds}
    unknown = [part for part in parts if part.name not in kinds]
    if not unknown:
        return known

    def analyse(some: Sequence[_Part]) -> dict[object, str]:
        columns = [each.column() for each in some]
        # WHERE takes nothing but what has one value for each row: no aggregates, no generators.
        valued = df.where(reduce(or_, (column.isNull() for column in columns)))
        selected = valued.select(*(column.alias(f"c{i}") for i, column in enumerate(columns)))
        kinds = [field.dataType.simpleString() for field in selected.schema]
        return {each.of: kind for each, kind in zip(some, kinds, strict=True)}

    return known | try_parts(analyse, unknown, lambda part: part.words)


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
    inputs = distinct_inputs(query.aggregates)
    names = _names_to_blame(inputs)
    rows = df.select(*(input_column(each, columns).alias(names[each]) for each in inputs), F.lit(1))

    _try_calls(rows, query, lambda aggregate: [_call(aggregate, names)])


def _call(aggregate: Aggregate, names: Mapping[Input, str]) -> Column:
    """Spark's own function over its inputs, by their names."""
    function = aggregate.function
    values = [quoted(names[each]) for each in inputs_of(aggregate)] or ["1"]
    if function.in_python:
        return F.struct(*(F.count(F.expr(value)) for value in values))
    return F.expr(function.native().format(*values))


def _names_to_blame(inputs: tuple[Input, ...]) -> dict[Input, str]:
    """Inputs as they were written, so that Spark's sentences name them, where that tells apart."""
    written = [each.argument for each in inputs]
    if len({text.lower() for text in written}) < len(inputs):
        written = [f"v{i}" for i, _ in enumerate(inputs)]
    return dict(zip(inputs, written, strict=True))


def _check_lifts(rows: DataFrame, query: Query, kinds: dict[Input, str]) -> None:
    """Refuse an aggregate whose partials cannot be made of what it is given."""
    position = {each: f"v{i}" for i, each in enumerate(kinds)}

    def lifts(aggregate: Aggregate) -> list[Column]:
        own = inputs_of(aggregate)
        arguments = [position[each] for each in own] or ["1"]
        partials = aggregate.function.partials([kinds[each] for each in own])
        return [F.expr(partial.lift.format(*arguments)) for partial in partials]

    _try_calls(rows, query, lifts)


def _try_calls(rows: DataFrame, query: Query, calls: Callable[[Aggregate], list[Column]]) -> None:
    """Analyse all calls together; the first aggregate that Spark refuses is named."""

    def analyse(some: Sequence[Aggregate]) -> StructType:
        return rows.agg(*(call for each in some for call in calls(each))).schema

    try_parts(analyse, query.aggregates, lambda aggregate: aggregate.name)


def filter_rows(df: DataFrame, where: str | None) -> DataFrame:
    """The rows where the query's condition holds."""
    if where is None:
        return df
    with translate_refusals(f"where {where!r} cannot be evaluated"):
        rows = df.where(where)
        rows.select(F.lit(1)).schema  # noqa: B018  (Connect takes the schema of rows from df)
    return rows


def input_column(each: Input, columns: list[str]) -> Column:
    """An input: null where its filter does not hold. Spark reads each text by itself."""
    value = F.expr(expression(each.argument, columns))
    return F.when(F.expr(each.predicate), value) if each.predicate else value


def tie_breakers(table: Table, rows: DataFrame, query: Query) -> list[str]:
    """The columns that order records of equal time: `order_by`, and where it matters all others.

    The rows are those of the table, with its inputs or with their partials.
    """
    order = list(table.order)
    sensitive = any(w.order_matters for w in query.data_windows) or any(
        not a.function.commutative for a in query.aggregates
    )
    if sensitive:
        kinds = dict(rows.dtypes)
        others = [*table.read, *table.values, *(p.name for p in table.columns.partials)]
        order += [n for n in others if n in kinds and not has_no_order(kinds[n])]
    return order


def add_order(table: Table) -> DataFrame:
    """The rows of a table, with time and `order_by` in one column, where partials sort by it."""
    if not any(partial.in_order for partial in table.columns.partials):
        return table.rows
    return table.rows.withColumn(ORDER, F.struct("t", *table.order))

"""Windows that the data decides, on a batch DataFrame: sessions in SQL, all others by Cutty.

The records of a key are taken in the order of time, and among equal times of `order_by`, then of
every column that the query reads: so the result never depends on how rows arrived.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, LongType, StructField, StructType

from muntin.aggregates.columns import inputs_of
from muntin.data_windows import DataWindow
from muntin.errors import ColumnError
from muntin.kernels.mergers import not_merged
from muntin.plan import SharingPlan
from muntin.query import Query
from muntin.spark.beside import directly, joined, split
from muntin.spark.constants import constant
from muntin.spark.record_order import ordered_table, tie_breakers, window_inputs
from muntin.spark.row_partials import (
    fields_of,
    lifted,
    not_in_arrow,
    one_zero,
    partial_fields,
)
from muntin.spark.sessions import by_kernel, by_sessions
from muntin.spark.table import Table, prepared
from muntin.sql.spark_text import SparkWriter
from muntin.userwindows.stage import Assigned, Cutty
from muntin.windows import Window


def apply_to_batch(
    plan: SharingPlan, query: Query, df: DataFrame, operator: str, wraps: bool
) -> DataFrame:
    """The long result of a query with such windows."""
    if operator in ("sessions", "kernel"):
        return _sessions(plan, query, df, wraps if operator == "kernel" else None)
    shared, direct = split(query, df)
    if direct is not None or shared is None:
        return _assigned(plan, query, df)
    table = ordered_table(df, query)
    mergers = [partial.merger for partial in table.columns.partials]
    if not_merged(mergers):
        return _assigned(plan, query, df)
    return _by_cutty(plan, query, table, wraps)


def _sessions(plan: SharingPlan, query: Query, df: DataFrame, wraps: bool | None) -> DataFrame:
    shared, direct = split(query, df)
    if direct is not None:
        prepared(df, direct, lifted=False)
    if shared is None:
        return directly(df, query)
    table = prepared(df, shared)
    if wraps is not None and not_in_arrow(table) is None:
        sessions = by_kernel(plan, table, wraps)
    else:
        sessions = by_sessions(plan, table)
    rows = named_result(sessions, plan, shared, table, finals(table))
    return rows if direct is None else joined(rows, directly(df, direct), query)


def _in_order(rows: DataFrame, table: Table, query: Query) -> DataFrame:
    """Each key in one partition, its records in order."""
    order = [F.col(name) for name in tie_breakers(rows, query)]
    if not table.keys:
        return rows.repartition(1).sortWithinPartitions(F.col("t"), *order)
    fields = fields_of(table, table.keys)
    rows = rows.withColumns({f.name: F.expr(one_zero(f)) for f in fields})
    return rows.repartition(*table.keys).sortWithinPartitions(*table.keys, "t", *order)


def asked_windows(plan: SharingPlan) -> dict[int, Window | DataWindow]:
    """The windows that were asked for, by the numbers of their nodes."""
    return {
        i: node.shape
        for i, node in enumerate(plan.nodes)
        if not node.hidden and isinstance(node.shape, Window | DataWindow)
    }


def _by_cutty(plan: SharingPlan, query: Query, table: Table, wraps: bool) -> DataFrame:
    partials, records = table.columns.partials, lifted(table)
    inputs = {text: f"u{i}" for i, text in enumerate(window_inputs(query))}
    stage = Cutty(tuple(table.keys), asked_windows(plan), inputs, partials, wraps)
    schema = StructType([*head(table), *partial_fields(table)])
    rows = _in_order(records, table, query).mapInArrow(stage, schema)
    return named_result(rows, plan, query, table, finals(table))


def _assigned(plan: SharingPlan, query: Query, df: DataFrame) -> DataFrame:
    """Every record with every window it is in, grouped by Spark: for what has no partials."""
    for aggregate in query.aggregates:
        if aggregate.function.in_python:
            raise ColumnError(
                f"{aggregate.name} is written in Python and stands beside an aggregate that has "
                "no array form: ask for them in two queries"
            )
    table = ordered_table(df, query, lifted=False)
    values = [c for c in table.rows.columns if c.startswith("v")]
    inputs = {text: f"u{i}" for i, text in enumerate(window_inputs(query))}
    stage = Assigned(tuple(table.keys), asked_windows(plan), inputs, tuple(values))
    kinds = [field for field in table.rows.schema.fields if field.name in values]
    schema = StructType([*head(table), StructField("run", LongType()), *kinds])
    rows = _in_order(table.rows, table, query).mapInArrow(stage, schema)
    place = {each: f"v{i}" for i, each in enumerate(table.columns.inputs)}
    results = []
    for aggregate in query.aggregates:
        own = [place[each] for each in inputs_of(aggregate)] or ["1"]
        results.append(F.expr(aggregate.function.native().format(*own)).alias(aggregate.name))
    grouped = rows.groupBy(*table.keys, "node", "start", "end", "run").agg(*results)
    return named_result(
        grouped, plan, query, table, [F.col(_quoted(a.name)) for a in query.aggregates]
    )


def head(table: Table) -> list[StructField]:
    """The columns of a result before its partials."""
    keys = [field for field in table.rows.schema.fields if field.name in table.keys]
    numbers = {"node": IntegerType(), "start": LongType(), "end": LongType()}
    return [*keys, *(StructField(name, kind) for name, kind in numbers.items())]


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def finals(table: Table) -> list[Column]:
    """The results over merged partial columns."""
    return [F.expr(r.final).alias(r.name) for r in table.columns.results]


def named_result(
    rows: DataFrame, plan: SharingPlan, query: Query, table: Table, results: list[Column]
) -> DataFrame:
    """The result under the user's names."""
    ids = [node.id for node in plan.nodes]
    instant = SparkWriter().instant
    bounds = [instant(side, table.time_type) for side in ("start", "end")]
    window = F.struct(F.expr(bounds[0]).alias("start"), F.expr(bounds[1]).alias("end"))
    return rows.select(
        F.expr(f"element_at({constant(ids, 'ARRAY<STRING>')}, node + 1)").alias("window_id"),
        window.alias("window"),
        *(F.col(k).alias(name) for k, name in zip(table.keys, query.keys, strict=True)),
        *results,
    )

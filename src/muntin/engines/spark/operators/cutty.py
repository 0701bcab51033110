"""The cutty operator: windows that the data decides on a batch, all in one pass.

The records of a key are taken in the order of time, and among equal times of `order_by`, then of
every column that the query reads: so the result never depends on how rows arrived.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, LongType, StructField, StructType

from muntin.aggregates import Aggregate
from muntin.aggregates.columns import inputs_of
from muntin.data_windows.partitions import Assigned, Cutty
from muntin.engines.spark.arrow_stage import map_in_arrow
from muntin.engines.spark.bind import Bound
from muntin.engines.spark.finishing import name_columns
from muntin.engines.spark.names import column
from muntin.engines.spark.row_partials import (
    fields_of,
    one_zero,
    send_rows,
)
from muntin.engines.spark.table import Table, prepare, tie_breakers
from muntin.errors import ColumnError
from muntin.kernels.mergers import not_merged
from muntin.model.data_windows import DataWindow
from muntin.model.query import Query
from muntin.model.windows import Window
from muntin.physical import PhysicalPlan


def run(physical: PhysicalPlan, bound: Bound) -> DataFrame:
    """The long result of a query with such windows."""
    if bound.direct is not None or not_merged(p.merger for p in bound.table.columns.partials):
        return _assign(physical, bound.query, bound.df)
    return _slice(physical, bound.query, bound.table, bound.wraps)


def _sort(rows: DataFrame, table: Table, query: Query) -> DataFrame:
    """Each key in one partition, its records in order."""
    order = [F.col(name) for name in tie_breakers(table, rows, query)]
    if not table.keys:
        return rows.repartition(1).sortWithinPartitions(F.col("t"), *order)
    fields = fields_of(table, table.keys)
    rows = rows.withColumns({f.name: F.expr(one_zero(f)) for f in fields})
    return rows.repartition(*table.keys).sortWithinPartitions(*table.keys, "t", *order)


def asked_windows(physical: PhysicalPlan) -> dict[int, Window | DataWindow]:
    """The windows that were asked for, by the numbers of their nodes."""
    return {
        node.number: node.shape
        for node in physical.outputs
        if isinstance(node.shape, Window | DataWindow)
    }


def _slice(physical: PhysicalPlan, query: Query, table: Table, wraps: bool) -> DataFrame:
    """Windows from slices, by partials."""
    inputs = dict(zip(query.window_inputs, table.read, strict=True))
    given, windows = send_rows(table), asked_windows(physical)
    stage = Cutty(table.keys, windows, inputs, table.columns.partials, wraps, given.sent)
    schema = StructType([*head(table), *table.fields])
    rows = map_in_arrow(_sort(given.rows, table, query), stage, schema)
    return name_columns(rows, physical, query, table)


def _assign(physical: PhysicalPlan, query: Query, df: DataFrame) -> DataFrame:
    """Every record with every window it is in, grouped by Spark: for what has no partials."""
    for aggregate in query.aggregates:
        if aggregate.function.in_python:
            raise ColumnError(
                f"{aggregate.name} is written in Python and stands beside an aggregate that has "
                "no array form: ask for them in two queries"
            )
    table = prepare(df, query, lifted=False)
    inputs = dict(zip(query.window_inputs, table.read, strict=True))
    stage = Assigned(table.keys, asked_windows(physical), inputs, table.values)
    kinds = [field for field in table.rows.schema.fields if field.name in table.values]
    schema = StructType([*head(table), StructField("run", LongType()), *kinds])
    rows = map_in_arrow(_sort(table.rows, table, query), stage, schema)
    place = dict(zip(table.columns.inputs, table.values, strict=True))

    def call(aggregate: Aggregate) -> Column:
        own = [place[each] for each in inputs_of(aggregate)] or ["1"]
        return F.expr(aggregate.function.native().format(*own)).alias(aggregate.name)

    calls = map(call, query.aggregates)
    grouped = rows.groupBy(*table.keys, "node", "start", "end", "run").agg(*calls)
    named = [column(a.name) for a in query.aggregates]
    return name_columns(grouped, physical, query, table, named)


def head(table: Table) -> list[StructField]:
    """The columns of a result before its partials."""
    keys = [field for field in table.rows.schema.fields if field.name in table.keys]
    numbers = {"node": IntegerType(), "start": LongType(), "end": LongType()}
    return [*keys, *(StructField(name, kind) for name, kind in numbers.items())]

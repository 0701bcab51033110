"""The order of records, where it matters: time, then `order_by`, then what the query reads of them.

A column `o` has time and `order_by` in one, for aggregates that sort the records of a slice.
Spark hands rows on in any order after a shuffle, so an order is always brought about, never found.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from muntin.aggregates.columns import ORDER
from muntin.aggregates.signatures import has_no_order
from muntin.engines.spark.faults import translate_refusals
from muntin.engines.spark.names import expression, find_column
from muntin.engines.spark.table import Table, columns_in, prepare
from muntin.errors import ColumnError
from muntin.model.query import Query


def prepare_ordered(df: DataFrame, query: Query, lifted: bool = True) -> Table:
    """The prepared table with what windows read (u0, …) and the order of equal times (o0, …)."""
    columns = columns_in(df)
    named = [(f"window input {text!r}", expression(text, columns)) for text in window_inputs(query)]
    ties = [
        (f"order_by {text!r}", find_column(text, columns, "order_by")) for text in query.order_by
    ]
    for what, sql in (*named, *ties):
        with translate_refusals(f"{what} cannot be computed"):
            kind = df.select(F.expr(sql)).schema[0].dataType.simpleString()
        if (what, sql) in ties and has_no_order(kind):
            raise ColumnError(f"{what} is {kind}, which has no order: name a column that has one")
    return prepare(df, query, lifted, [sql for _, sql in named], [sql for _, sql in ties])


def window_inputs(query: Query) -> list[str]:
    """What windows read of records, each expression once."""
    return list(dict.fromkeys(text for w in query.data_windows for text in w.inputs))


def tie_breakers(table: Table, rows: DataFrame, query: Query) -> list[str]:
    """The columns that order records of equal time: `order_by`, and where it matters all others.

    The rows are those of the table, with its inputs or with their partials.
    """
    order = list(table.order)
    sensitive = any(w.order_matters for w in query.data_windows) or any(
        not a.function.commutative for a in query.aggregates
    )
    if sensitive:
        kinds = {field.name: field.dataType.simpleString() for field in rows.schema}
        others = [*table.values, *table.read, *(p.name for p in table.columns.partials)]
        order += [n for n in others if n in kinds and not has_no_order(kinds[n])]
    return order


def add_order(table: Table) -> DataFrame:
    """The rows of a table, with the column that some of its partials sort records by."""
    if not any(partial.in_order for partial in table.columns.partials):
        return table.rows
    return table.rows.withColumn(ORDER, F.struct("t", *table.order))

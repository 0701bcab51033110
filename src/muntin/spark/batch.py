"""A sharing plan on a batch DataFrame: rows equal to Spark's own window() rows.

The source is read once and grouped into the first level of the plan; everything below works on
these few rows, by the operators that were chosen for it.
"""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from muntin.aggregates.columns import Columns
from muntin.errors import ColumnError, StrategyError
from muntin.physical import Operators, lower, merged_beside
from muntin.plan import Node, SharingPlan
from muntin.query import Query
from muntin.spark.ansi import wraps
from muntin.spark.beside import directly, joined, split
from muntin.spark.constants import constant
from muntin.spark.data_windows import apply_to_batch
from muntin.spark.expand import from_source, next_level
from muntin.spark.given import is_stream
from muntin.spark.kernel_stage import by_kernel
from muntin.spark.layout import filled, in_layout
from muntin.spark.record_order import ordered_table
from muntin.spark.row_partials import arrow_refusal
from muntin.spark.table import Table, prepared
from muntin.sql.spark_text import SparkWriter
from muntin.windows import Window

EXPAND = Operators("expand", "serves every plan")


def apply(
    plan: SharingPlan,
    query: Query,
    df: DataFrame,
    operators: Operators = EXPAND,
    layout: str = "long",
    empty: str = "omit",
) -> DataFrame:
    """The result of the query, computed as the plan says, in the layout asked for."""
    if is_stream(df):
        raise ColumnError(
            "this is a streaming DataFrame, and plans run on batch ones: read the source with "
            "spark.read instead of spark.readStream, or apply the plan in foreachBatch"
        )
    if query.data_windows and empty == "fill":
        raise StrategyError(
            "empty='fill' is for periodic windows: between windows that the data decides nothing "
            "is missing"
        )
    rows = _long(plan, query, df, operators)
    rows = filled(rows, query) if empty == "fill" else rows
    return in_layout(rows, query, layout)


def _long(plan: SharingPlan, query: Query, df: DataFrame, operators: Operators) -> DataFrame:
    """The long result; what cannot be shared is computed directly, beside the rest."""
    if query.data_windows:
        return apply_to_batch(plan, query, df, operators.name, wraps(df))
    shared, direct = split(query, df)
    if direct is not None:
        prepared(df, direct, lifted=False)
    if shared is None:
        return directly(df, query)
    table = ordered_table(df, shared)
    if operators.name == "window":
        return directly(df, query)
    rows = _by_operators(plan, shared, df, table, operators)
    return rows if direct is None else joined(rows, directly(df, direct), query)


def _by_operators(
    plan: SharingPlan, query: Query, df: DataFrame, table: Table, operators: Operators
) -> DataFrame:
    """By the operator that was chosen; what only Spark can merge is expanded beside the kernel."""
    beside = merged_beside(query) if operators.name == "kernel" else ()
    if not beside:
        return _shared(plan, query, table, operators, wraps(df))
    expanded = replace(query, aggregates=beside)
    kernel = replace(query, aggregates=tuple(a for a in query.aggregates if a not in beside))
    return joined(
        _shared(plan, kernel, ordered_table(df, kernel), operators, wraps(df)),
        _shared(plan, expanded, prepared(df, expanded), EXPAND, wraps(df)),
        query,
    )


def _shared(
    plan: SharingPlan, query: Query, table: Table, operators: Operators, wrapping: bool
) -> DataFrame:
    physical = lower(plan)
    rows = from_source(table, physical.levels[0])
    own = [a.name for a in query.aggregates if a.function.in_python]
    by_python = operators.name == "kernel" and (len(physical.levels) > 1 or bool(own))
    stranger = arrow_refusal(rows.schema) if by_python else None
    if stranger and own:
        raise ColumnError(
            f"{own[0]} runs in Python, which {stranger} cannot be handed to: leave out the key or "
            "the aggregate of that type, or cast it"
        )
    if by_python and not stranger:
        rows = by_kernel(rows, plan, table, wrapping)
    else:
        for level in physical.levels[1:]:
            rows = next_level(rows, level, table)
    return finished(rows, plan.nodes, query, table)


def finished(
    rows: DataFrame,
    nodes: tuple[Node, ...],
    query: Query,
    table: Table,
    metadata: dict[str, int] | None = None,
) -> DataFrame:
    """Finish the partials of the windows that were asked for, under the user's names.

    `metadata` is what the window's column says of itself.
    """
    ids: dict[int, str] = {}
    ranges: dict[int, int] = {}
    for i, node in enumerate(nodes):
        if not node.hidden and isinstance(node.shape, Window):
            ids[i], ranges[i] = node.id, node.shape.range
    if len(ids) < len(nodes):
        rows = rows.where(F.col("node").isin(list(ids)))
    instant = SparkWriter().instant
    window = F.struct(
        F.expr(instant("start", table.time_type)).alias("start"),
        F.expr(instant(f"(start + {lookup(ranges)})", table.time_type)).alias("end"),
    )
    return rows.select(
        F.expr(lookup(ids)).alias("window_id"),
        window.alias("window", metadata=metadata or {}),
        *(F.col(k).alias(name) for k, name in zip(table.keys, query.keys, strict=True)),
        *results(table.columns),
    )


def results(columns: Columns) -> list[Column]:
    """The results over merged partial columns."""
    return [F.expr(r.final).alias(r.name) for r in columns.results]


def lookup(values: dict[int, str] | dict[int, int], of: str = "node") -> str:
    """SQL for the value of a node, by its number; null for one that has none."""
    dense = [values.get(i) for i in range(max(values) + 1)]
    kind = "BIGINT" if isinstance(next(iter(values.values())), int) else "STRING"
    return f"get({constant(dense, f'ARRAY<{kind}>')}, {of})"

"""A sharing plan on a batch DataFrame: rows equal to Spark's own window() rows.

The source is read once and grouped into the first level of the plan; everything below works on
these few rows, by the operators that were chosen for it.
"""

from __future__ import annotations

import json

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from muntin.aggregates.columns import Columns
from muntin.physical import Operators, lower
from muntin.plan import Node, SharingPlan
from muntin.query import Query
from muntin.spark.expand import from_source, next_level
from muntin.spark.kernel_stage import by_kernel
from muntin.spark.native import native
from muntin.spark.table import Table, prepared
from muntin.sql.spark_text import SparkWriter
from muntin.windows import Window

EXPAND = Operators("expand", "serves every plan")


def apply(
    plan: SharingPlan, query: Query, df: DataFrame, operators: Operators = EXPAND
) -> DataFrame:
    """The long result of the query, computed as the plan says."""
    table = prepared(df, query)
    if operators.name == "window":
        return native(df, query)
    physical = lower(plan)
    rows = from_source(table, physical.levels[0])
    if len(physical.levels) > 1 and operators.name == "kernel":
        wraps = str(df.sparkSession.conf.get("spark.sql.ansi.enabled")) != "true"
        rows = by_kernel(rows, plan, table, wraps)
    else:
        for level in physical.levels[1:]:
            rows = next_level(rows, level, table)
    return _result(rows, plan.nodes, query, table)


def _result(rows: DataFrame, nodes: tuple[Node, ...], query: Query, table: Table) -> DataFrame:
    """Finish the partials of the windows that were asked for, under the user's names."""
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
        F.expr(instant(f"(start + {_lookup(ranges)})", table.time_type)).alias("end"),
    )
    return rows.select(
        F.expr(_lookup(ids)).alias("window_id"),
        window.alias("window"),
        *(F.col(k).alias(name) for k, name in zip(table.keys, query.keys, strict=True)),
        *results(table.columns),
    )


def results(columns: Columns) -> list[Column]:
    """The results over merged partial columns."""
    return [F.expr(r.final).alias(r.name) for r in columns.results]


def _lookup(values: dict[int, str] | dict[int, int]) -> str:
    """SQL for the value of a node, by its number."""
    dense = [values.get(i) for i in range(max(values) + 1)]
    kind = "BIGINT" if isinstance(next(iter(values.values())), int) else "STRING"
    text = json.dumps(dense).replace("\\", "\\\\").replace("'", "\\'")
    return f"element_at(from_json('{text}', 'ARRAY<{kind}>'), node + 1)"

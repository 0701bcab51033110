"""Sessions of many gaps in SQL: slices first, then one sort for all gaps, without Python.

order  slices of a key by their first record      needs  partials that merge in SQL

Records of a key in the same slice, as long as the smallest gap, are never a pause apart. So the
source is grouped into slices, with the first and the last time of each (map-side combine, one
scan); only these few rows are put in order. A pause longer than a gap between two slices begins a
session of that gap; running counts of such pauses number the sessions of all gaps in the same pass.
Slices merge into sessions of the smallest gap, and these into those of the larger ones.
Where keys have few records in a slice, so that slices are many, `by_kernel` merges them in NumPy.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import Window as Over
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, LongType, StructType

from muntin.data_windows import Session
from muntin.plan import SharingPlan
from muntin.slicing import Slices
from muntin.spark.expand import slice_start
from muntin.spark.table import Table
from muntin.userwindows.stage import Cutty


def by_sessions(plan: SharingPlan, table: Table) -> DataFrame:
    """Keys, node, start, end and partials of all sessions of a chain."""
    sessions = [(i, n.shape) for i, n in enumerate(plan.nodes) if isinstance(n.shape, Session)]
    root = plan.nodes[0].shape
    assert isinstance(root, Slices), "a chain of sessions begins with slices"
    merges = [F.expr(p.merge).alias(p.name) for p in table.columns.partials]
    bounds = [F.min("lo").alias("lo"), F.max("hi").alias("hi")]
    smallest = _numbered(_slices(table, root), table, [shape.gap for _, shape in sessions])
    larger = [f"s{k}" for k in range(1, len(sessions))]
    rows = smallest.groupBy(*table.keys, "s0").agg(
        *merges, *bounds, *(F.max(s).alias(s) for s in larger)
    )
    if larger:
        each = ", ".join(
            f"named_struct('node', {node}, 'gap', {shape.gap}L, 'session', s{k})"
            for k, (node, shape) in enumerate(sessions)
        )
        carried = [*table.keys, "lo", "hi", *(p.name for p in table.columns.partials)]
        copies = rows.select(*carried, F.inline(F.expr(f"array({each})")))
        rows = copies.groupBy(*table.keys, "node", "gap", "session").agg(*merges, *bounds)
    else:
        node, shape = sessions[0]
        rows = rows.select("*", F.lit(node).alias("node"), F.lit(shape.gap).alias("gap"))
    return rows.select(
        *table.keys,
        "node",
        F.col("lo").alias("start"),
        F.expr("hi + gap").alias("end"),
        *(p.name for p in table.columns.partials),
    )


def by_kernel(plan: SharingPlan, table: Table, wraps: bool) -> DataFrame:
    """The same, from the same slices, merged by NumPy: for slices that are many."""
    sessions = {i: n.shape for i, n in enumerate(plan.nodes) if isinstance(n.shape, Session)}
    root = plan.nodes[0].shape
    assert isinstance(root, Slices), "a chain of sessions begins with slices"
    slices = _slices(table, root).drop("slice")
    stage = Cutty(tuple(table.keys), sessions, {}, table.columns.partials, wraps)
    fields = {field.name: field for field in slices.schema.fields}
    schema = StructType([fields[k] for k in table.keys])
    schema = schema.add("node", IntegerType()).add("start", LongType()).add("end", LongType())
    schema = StructType([*schema.fields, *(fields[p.name] for p in table.columns.partials)])
    spread = slices.repartition(*table.keys) if table.keys else slices.repartition(1)
    return spread.sortWithinPartitions(*table.keys, "lo").mapInArrow(stage, schema)


def _slices(table: Table, slices: Slices) -> DataFrame:
    """The source grouped into slices no longer than the smallest gap."""
    lifts = [F.expr(p.lift).alias(p.name) for p in table.columns.partials]
    cut = table.rows.withColumn("slice", F.expr(slice_start(slices, "t")))
    return cut.groupBy(*table.keys, "slice").agg(
        *lifts, F.min("t").alias("lo"), F.max("t").alias("hi")
    )


def _numbered(slices: DataFrame, table: Table, gaps: list[int]) -> DataFrame:
    """Each slice with the number of its session, for every gap: all over one order."""
    keys = [F.col(k) for k in table.keys] or [F.lit(0)]
    order = Over.partitionBy(*keys).orderBy("lo")
    pauses = slices.withColumn("pause", F.expr("lo") - F.lag("hi").over(order))
    numbers = [
        F.sum(F.expr(f"if(pause > {gap}L, 1, 0)")).over(order).alias(f"s{k}")
        for k, gap in enumerate(gaps)
    ]
    return pauses.select("*", *numbers)

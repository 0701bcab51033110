"""Sessions of many gaps in SQL: slices first, then one sort for all gaps, without Python.

order  slices of a key by their first record      needs  partials that merge in SQL

Records of a key in the same slice, as long as the smallest gap, are never a pause apart. So the
source is grouped into slices, with the first and the last time of each (map-side combine, one
scan); only these few rows are put in order. A pause longer than a gap between two slices begins a
session of that gap, and a running count of such pauses numbers the sessions. Slices merge into
sessions of the smallest gap; over these, fewer still, the larger gaps are counted in one pass.
Where keys have few records in a slice, so that slices are many, `runs` does it in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame
from pyspark.sql import Window as Over
from pyspark.sql import functions as F

from muntin.engines.spark.bind import Bound
from muntin.engines.spark.finishing import name_columns
from muntin.engines.spark.operators.expand import slice_start
from muntin.engines.spark.table import Table
from muntin.engines.spark.unshared import compute_directly, join_direct
from muntin.model.data_windows import Session
from muntin.physical import PhysicalPlan
from muntin.plan.slicing import Slices


def run(physical: PhysicalPlan, bound: Bound) -> DataFrame:
    """The long result; what has no partials is computed directly, beside."""
    return finish_sessions(physical, bound, lambda part: _sessions(physical, part.table))


def finish_sessions(
    physical: PhysicalPlan, bound: Bound, compute: Callable[[Bound], DataFrame]
) -> DataFrame:
    """Sessions of what can be shared, joined with Spark's own of what cannot."""
    if bound.shared is None:
        return compute_directly(bound.df, bound.query)
    part = bound.of_shared
    rows = name_columns(compute(part), physical, part.query, part.table)
    if bound.direct is None:
        return rows
    return join_direct(rows, compute_directly(bound.df, bound.direct), bound.query)


def _sessions(physical: PhysicalPlan, table: Table) -> DataFrame:
    """Keys, node, start, end and partials of all sessions of a chain."""
    sessions = [(n.number, n.shape) for n in physical.nodes if isinstance(n.shape, Session)]
    root = physical.nodes[0].shape
    assert isinstance(root, Slices), "a chain of sessions begins with slices"
    merges = [F.expr(p.merge).alias(p.name) for p in table.columns.partials]
    merges += [F.min("lo").alias("lo"), F.max("hi").alias("hi")]
    slices = _slices(table, root)
    rows = _number(slices, table, {"session": sessions[0][1].gap})
    rows = rows.groupBy(*table.keys, "session").agg(*merges)
    larger = {f"s{k}": shape.gap for k, (_, shape) in enumerate(sessions) if k}
    if larger:
        each = ", ".join(
            f"named_struct('node', {node}, 'gap', {shape.gap}L, 'session', {number})"
            for (node, shape), number in zip(sessions, ("session", *larger), strict=True)
        )
        carried = [*table.keys, "lo", "hi", *(p.name for p in table.columns.partials)]
        numbered = _number(rows, table, larger)
        copies = numbered.select(*carried, F.inline(F.expr(f"array({each})")))
        rows = copies.groupBy(*table.keys, "node", "gap", "session").agg(*merges)
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


def _slices(table: Table, slices: Slices) -> DataFrame:
    """The source grouped into slices no longer than the smallest gap."""
    lifts = [F.expr(p.lift).alias(p.name) for p in table.columns.partials]
    cut = table.rows.withColumn("slice", F.expr(slice_start(slices, "t")))
    return cut.groupBy(*table.keys, "slice").agg(
        *lifts, F.min("t").alias("lo"), F.max("t").alias("hi")
    )


def _number(rows: DataFrame, table: Table, gaps: dict[str, int]) -> DataFrame:
    """Slices or sessions with the number of the session that they are in, for every gap."""
    keys = [F.col(k) for k in table.keys] or [F.lit(0)]
    order = Over.partitionBy(*keys).orderBy("lo")
    pauses = rows.withColumn("pause", F.expr("lo") - F.lag("hi").over(order))
    numbers = [
        F.sum(F.expr(f"if(pause > {gap}L, 1, 0)")).over(order).alias(name)
        for name, gap in gaps.items()
    ]
    return pauses.select("*", *numbers).drop("pause")

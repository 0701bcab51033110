"""A sharing plan on a batch DataFrame: rows equal to Spark's own window() rows.

The first level reads the source, every further level the few rows of the one before. Each level is
one grouping: `expand` explodes a row into the instances it feeds (a constant array of feeds and one
formula, so the expression does not grow with the number of windows), `slices` needs no explode.
"""

from __future__ import annotations

import json
from dataclasses import asdict

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from muntin.aggregates.columns import Columns
from muntin.physical import Level, PhysicalPlan, lower
from muntin.physical.lowering import FROM_SOURCE
from muntin.plan import SharingPlan
from muntin.query import Query
from muntin.slicing import Slices
from muntin.spark.instants import from_microseconds
from muntin.spark.table import Table, prepared
from muntin.windows import Window

_FEED = (
    "node INT, origin BIGINT, offset BIGINT, stride BIGINT, count BIGINT, gcd BIGINT, "
    "turns BIGINT, inverse BIGINT"
)
_CUT = "node INT, cuts ARRAY<STRUCT<step: BIGINT, phase: BIGINT>>"
_SHIFT = "({p} - f.offset - f.origin)"
_TARGETS = """
flatten(transform({feeds}, f -> flatten(transform(
  array(if({shift} % f.gcd = 0,
           pmod(pmod({shift} div f.gcd, f.turns) * f.inverse, f.turns), f.count)),
  j -> if(j < f.count,
          transform(sequence(0L, (f.count - 1 - j) div f.turns),
                    i -> named_struct('node', f.node,
                                      'start', {p} - f.offset - (j + i * f.turns) * f.stride)),
          array())))))
"""
_SLICE_TARGETS = """
transform({slices}, s -> named_struct('node', s.node, 'start',
  array_max(transform(s.cuts, c -> {p} - pmod({p} - c.phase, c.step)))))
"""


def apply(plan: SharingPlan, query: Query, df: DataFrame) -> DataFrame:
    """The long result of the query, computed as the plan says."""
    table = prepared(df, query)
    physical = lower(plan)
    rows = _first_level(table, physical.levels[0])
    for level in physical.levels[1:]:
        rows = _next_level(rows, level, table)
    return _result(rows, physical, query, table)


def _first_level(table: Table, level: Level) -> DataFrame:
    slices = level.only_slices
    if slices is not None:
        [target] = level.slices[FROM_SOURCE]
        rows = table.rows.withColumn("start", F.expr(slice_start(slices, "t")))
        rows = rows.withColumn("node", F.lit(target.node))
    else:
        targets = _targets(level, FROM_SOURCE, "t")
        rows = table.rows.select("*", F.inline(F.expr(targets))).drop("t")
    return _grouped(rows, table, [(p.name, p.lift) for p in table.columns.partials])


def _next_level(rows: DataFrame, level: Level, table: Table) -> DataFrame:
    parents = sorted(set(level.feeds) | set(level.slices))
    cases = " ".join(f"WHEN {n} THEN {_targets(level, n, 'start')}" for n in parents)
    carried = [F.col(c) for c in (*table.keys, *(p.name for p in table.columns.partials))]
    exploded = rows.select(*carried, F.inline(F.expr(f"CASE node {cases} END")))
    return _grouped(exploded, table, [(p.name, p.merge) for p in table.columns.partials])


def _grouped(rows: DataFrame, table: Table, columns: list[tuple[str, str]]) -> DataFrame:
    exists = F.count(F.lit(1)).alias("rows")
    partials = [F.expr(sql).alias(name) for name, sql in columns] or [exists]
    return rows.groupBy(*table.keys, "node", "start").agg(*partials)


def slice_start(slices: Slices, position: str) -> str:
    """SQL for where the slice of a position begins."""
    starts = [f"{position} - pmod({position} - {c.phase}L, {c.step}L)" for c in slices.cuts]
    return starts[0] if len(starts) == 1 else f"greatest({', '.join(starts)})"


def _targets(level: Level, parent: int, position: str) -> str:
    parts = []
    if parent in level.feeds:
        literal = _constant([asdict(f) for f in level.feeds[parent]], _FEED)
        shift = _SHIFT.format(p=position)
        parts.append(_TARGETS.format(feeds=literal, shift=shift, p=position))
    if parent in level.slices:
        rows = [
            {"node": t.node, "cuts": [asdict(cut) for cut in t.slices.cuts]}
            for t in level.slices[parent]
        ]
        parts.append(_SLICE_TARGETS.format(slices=_constant(rows, _CUT), p=position))
    return parts[0] if len(parts) == 1 else f"concat({', '.join(parts)})"


def _constant(rows: list[dict[str, object]], fields: str) -> str:
    """A constant array of structs as one small literal, folded when Spark plans."""
    return f"from_json('{json.dumps(rows)}', 'ARRAY<STRUCT<{fields}>>')"


def _result(rows: DataFrame, physical: PhysicalPlan, query: Query, table: Table) -> DataFrame:
    asked = [(i, node) for i, node in enumerate(physical.nodes) if not node.hidden]
    hidden_left = any(node.hidden for node in physical.nodes)
    ids, ranges = {}, {}
    for i, node in asked:
        assert isinstance(node.shape, Window), "slices are always hidden"
        ids[i], ranges[i] = node.id, node.shape.range
    if hidden_left:
        rows = rows.where(F.col("node").isin(list(ids)))
    window = F.struct(
        F.expr(from_microseconds("start", table.time_type)).alias("start"),
        F.expr(from_microseconds(f"(start + {_lookup(ranges)})", table.time_type)).alias("end"),
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

"""The expand operator: explode each row into what it feeds, group, level by level.

One formula and a constant array of feeds serve all windows (muntin.physical.feeds), so expressions
grow with the levels of the tree, not with the number of windows. Where a level has a single target
that each row falls into once, no explode is needed; where the copies of a source row are few, they
are written out, which Spark compiles, unlike functions over arrays.
"""

from __future__ import annotations

import json
from dataclasses import asdict

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from muntin.physical import Feed, Level
from muntin.physical.lowering import FROM_SOURCE
from muntin.slicing import Slices
from muntin.spark.table import Table

WRITTEN_OUT = 64
"""Up to this many copies of a source row are written out one by one."""

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


def from_source(table: Table, level: Level) -> DataFrame:
    """The source grouped into the first level: keys, node, start and partials."""
    lifts = [(p.name, p.lift) for p in table.columns.partials]
    single = _single_target(level)
    if single is not None:
        node, start = single
        rows = table.rows.withColumn("start", F.expr(start)).withColumn("node", F.lit(node))
        return _grouped(rows, table, lifts)
    return _grouped(copied(table, level), table, lifts)


def next_level(rows: DataFrame, level: Level, table: Table) -> DataFrame:
    """Rows of the levels before, exploded into this level and merged."""
    parents = sorted(set(level.feeds) | set(level.slices))
    cases = " ".join(f"WHEN {n} THEN {_targets(level, n, 'start')}" for n in parents)
    carried = [F.col(c) for c in (*table.keys, *(p.name for p in table.columns.partials))]
    exploded = rows.select(*carried, F.inline(F.expr(f"CASE node {cases} END")))
    return _grouped(exploded, table, [(p.name, p.merge) for p in table.columns.partials])


def _grouped(rows: DataFrame, table: Table, columns: list[tuple[str, str]]) -> DataFrame:
    partials = [F.expr(sql).alias(name) for name, sql in columns]
    return rows.groupBy(*table.keys, "node", "start").agg(*partials)


def _single_target(level: Level) -> tuple[int, str] | None:
    """The node and the start of the one piece that each source row falls into, if that is all."""
    slices = level.slices.get(FROM_SOURCE, ())
    feeds = level.feeds.get(FROM_SOURCE, ())
    if len(slices) == 1 and not feeds:
        return slices[0].node, slice_start(slices[0].slices, "t")
    if len(feeds) == 1 and not slices and feeds[0].count == feeds[0].turns:
        return feeds[0].node, _begin(feeds[0])
    return None


def slice_start(slices: Slices, position: str) -> str:
    """SQL for where the slice of a position begins."""
    starts = [f"{position} - pmod({position} - {c.phase}L, {c.step}L)" for c in slices.cuts]
    return starts[0] if len(starts) == 1 else f"greatest({', '.join(starts)})"


def _begin(feed: Feed) -> str:
    """SQL for the newest instance that a source row belongs to."""
    return f"t - pmod(t - {feed.origin}L, {feed.turns}L)"


def copied(table: Table, level: Level) -> DataFrame:
    """Each source row once for every instance or slice it belongs to."""
    slices = level.slices.get(FROM_SOURCE, ())
    feeds = level.feeds.get(FROM_SOURCE, ())
    copies = len(slices) + sum(-(-f.count // f.turns) for f in feeds)
    if copies > WRITTEN_OUT:
        return table.rows.select("*", F.inline(F.expr(_targets(level, FROM_SOURCE, "t")))).drop("t")
    structs = [_struct(s.node, slice_start(s.slices, "t"), None) for s in slices]
    for f in feeds:
        for i in range(-(-f.count // f.turns)):
            structs.append(_struct(f.node, f"{_begin(f)} - {i * f.turns}L", f.count))
    exploded = table.rows.select("*", F.inline(F.expr(f"array({', '.join(structs)})")))
    return exploded.where("reach IS NULL OR start + reach > t").drop("t", "reach")


def _struct(node: int, start: str, reach: int | None) -> str:
    limit = "CAST(NULL AS BIGINT)" if reach is None else f"{reach}L"
    return f"named_struct('node', {node}, 'start', {start}, 'reach', {limit})"


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

"""The expand operator: explode each row into what it feeds, group, level by level.

    row ─ one copy for each feed of its node ─ one for each instance of the feed ─ group

The feeds of a node (muntin.plan.feeds) are a constant array; which instances they come to is
plain arithmetic on the position of the row, and a sequence. So expressions grow with neither the
windows nor their overlap, and Spark compiles them all: functions over arrays, and code that is
written out for every copy, it would interpret. Where a level has a single target that each row
falls into once, nothing is exploded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from muntin.engines.spark.bind import Bound
from muntin.engines.spark.finishing import finish
from muntin.engines.spark.names import constant, named
from muntin.engines.spark.table import Table, add_order
from muntin.physical import FROM_SOURCE, PhysicalPlan
from muntin.physical.operators.expand import Level, SlicesTarget, levels
from muntin.plan.slicing import Slices

_SHIFT = "({p} - offset - origin)"
_FIRST = f"pmod(pmod({_SHIFT} div gcd, turns) * inverse, turns)"
_FEEDS = f"{_SHIFT} % gcd = 0 AND {_FIRST} < count"
_OWN = ("node", "origin", "offset", "stride", "count", "gcd", "turns", "inverse")


Read = Callable[[DataFrame], None]
"""Told, for every level, of the rows that go to each node (`node`, `start`) before they are
grouped: what tests hold explain() to."""


def run(physical: PhysicalPlan, bound: Bound, read: Read | None = None) -> DataFrame:
    """All levels, one after the other."""
    first, *others = levels(physical)
    rows = from_source(bound.table, first, read)
    for level in others:
        rows = next_level(rows, level, bound.table, read)
    return finish(rows, physical, bound.query, bound.table)


def from_source(table: Table, level: Level, read: Read | None = None) -> DataFrame:
    """The source grouped into the first level: keys, node, start and partials."""
    lifts = [(p.name, p.in_order or p.lift) for p in table.columns.partials]
    rows = add_order(table)
    if read is not None:
        read(copy_rows(rows, level))
    single = _single_target(level)
    if single is None:
        return _group(copy_rows(rows, level), table, lifts, F.expr("node"), F.expr("start"))
    node, start = single
    return _group(rows, table, [("node", f"{node}"), *lifts], named(start, "start"))


def next_level(rows: DataFrame, level: Level, table: Table, read: Read | None = None) -> DataFrame:
    """Rows of the levels before, exploded into this level and merged."""
    parents = sorted(set(level.feeds) | set(level.slices))
    most = max(_most_cuts(level.slices.get(n, ())) for n in parents)
    cases = " ".join(f"WHEN {n} THEN {_targets(level, n, most)}" for n in parents)
    placed = rows.withColumnsRenamed({"node": "of", "start": "at"})
    exploded = _explode(placed, f"CASE of {cases} END", "at", level, most)
    if read is not None:
        read(exploded)
    merges = [(p.name, p.merge) for p in table.columns.partials]
    return _group(exploded, table, merges, F.expr("node"), F.expr("start"))


def copy_rows(rows: DataFrame, level: Level) -> DataFrame:
    """Each source row once for every instance or slice it belongs to."""
    single = _single_target(level)
    if single is not None:
        node, start = single
        return rows.withColumns({"start": F.expr(start), "node": F.lit(node)}).drop("t")
    cuts = _most_cuts(level.slices.get(FROM_SOURCE, ()))
    return _explode(rows, _targets(level, FROM_SOURCE, cuts), "t", level, cuts)


def slice_start(slices: Slices, position: str) -> str:
    """SQL for where the slice of a position begins."""
    return _latest([(f"{c.step}L", f"{c.phase}L") for c in slices.cuts], position)


def _most_cuts(slices: Iterable[SlicesTarget]) -> int:
    return max((len(target.slices.cuts) for target in slices), default=0)


def _targets(level: Level, parent: int, cuts: int) -> str:
    """SQL for a constant array of what the rows of a node feed: slices have a step, no count.

    Slices that are cut in fewer ways than others have their last cut several times.
    """
    rows = [asdict(feed) for feed in level.feeds.get(parent, ())]
    for target in level.slices.get(parent, ()):
        own = target.slices.cuts
        padded = (*own, *own[-1:] * (cuts - len(own)))
        steps = {f"step{i}": cut.step for i, cut in enumerate(padded)}
        phases = {f"phase{i}": cut.phase for i, cut in enumerate(padded)}
        rows.append({"node": target.node, **steps, **phases})
    return constant(rows, f"ARRAY<STRUCT<{_fields(cuts)}>>")


def _fields(cuts: int) -> str:
    more = [f"{name}{i}" for i in range(cuts) for name in ("step", "phase")]
    return ", ".join(f"{n} {'INT' if n == 'node' else 'BIGINT'}" for n in (*_OWN, *more))


def _explode(rows: DataFrame, targets: str, position: str, level: Level, cuts: int) -> DataFrame:
    """Rows with node and start, without their position."""
    first, feeds = _FIRST.format(p=position), _FEEDS.format(p=position)
    each = rows.select("*", F.inline(F.expr(targets)))
    kept = each.where(f"count IS NULL OR ({feeds})" if cuts else feeds)
    begun = kept.withColumn("first", F.expr(first))
    several = any(f.count > f.turns for own in level.feeds.values() for f in own)
    if several:
        last = "(count - 1 - first) div turns"
        last = f"if(count IS NULL, 0L, {last})" if cuts else last
        begun = begun.select("*", F.explode(F.expr(f"sequence(0L, {last})")).alias("turn"))
    further = "first + turn * turns" if several else "first"
    start = f"{position} - offset - ({further}) * stride"
    if cuts:
        latest = _latest([(f"step{i}", f"phase{i}") for i in range(cuts)], position)
        start = f"if(count IS NULL, {latest}, {start})"
    others = [f"step{i}" for i in range(cuts)] + [f"phase{i}" for i in range(cuts)]
    done = begun.withColumn("start", F.expr(start))
    return done.drop(position, "first", "turn", *_OWN[1:], *others)


def _latest(cuts: list[tuple[str, str]], position: str) -> str:
    starts = [f"{position} - pmod({position} - {phase}, {step})" for step, phase in cuts]
    return starts[0] if len(starts) == 1 else f"greatest({', '.join(starts)})"


def _group(rows: DataFrame, table: Table, columns: list[tuple[str, str]], *by: Column) -> DataFrame:
    keys = map(F.expr, table.keys)
    return rows.groupBy(*keys, *by).agg(*(named(sql, name) for name, sql in columns))


def _single_target(level: Level) -> tuple[int, str] | None:
    """The node and the start of the one piece that each source row falls into, if that is all."""
    slices = level.slices.get(FROM_SOURCE, ())
    feeds = level.feeds.get(FROM_SOURCE, ())
    if len(slices) == 1 and not feeds:
        return slices[0].node, slice_start(slices[0].slices, "t")
    if len(feeds) == 1 and not slices and feeds[0].count == feeds[0].turns:
        return feeds[0].node, f"t - pmod(t - {feeds[0].origin}L, {feeds[0].turns}L)"
    return None

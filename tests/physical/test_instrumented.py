"""What explain() prints is what runs: on a dense grid, the pieces that each operator reads of each
edge, counted by a hook in the operator itself, are those that explain() names.

Expand and window, which need Spark, are in tests/engines/spark/test_instrumented.py.
"""

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa
import pytest

import muntin as mt
from conformance.selection import many
from muntin.aggregates.columns import PartialColumn
from muntin.dialects.rendering import names_of, table_expressions
from muntin.engines.duckdb.arrays import Tree
from muntin.engines.duckdb.bound_query import reading_of, run
from muntin.engines.duckdb.tables import open_source
from muntin.engines.spark.kernel_stage import Kernel
from muntin.engines.spark.preaggregate import PreAggregation
from muntin.engines.spark.rows_stage import SlicedRows
from muntin.errors import StrategyError
from muntin.kernels.sent_columns import AS_NAMED
from muntin.model.windows import Window
from muntin.physical import FROM_SOURCE, PhysicalPlan
from muntin.physical.operators.kernel import bases, branches_below, trees
from muntin.plan.slicing import Slices
from muntin.planner.strategies import STRATEGIES
from muntin.state.bucket import Bucket
from muntin.state.spec import Spec
from muntin.state.store import MemoryStore
from muntin_testing.grid import (
    PARTIAL,
    SECOND,
    SETS,
    SPAN,
    Hook,
    Pieces,
    averages,
    explained,
    planned,
)
from muntin_testing.reached import Reached


def by_kernel(physical: PhysicalPlan) -> Pieces:
    rows = [(node, start) for node, start in _first_level(physical)]
    table = pa.table(
        {
            "node": pa.array([node for node, _ in rows], pa.int32()),
            "start": pa.array([start for _, start in rows], pa.int64()),
            "p0": pa.array([1] * len(rows), pa.int64()),
        }
    )
    hook, asked = Hook(), frozenset(node.number for node in physical.outputs)
    kernel = Kernel((), (PARTIAL,), trees(physical), asked, None, wraps=False, read=hook)
    list(kernel(iter(table.to_batches())))
    return hook.pieces


def by_rows(physical: PhysicalPlan) -> Pieces:
    each = {"t": [t * SECOND for t in SPAN], "chunk": [0] * len(SPAN), "p0": [1] * len(SPAN)}
    hook, asked = Hook(), frozenset(node.number for node in physical.outputs)
    kernel = Kernel((), (PARTIAL,), trees(physical), asked, None, wraps=False, read=hook)
    [base] = bases(physical)
    list(SlicedRows(kernel, base, AS_NAMED)(iter(pa.table(each).to_batches(5))))
    return hook.pieces


def _first_level(physical: PhysicalPlan) -> list[tuple[int, int]]:
    found = set()
    for root in physical.roots:
        for t in SPAN:
            if isinstance(root.shape, Slices):
                found.add((root.number, root.shape.start_of(t * SECOND)))
            else:
                assert isinstance(root.shape, Window)
                found |= {(root.number, s) for s in root.shape.instances_of(t * SECOND)}
    return sorted(found)


def by_native(physical: PhysicalPlan) -> Pieces:
    hook = Hook()
    rows = pa.table(
        {"k0": ["a"] * len(SPAN), "t": [t * SECOND for t in SPAN], "p0": [1] * len(SPAN)}
    )
    body = PreAggregation(("k0",), (PARTIAL,), bases(physical), False, True, hook)
    list(body(iter(rows.to_batches())))
    return hook.pieces


def by_bucketed(physical: PhysicalPlan) -> Pieces:
    hook = Hook()
    spec = Spec(bases(physical), ("k0",), (PARTIAL,), named=("k",), described=("v",), read=hook)
    tables = []
    for base in spec.bases:
        starts = sorted({base.slices.start_of(t * SECOND) for t in SPAN})
        many = len(starts)
        node = pa.array([base.node] * many, pa.int32())
        columns = {"node": node, "start": starts, "k0": ["a"] * many, "p0": [1] * many}
        tables.append(pa.table(columns))
    step = Bucket(spec, 0, MemoryStore()).step(tables, watermark=1000 * SECOND)
    assert sum(table.num_rows for table in step.results) > 0
    return hook.pieces


def by_sql(physical: PhysicalPlan) -> Pieces:
    rows = pa.table({"ts": pa.array([t * SECOND for t in SPAN], pa.timestamp("us")), "v": SPAN})
    plan = physical.plan
    windows = [n.shape for n in plan.nodes if not n.hidden and isinstance(n.shape, Window)]
    query = mt.query("ts", windows, [mt.sum("v")])
    source = open_source(rows, query)
    read = reading_of(source, query)
    counting = PartialColumn("pieces", "count(*)", "count(*)")
    read = replace(read, columns=replace(read.columns, partials=(*read.columns.partials, counting)))
    names = names_of(physical, read.table)
    tables = ",\n".join(table_expressions(physical, read, names))
    each = " UNION ALL ".join(
        f"SELECT {node.number}, start // {SECOND}, pieces FROM {names[node.number]}"
        for node in physical.nodes
        if node.parent != FROM_SOURCE
    )
    found: Pieces = {}
    rows = run(source.relation, f"WITH {tables}\n{each}").fetchall() if each else []
    for node, start, pieces in rows:
        found.setdefault(node, {})[start] = pieces
    return found


def by_arrays(physical: PhysicalPlan) -> Pieces:
    hook = Hook()
    for root in physical.roots:
        starts = [start for node, start in _first_level(physical) if node == root.number]
        table = pa.table({"start": starts, "p0": pa.array([1] * len(starts), pa.int64())})
        tree = Tree(root.number, branches_below(physical, root), not root.hidden, hook)
        assert sum(batch.num_rows for batch in tree.evaluate(table, (), (PARTIAL,))) > 0
    return hook.pieces


OPERATORS: dict[tuple[str, str], Callable[[PhysicalPlan], Pieces]] = {
    ("spark", "kernel"): by_kernel,
    ("spark", "rows"): by_rows,
    ("stream", "native"): by_native,
    ("stream", "bucketed"): by_bucketed,
    ("sql", "sql"): by_sql,
    ("duckdb", "sql"): by_sql,
    ("duckdb", "arrays"): by_arrays,
}


TELLING = ("uneven", "days of hours", "nested")
"""The sets with every kind of edge."""


@pytest.mark.parametrize(("engine", "operator"), OPERATORS)
def test_the_pieces_that_are_read_are_those_that_are_explained(engine: str, operator: str) -> None:
    reached = Reached()
    for name in many(TELLING, tuple(SETS)):
        for strategy, cost in [*((each, "seconds") for each in STRATEGIES), ("subsume", "rate")]:
            try:
                plan = planned(name, strategy, engine, operator, cost)
            except StrategyError:
                if operator != "rows":
                    raise
                continue  # which cuts rows in one way only
            assert (plan.operator.name, plan.strategy) == (operator, strategy)
            told = explained(plan)
            counted = averages(OPERATORS[engine, operator](plan.choice.physical))
            # a root that was asked for is handed on as it is, which is no edge
            assert {n: counted[n] for n in told} == told, (name, strategy, plan.explain())
            reached.update(how for how in plan.explanation().operators.values())
            reached["edges"] += len(told)
            reached["stairs"] += sum(" before it" in how for how in made_of(plan))
    reached.at_least(100, "edges")
    reached.at_least(2, "stairs")
    if operator not in ("sql", "rows"):
        reached.at_least(4, *(f"{operator}: {how}" for how in ("cut", "scan", "gather")))
        reached.at_least(1, f"{operator}: open")
        reached.at_least(2, f"{operator}: stair")


def made_of(plan: mt.Plan) -> list[str]:
    told = plan.explanation()
    return [told.made_of(node) for node in told.plan.nodes]

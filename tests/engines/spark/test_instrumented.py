"""What explain() prints is what Spark runs: the rows that go to each node, before they are grouped,
are the pieces that explain() names. In process: tests/physical/test_instrumented.py."""

import pytest
from pyspark.sql import DataFrame, SparkSession

import muntin as mt
from conformance.selection import many
from muntin.engines.spark.engine import BATCH_ENGINE
from muntin.engines.spark.operators import expand
from muntin.physical import FROM_SOURCE
from muntin.physical.lowering import Suffix
from muntin_testing.grid import SECOND, SPAN, Pieces, averages, explained, planned
from muntin_testing.reached import Reached

STRATEGIES = ["shared-pairs", "cutty", "wcg", "wcg-fw", "steiner", "subsume", "tri-weave"]

TELLING = ["cutty", "wcg-fw", "steiner", "tri-weave"]
"""With every kind of edge."""


@pytest.fixture(scope="module")
def events(spark: SparkSession) -> DataFrame:
    rows = spark.range(SPAN.start, SPAN.stop)
    return rows.selectExpr("timestamp_seconds(id) AS ts", "id AS v").cache()


@pytest.mark.slow
def test_expand_reads_the_pieces_that_are_explained(events: DataFrame) -> None:
    reached = Reached()
    chosen = [("uneven", strategy, "seconds") for strategy in many(TELLING, STRATEGIES)]
    chosen += [("days of hours", strategy, "seconds") for strategy in many([], STRATEGIES)]
    for name, strategy, cost in [*chosen, ("nested", "subsume", "rate")]:
        plan = planned(name, strategy, "spark", "expand", cost)
        assert plan.operator.name == "expand"
        bound = BATCH_ENGINE.bind(events, plan.query)
        fed: list[DataFrame] = []
        expand.run(plan.choice.physical, bound, fed.append)
        told = explained(plan)
        counted = averages(_pieces(fed, plan))
        assert {n: counted[n] for n in told} == told, (name, strategy, plan.explain())
        reached["edges"] += len(told)
        reached["stairs"] += plan.explain().count(" before it")
    reached.at_least(20, "edges")
    reached.at_least(2, "stairs")


def _pieces(fed: list[DataFrame], plan: mt.Plan) -> Pieces:
    """Rows of each node and start that come from its parent, or from what its stairs stand on: what
    is handed on is no edge."""
    parents = {node.number: {node.parent} for node in plan.choice.physical.nodes}
    for node in plan.choice.physical.nodes:
        if isinstance(node.program, Suffix):
            parents[node.number].add(node.program.foot)
    found: Pieces = {}
    for rows in fed[1:]:
        counts = rows.groupBy("of", "node", "start").count().collect()
        for row in counts:
            if row["of"] in parents[row["node"]]:
                own, at = found.setdefault(row["node"], {}), row["start"] // SECOND
                own[at] = own.get(at, 0) + row["count"]
    return found


def test_window_reads_every_row(events: DataFrame) -> None:
    plan = planned("uneven", "direct", "spark", "window")
    assert [node.parent for node in plan.choice.physical.nodes] == [FROM_SOURCE] * 4
    assert plan.explain().count("every row") == 4
    counted = mt.query("ts", plan.query.windows, [mt.count().alias("rows")])
    result = mt.optimize(counted, "direct", operator="window").apply(events)
    inside = result.where(
        "window.start >= timestamp_seconds(120) AND window.end <= timestamp_seconds(400)"
    )
    lengths = {w.id: w.range // SECOND for w in plan.query.windows}
    found = {(row["window_id"], row["rows"]) for row in inside.collect()}
    assert found == set(lengths.items())

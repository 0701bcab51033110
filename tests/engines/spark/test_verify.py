"""verify: equal where rows are equal, and no wrong value passes for a right one."""

from dataclasses import replace
from datetime import datetime, timedelta
from math import inf, nan

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.engines.spark.verify import compare, value_differs
from muntin.plan.coverage import EdgePieces, Progression
from muntin_testing.oracle import planned
from muntin_testing.running import on_spark

PAIRS = [
    (1.0, 1.0, True),
    (1.0, 1.0 + 1e-12, True),
    (1.0, 1.001, False),
    (nan, nan, True),
    (inf, inf, True),
    (None, None, True),
    (0.0, -0.0, True),
    (nan, 5.0, False),
    (5.0, nan, False),
    (inf, 5.0, False),
    (5.0, inf, False),
    (inf, -inf, False),
    (nan, inf, False),
    (None, 5.0, False),
    (5.0, None, False),
    (None, nan, False),
]


def test_no_wrong_value_passes_for_a_right_one(frugal: SparkSession) -> None:
    rows = [(i, [(ours,)], [(theirs,)]) for i, (ours, theirs, _) in enumerate(PAIRS)]
    schema = "i int, ours array<struct<v: double>>, theirs array<struct<v: double>>"
    pairs = frugal.createDataFrame(rows, schema)
    found: dict[int, bool] = dict(pairs.select("i", value_differs("v", "double")).collect())
    wrong = [pair for i, pair in enumerate(PAIRS) if found[i] is pair[2]]
    assert not wrong


@pytest.fixture
def table(frugal: SparkSession) -> DataFrame:
    start = datetime(2024, 1, 1)
    rows = [(start + timedelta(minutes=i), i % 3, float(i)) for i in range(50)]
    return frugal.createDataFrame(rows, "ts timestamp, k int, v double")


QUERY = mt.query(
    "ts", [mt.tumbling("5 minutes"), mt.tumbling("10 minutes")], [mt.sum("v"), mt.count()], keys="k"
)


@pytest.fixture
def ours(frugal: SparkSession, table: DataFrame) -> DataFrame:
    """The right rows as a table of their own, so that they are computed once."""
    rows = on_spark(planned("wcg", QUERY), QUERY, table)
    return frugal.createDataFrame(rows.collect(), rows.schema)


def test_a_right_plan_is_equal(table: DataFrame) -> None:
    outcome = compare(table, QUERY, on_spark(planned("wcg", QUERY), QUERY, table))
    assert outcome
    assert outcome.rows == 45
    assert repr(outcome) == "equal: all 45 rows are Spark's own"


def test_a_wrong_plan_is_found_out_and_the_rows_are_shown(table: DataFrame) -> None:
    plan = planned("wcg", QUERY)
    half = EdgePieces((Progression(0, 1, 1),))  # the older half of each ten minutes
    nodes = [replace(n, pieces=half) if n.parent else n for n in plan.nodes]
    wrong = replace(plan, nodes=tuple(nodes))
    outcome = compare(table, QUERY, on_spark(wrong, QUERY, table))
    assert not outcome
    assert (outcome.rows, outcome.different) == (45, 15)
    assert "different: 15 of 45 rows" in repr(outcome)
    assert "10 minutes [2024-01-01 00:00:00, 2024-01-01 00:10:00) k=" in repr(outcome)
    assert "Spark's" in repr(outcome)


def test_missing_extra_and_repeated_rows_are_told_apart(table: DataFrame, ours: DataFrame) -> None:
    missing = compare(table, QUERY, ours.where("window_id <> '10 minutes'"))
    assert (missing.rows, missing.different) == (45, 15)
    assert "only Spark has it" in repr(missing)
    extra = compare(table.where("v < 40"), QUERY, ours)
    assert "only Muntin has it" in repr(extra)
    twice = compare(table, QUERY, ours.unionAll(ours.where("window_id = '10 minutes'")))
    assert twice.different == 15
    assert "2 rows against Spark's 1" in repr(twice)


def test_a_sum_that_cancels_is_no_false_alarm(frugal: SparkSession) -> None:
    """1e9 and -1e9 in turn with a little noise: the rounding of the terms stays in the sum."""
    start = datetime(2024, 1, 1)
    rows = [(start + timedelta(seconds=i), (-1) ** i * 1e9 + i / 7) for i in range(240)]
    table = frugal.createDataFrame(rows, "ts timestamp, v double")
    windows = [mt.hopping("2 minutes", "10 seconds"), mt.hopping("1 minute", "10 seconds")]
    query = mt.query("ts", windows, [mt.sum("v"), mt.avg("v"), mt.sum("v").filter("v > 0")])
    outcome = compare(table, query, on_spark(planned("shared-panes", query), query, table))
    assert outcome, outcome


def test_values_that_spark_does_not_compare_are_compared_all_the_same(
    frugal: SparkSession,
) -> None:
    df = frugal.sql(
        "SELECT timestamp_seconds(id * 30) AS ts, id, map('a', id, 'b', null) AS m, array("
        "named_struct('in', map(id, 'x')), null) AS deep, parse_json('[1]') AS any, make_interval("
        "0, int(id)) AS i, if(id = 3, null, named_struct('in', map(1, id))) AS s FROM range(4)"
    )
    strange = [mt.max_by(name, "id").alias(name) for name in ("m", "deep", "any", "i", "s")]
    query = mt.query("ts", [mt.tumbling("1 minute"), mt.tumbling("2 minutes")], strange)
    ours = on_spark(planned("wcg", query), query, df)
    assert repr(compare(df, query, ours)) == "equal: all 3 rows are Spark's own"
    other = {"m": "map('a', 9L)", "deep": "slice(deep, 1, 1)", "i": "i * 2"}
    found = compare(df, query, ours.withColumns({k: F.expr(v) for k, v in other.items()}))
    assert found.different == 3
    assert "i = '2 months', Spark's '1 months'" in repr(found)


def test_a_difference_says_whether_rounding_explains_it(table: DataFrame, ours: DataFrame) -> None:
    nudged = ours.withColumn("sum(v)", ours["sum(v)"] * 1.01)
    text = repr(compare(table, QUERY, nudged))
    assert "beyond the tolerance of 1e-09" in text
    rounded = compare(table, QUERY, ours.withColumn("sum(v)", ours["sum(v)"] * (1 + 1e-12)))
    assert rounded.equal
    assert rounded.rounded > 30
    assert "within 1e-09 of rounding" in repr(rounded)

"""Several queries in one pass: every query's rows are Spark's own, under its own names."""

from contextlib import redirect_stdout
from datetime import datetime, timedelta
from io import StringIO
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

import muntin as mt
from muntin.model.choices import BatchOperator

AGGREGATES = [
    mt.count(),
    mt.sum("n").alias("total"),
    mt.avg("n").alias("mean"),
    mt.max("v").alias("it's \\ `high`"),
    mt.sum("n").filter("v > 0").alias("some"),
    mt.min("v").alias("a0"),
]


@pytest.fixture
def table(frugal: SparkSession) -> DataFrame:
    random, start = Random(3), datetime(1969, 12, 31, 22)
    rows = [
        (
            start + timedelta(seconds=random.randrange(18_000)),
            random.choice(["a", "b", None]),
            random.randrange(3),
            random.randrange(-50, 50),
            random.choice([None, *(x / 4 for x in range(-8, 8))]),
        )
        for _ in range(120)
    ]
    schema = "ts timestamp, `the key` string, l int, n bigint, v double"
    return frugal.createDataFrame(rows, schema).cache()


@st.composite
def asked(draw: st.DrawFn) -> mt.Query:
    shapes = st.tuples(st.integers(1, 6), st.integers(1, 6), st.sampled_from((0, 3)))
    windows = draw(st.lists(shapes, min_size=1, max_size=3, unique=True))
    made = {}
    for number, (length, hop, shift) in enumerate(windows):
        slide = min(length, hop) * 600_000_000
        name = draw(st.sampled_from((None, f"w'{number}")))
        window = mt.Window(length * 600_000_000, slide, shift * 60_000_000 % slide, name)
        made[window] = window
    aggregates = draw(st.lists(st.sampled_from(AGGREGATES), min_size=1, unique=True))
    keys = draw(st.sampled_from((["the key", "l"], ["l", "the key"], ["l"], [])))
    where = draw(st.sampled_from((None, None, "n > 0")))
    return mt.query("ts", list(made.values()), aggregates, keys=keys, where=where)


MINUTES = [mt.tumbling("10 minutes", id="w'0"), mt.hopping("1 hour", "20 minutes")]
SOME = [
    mt.query("ts", MINUTES, AGGREGATES[:3], keys=["the key", "l"]),
    mt.query("ts", [mt.tumbling("10 minutes")], AGGREGATES[2:], keys=["l", "the key"]),
    mt.query("ts", [mt.tumbling("40 minutes")], AGGREGATES[:1], keys="l", where="n > 0"),
]


def test_every_query_gets_sparks_own_rows(table: DataFrame) -> None:
    _check(table, SOME, "wcg", "expand")


@pytest.mark.long
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(queries=st.lists(asked(), min_size=2, max_size=4), strategy=st.sampled_from(("auto", "wcg")))
def test_random_queries_get_sparks_own_rows(
    table: DataFrame, queries: list[mt.Query], strategy: str
) -> None:
    _check(table, queries, strategy)


def _check(
    table: DataFrame, queries: list[mt.Query], strategy: str, operator: str | None = None
) -> None:
    named = {f"query '{i}'": q for i, q in enumerate(queries)}
    plans = mt.optimize(None, strategy, operator=operator, queries=named)  # type: ignore[call-overload]
    verified = mt.verify(table, plans)
    assert verified, repr(verified)
    assert verified.rows or any(query.where for query in queries)
    together = [row.asDict(True) for row in plans.apply(table).collect()]
    assert len(together) == verified.rows
    for id, rows in plans.apply(table, deliver="dict").items():
        mine = [row for row in together if row["query_id"] == id]
        own = sorted(repr(row.asDict(True)) for row in rows.collect())
        assert sorted(repr({c: row[c] for c in rows.columns}) for row in mine) == own
        others = set(together[0]) - {"query_id", *rows.columns}
        assert all(row[name] is None for row in mine for name in others)


ONE = mt.query("ts", [mt.tumbling("10 minutes")], [mt.count().alias("x")], keys="l")
TWO = mt.query("ts", [mt.tumbling("10 minutes", id="ten")], [mt.sum("n").alias("x")], keys="l")


def test_one_name_for_two_things_of_one_type(table: DataFrame) -> None:
    rows = mt.aggregate(table, queries={"one": ONE, "two": TWO})
    assert rows.columns == ["query_id", "window_id", "window", "l", "x"]
    assert {(r.query_id, r.window_id) for r in rows.select("query_id", "window_id").collect()} == {
        ("one", "10 minutes"),
        ("two", "ten"),
    }
    expected = [r.c for r in table.groupBy().agg({"n": "sum"}).toDF("c").collect()]
    assert rows.where("query_id = 'two'").groupBy().sum("x").collect()[0][0] == expected[0]


def test_one_name_of_two_types_needs_a_dict(table: DataFrame) -> None:
    other = mt.query("ts", [mt.tumbling("1 hour")], [mt.avg("n").alias("x")], keys="l")
    queries = {"one": ONE, "other": other}
    with pytest.raises(mt.MuntinError, match=r"'x' is bigint in query 'one' and double"):
        mt.aggregate(table, queries=queries)
    assert set(mt.aggregate(table, queries=queries, deliver="dict")) == {"one", "other"}


def test_layouts(table: DataFrame) -> None:
    queries = {"one": ONE, "two": TWO}
    with pytest.raises(mt.MuntinError, match="deliver='dict'"):
        mt.aggregate(table, queries=queries, layout="wide")
    with pytest.raises(mt.MuntinError, match="unknown deliver"):
        mt.aggregate(table, queries=queries, deliver="list")  # type: ignore[call-overload]
    wide = mt.aggregate(table, queries=queries, layout="wide", deliver="dict")
    assert wide["two"].columns == ["l", "window_end", "x__ten"]
    filled = mt.aggregate(table, queries=queries, empty="fill")
    counts: dict[str, int] = dict(
        filled.where("x IS NOT NULL").groupBy("query_id").count().collect()
    )
    assert counts["one"] > counts["two"]  # an empty count is 0, an empty sum is null


def test_the_source_is_read_once(table: DataFrame) -> None:
    hour = mt.query("ts", [mt.hopping("1 hour", "10 minutes")], [mt.avg("n")], keys="l")
    text = StringIO()
    with redirect_stdout(text):
        mt.aggregate(
            table, queries={"one": ONE, "two": TWO, "hour": hour}, strategy="wcg"
        ).explain()
    assert text.getvalue().count("+- InMemoryTableScan") == 1


def test_the_operator_that_was_asked_for_runs(frugal: SparkSession) -> None:
    """What explain() shows of several queries is what apply() runs."""
    table = frugal.range(100).selectExpr("timestamp_seconds(id) AS ts", "id AS v")
    queries = {"one": mt.query("ts", [mt.hopping("9 seconds", "3 seconds")], [mt.sum("v")])}
    asked: tuple[tuple[BatchOperator, bool], ...] = (("kernel", True), ("expand", False))
    for operator, stage in asked:
        plans = mt.optimize(queries=queries, strategy="shared-pairs", operator=operator)
        assert [plan.operator.name for plan in plans.plans] == [operator]
        with redirect_stdout(StringIO()) as printed:
            plans.apply(table).explain()
        assert ("MapInArrow" in printed.getvalue()) is stage

"""Operators on Spark: each gives window()'s rows, the right one is chosen, and plans stay small."""

import os
import re
from contextlib import redirect_stdout
from functools import partial
from io import StringIO

import pyarrow.compute as pc
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.errors import StrategyError
from muntin.kernels.mergers import not_merged
from muntin.model.choices import BatchOperator
from muntin.physical.operators import kernel as kernel_operator
from muntin.physical.operators.kernel import KERNEL, SORTED_BY_SPARK
from muntin_testing.oracle import assert_same_rows, planned, rows_of_window
from muntin_testing.running import chosen, on_spark, question_of
from muntin_testing.tables import scenario

LONG = os.environ.get("MUNTIN_HYPOTHESIS") == "long"
STRATEGIES = ("shared-pairs", "cutty", "steiner", "wcg-fw", "unshared-pairs")
NUMBERS = range(150 if LONG else 1)


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_kernel_gives_the_rows_of_window(
    frugal: SparkSession, strategy: str, number: int
) -> None:
    """Seeds are tried until there are rows, and aggregates that NumPy merges."""
    for turn in range(20):
        asked = scenario(f"kernel/{strategy}/{number}/{turn}")
        plan = planned(strategy, asked.query)
        if asked.rows and KERNEL.refusal(plan, question_of(asked.query)) is None:
            break
    else:
        pytest.fail("no seed led to a query for the kernel")
    table = asked.table(frugal)
    ours = on_spark(plan, asked.query, table, "kernel")
    expected = rows_of_window(table, asked.query)
    assert_same_rows(ours, expected, asked.query, may_be_empty=LONG)


@pytest.mark.parametrize("operator", ["kernel", "rows"])
def test_workers_sort_as_spark_does(
    frugal: SparkSession, operator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    windows = [mt.hopping("10 minutes", "1 minute"), mt.hopping("1 hour", "4 minutes")]
    asked = mt.query("ts", windows, [mt.sum("v"), mt.count()], "k")
    table = events(frugal).repartition(3)
    expected = rows_of_window(table, asked)
    for parts, sorts in ((5, False), (2, False), (None, True)):
        monkeypatch.setattr(kernel_operator, "held_parts", lambda *_, parts=parts: parts)
        ours = on_spark(planned("shared-pairs", asked), asked, table, operator)
        assert ("Sort [" in physical_plan(ours)) == sorts
        assert_same_rows(ours, expected, asked)


@pytest.mark.parametrize("operator", ["kernel", "rows"])
@pytest.mark.parametrize("keys", [["k"], []])
def test_keys_that_stay_whole_give_the_same_rows(
    frugal: SparkSession, operator: BatchOperator, keys: list[str]
) -> None:
    windows = [mt.hopping("10 minutes", "1 minute"), mt.hopping("1 hour", "4 minutes")]
    asked = mt.query("ts", windows, [mt.sum("v"), mt.count()], keys)
    table = events(frugal).repartition(3)
    expected = rows_of_window(table, asked)
    for rate, whole in ((1, True), (None, False)):
        plan = mt.optimize(
            asked, "shared-pairs", operator=operator, rows=2000, distinct_keys=3, rate=rate
        )
        ours = plan.apply(table)
        assert ("chunk" not in physical_plan(ours)) == whole
        assert ("time is split into chunks of 4 hours" not in plan.explain()) == whole
        assert_same_rows(ours, expected, asked)


@pytest.mark.parametrize("operator", ["kernel", "rows"])
@pytest.mark.parametrize("chunked", [True, False])
def test_equal_neighbours_come_back_as_runs_and_give_the_same_rows(
    frugal: SparkSession, operator: BatchOperator, chunked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    windows = [
        mt.tumbling("1 minute"),
        mt.hopping("10 minutes", "1 minute"),
        mt.hopping("1 hour", "4 minutes"),
    ]
    asked = mt.query("ts", windows, [mt.sum("v"), mt.min("v"), mt.count()], "k")
    rare = frugal.range(900).selectExpr(
        "timestamp_seconds(id * 4177 % 86400 - 40000) AS ts",
        "if(id % 301 = 0, NULL, id % 300) AS k",
        "if(id % 7 = 0, NULL, id % 101) AS v",
    )
    expected = rows_of_window(rare, asked)
    monkeypatch.setattr(kernel_operator, "stay_whole", lambda *_: not chunked)
    known = mt.Statistics(rows=900, keys=300, rate=900 / 86400)
    plan = mt.optimize(asked, "shared-pairs", operator=operator, statistics=known)
    ours = plan.apply(rare)
    assert "times" in physical_plan(ours)
    assert ("chunk" in physical_plan(ours)) == chunked
    assert "sent as one: of 10 minutes/1 minute, 1 hour/4 minutes" in plan.explain()
    assert_same_rows(ours, expected, asked)


def test_spark_sorts_where_a_worker_might_not_hold_all_rows() -> None:
    windows = [mt.tumbling("1 minute"), mt.hopping("1 hour", "1 minute")]
    asked = mt.query("ts", windows, [mt.max("v")], "k")
    known = partial(mt.optimize, asked, operator="kernel", distinct_keys=100, rate=100)
    assert SORTED_BY_SPARK not in known(rows=1e8).explain()
    assert SORTED_BY_SPARK in known().explain()


def physical_plan(df: DataFrame) -> str:
    """What Spark will run, without the numbers that differ from query to query."""
    out = StringIO()
    with redirect_stdout(out):
        df.explain()
    return re.sub(r"#\d+L?|plan_id=\d+|\[id=.*?\]", "", out.getvalue())


def events(spark: SparkSession, rows: int = 2000) -> DataFrame:
    return spark.range(rows).selectExpr(
        "timestamp_seconds(id * 17 % 7200) AS ts", "id % 3 AS k", "CAST(id % 101 AS DOUBLE) AS v"
    )


def test_one_tumbling_window_runs_sparks_own_plan(spark: SparkSession) -> None:
    table = events(spark)
    ours = mt.aggregate(table, "ts", [mt.tumbling("10 minutes")], [mt.max("v").alias("m")], "k")
    window = F.window("ts", "10 minutes").alias("window")
    theirs = table.groupBy(window, "k").agg(F.max("v").alias("m"))
    theirs = theirs.select(F.lit("10 minutes").alias("window_id"), "window", "k", "m")
    stages = [re.findall(r"^[ :+-]*(\w+)", physical_plan(df), re.M) for df in (ours, theirs)]
    assert stages[0] == stages[1]  # only the names of columns differ
    assert stages[0].count("Exchange") == 1


def sliding(count: int, minutes: int = 1) -> list[mt.Window]:
    return [mt.hopping(f"{i + minutes} minutes", f"{minutes} minutes") for i in range(count)]


@pytest.mark.parametrize("operator", ["expand", "kernel"])
def test_the_spark_plan_grows_with_levels_not_with_windows(
    spark: SparkSession, operator: BatchOperator
) -> None:
    def lines(count: int) -> int:
        result = mt.aggregate(
            events(spark),
            "ts",
            sliding(count),
            [mt.max("v")],
            "k",
            strategy="shared-panes",
            operator=operator,
        )
        return len(physical_plan(result).splitlines())

    assert lines(10) == lines(1000)


@pytest.mark.parametrize("count", [1, 300])
def test_many_windows_run(frugal: SparkSession, count: int) -> None:
    table = events(frugal, 100)
    windows = sliding(count, minutes=10)  # a thousand by the minute have half a million results
    result = mt.aggregate(table, "ts", windows, [mt.sum("v").alias("s"), mt.count().alias("n")])
    rows = result.toArrow()
    assert len(rows["window_id"].unique()) == count
    longest = rows.filter(pc.equal(rows["window_id"], windows[-1].id)).to_pylist()
    query = mt.query("ts", [windows[-1]], [mt.sum("v").alias("s"), mt.count().alias("n")])
    expected = rows_of_window(table, query).toArrow().to_pylist()
    by_start = [
        sorted(side, key=lambda row: row["window"]["start"]) for side in (longest, expected)
    ]
    assert by_start[0] == by_start[1]
    assert len(expected) > 2


def test_auto_takes_what_is_predicted_cheapest_and_says_why() -> None:
    heavy = mt.query(
        "ts", [mt.hopping("1 day", "1 minute"), mt.hopping("1 hour", "1 minute")], [mt.avg("v")]
    )
    plan = mt.optimize(heavy, rate=1000, distinct_keys=50)
    assert plan.operator.name == "kernel"
    assert plan.explain().startswith(f"{plan.strategy} by kernel: predicted ")
    assert " faster than Spark's own (" in plan.explain().partition("\n")[0]
    choice = chosen(plan.planned, heavy, keys=50, rate=1000)
    assert choice.operator.name == "kernel"
    assert choice.seconds < min(seconds for seconds, *_ in choice.others.values())
    light = mt.query("ts", [mt.tumbling("1 minute"), mt.tumbling("2 minutes")], [mt.avg("v")])
    assert mt.optimize(light, rate=1, distinct_keys=10, rows=1e4).operator.name == "expand"


def test_every_edge_has_an_operator() -> None:
    query = mt.query("ts", sliding(3), [mt.max("v")])
    for operator in ("window", "expand", "kernel"):
        plan = mt.optimize(query, "shared-panes", operator=operator)
        assert set(plan.explanation().operators) == {node.id for node in plan.tree.nodes}
    assert plan.explanation().operators["slices"] == "slices"
    assert plan.choice.asked


def test_wrong_operators_are_refused_with_the_reason() -> None:
    query = mt.query(
        "ts",
        [mt.hopping("8 minutes", "2 minutes"), mt.hopping("16 minutes", "2 minutes")],
        [mt.max("v")],
    )
    with pytest.raises(StrategyError, match="unknown operator 'kernal': did you mean 'kernel'"):
        mt.optimize(query, operator="kernal")  # type: ignore[call-overload]
    only_spark = mt.query("ts", query.windows, [mt.collect_set("v")])
    with pytest.raises(StrategyError, match=r"'kernel' cannot run this plan: collect_set\(v\) is"):
        mt.optimize(only_spark, "wcg", operator="kernel")
    assert not_merged(["max"]) is None


def test_the_kernel_runs_windows_of_windows_that_overlap_themselves(frugal: SparkSession) -> None:
    windows = [mt.hopping("8 minutes", "2 minutes"), mt.hopping("16 minutes", "2 minutes")]
    table = events(frugal, 300)
    for aggregate in (mt.max("v"), mt.sum("v")):
        query = mt.query("ts", windows, [aggregate], keys="k")
        plan = planned("wcg", query)
        assert [node.parent for node in plan.nodes] == [None, windows[0].id]
        ours = on_spark(plan, query, table, "kernel")
        assert_same_rows(ours, rows_of_window(table, query), query)

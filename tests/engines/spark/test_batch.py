"""Rows equal to Spark's own window() rows: every strategy on random tables, and hard cases."""

import os
from datetime import datetime, timedelta
from functools import reduce
from itertools import pairwise

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.plan import SharingPlan
from muntin.planner.strategies import STRATEGIES
from muntin_testing.oracle import (
    assert_each_has_rows,
    assert_same_rows,
    planned,
    rows_of_window,
)
from muntin_testing.running import on_spark
from muntin_testing.tables import scenario

LONG = os.environ.get("MUNTIN_HYPOTHESIS") == "long"
HANDS = 4
NUMBERS = range(100) if LONG else [6]
"""The strategies are dealt into hands; a hand meets these tables, each with all its plans.

By default tables of many rows: many of the others have one or none, or none that is looked at.
"""


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize(
    "hand", [0, *(pytest.param(hand, marks=pytest.mark.slow) for hand in range(1, HANDS))]
)
def test_every_strategy_on_random_tables(frugal: SparkSession, hand: int, number: int) -> None:
    asked = scenario(f"{hand}/{number}")
    query, table = asked.query, asked.table(frugal)
    plans: dict[SharingPlan, str] = {}
    for strategy in list(STRATEGIES)[hand::HANDS]:
        plans.setdefault(planned(strategy, query), strategy)
    ours = {strategy: on_spark(plan, query, table) for plan, strategy in plans.items()}
    few = LONG and (len(asked.rows) < 10 or query.where is not None)
    assert_each_has_rows(ours, rows_of_window(table, query), query, may_be_empty=few)


def test_a_table_without_rows_gives_none(frugal: SparkSession) -> None:
    asked = scenario("1/1")
    assert asked.rows == []
    query, table = asked.query, asked.table(frugal)
    ours = {name: on_spark(planned(name, query), query, table) for name in ("wcg", "shared-pairs")}
    found = assert_each_has_rows(ours, rows_of_window(table, query), query, may_be_empty=True)
    assert found == 0


@pytest.mark.parametrize("strategy", ["wcg", pytest.param("shared-pairs", marks=pytest.mark.long)])
def test_with_settings_as_users_have_them(compiled: SparkSession, strategy: str) -> None:
    asked = scenario(f"{strategy}/defaults")
    query, table = asked.query, asked.table(compiled)
    ours = on_spark(planned(strategy, query), query, table)
    assert_same_rows(ours, rows_of_window(table, query), query)


KINDS = list(STRATEGIES) if LONG else ["direct", "shared-panes", "wcg-fw", "steiner", "tri-weave"]
"""By default one strategy for each kind of tree."""


def different_plans(query: mt.Query) -> list[SharingPlan]:
    """What the strategies make of a query, each plan once."""
    return list(dict.fromkeys(planned(name, query) for name in KINDS))


def by_all_plans(query: mt.Query, table: DataFrame) -> DataFrame:
    """The results of all plans, numbered, in one job."""
    results = [
        on_spark(plan, query, table).withColumn("plan", F.lit(i))
        for i, plan in enumerate(different_plans(query))
    ]
    return reduce(DataFrame.unionAll, results)


START = datetime(2024, 1, 1)


def test_nothing_poisons_later_windows(frugal: SparkSession) -> None:
    # 1e16, an infinity and a NaN among ones: wherever they have left the window, sums are exact.
    values = [1.0] * 40
    values[3], values[11], values[20], values[29] = 1e16, float("inf"), float("nan"), float("-inf")
    rows = [(START + timedelta(seconds=i), v) for i, v in enumerate(values)]
    table = frugal.createDataFrame(rows, "ts timestamp, x double")
    windows = [mt.hopping("4 seconds", "1 second"), mt.hopping("2 seconds", "1 second")]
    windows.append(mt.hopping("8 seconds", "2 seconds"))
    aggregates = [mt.sum("x").alias("s"), mt.avg("x").alias("m"), mt.var_pop("x").alias("v")]
    query = mt.query("ts", windows, aggregates)
    clean = 0
    for row in by_all_plans(query, table).collect():
        begin = round((row.window.start - START).total_seconds())
        end = round((row.window.end - START).total_seconds())
        held = values[max(begin, 0) : end]
        if all(v == 1.0 for v in held):
            assert (row.s, row.m, row.v) == (float(len(held)), 1.0, 0.0)
            clean += 1
    assert clean > 25 * len(different_plans(query))


def test_variance_of_large_numbers_that_hardly_differ(frugal: SparkSession) -> None:
    rows = [(START + timedelta(seconds=i), 1e9 + (-1) ** i) for i in range(40)]
    table = frugal.createDataFrame(rows, "ts timestamp, x double")
    windows = [mt.tumbling(f"{n} seconds") for n in (2, 4, 8)]
    query = mt.query("ts", windows, [mt.var_pop("x").alias("v"), mt.stddev_samp("x").alias("d")])
    found = by_all_plans(query, table).collect()
    assert len(found) == (20 + 10 + 5) * len(different_plans(query))
    for row in found:
        n = (row.window.end - row.window.start).total_seconds()
        assert row.v == pytest.approx(1.0, rel=1e-6)
        assert row.d == pytest.approx((n / (n - 1)) ** 0.5, rel=1e-6)


DECIMALS = [(p, s) for p in (1, 10, 24, 25, 38) for s in (0, 1, 2, 9, 24) if s <= p]


@pytest.mark.slow
def test_decimals_of_every_width_have_sparks_types_and_digits(frugal: SparkSession) -> None:
    fields = ", ".join(f"CAST(x AS DECIMAL({p},{s})) AS d_{p}_{s}" for p, s in DECIMALS)
    source = "SELECT timestamp_seconds(id * 7) AS ts, (id % 7 + 1) / 8BD AS x FROM range(40)"
    table = frugal.sql(f"SELECT ts, {fields} FROM ({source})")
    names = [f"d_{p}_{s}" for p, s in DECIMALS]
    aggregates = [f(name) for name in names for f in (mt.sum, mt.avg, mt.max)]
    windows = [
        mt.tumbling("20 seconds"),
        mt.tumbling("1 minute"),
        mt.hopping("1 minute", "20 seconds"),
    ]
    query = mt.query("ts", windows, aggregates)
    ours = on_spark(planned("wcg", query), query, table)
    assert_same_rows(ours, rows_of_window(table, query), query)


def test_wide_decimals_with_many_digits(frugal: SparkSession) -> None:
    big = "CAST(repeat('9', {n}) AS DECIMAL({p},{s})) - id"
    widths = [(28, 28, 0), (26, 28, 2), (20, 38, 10), (31, 38, 0), (30, 38, 1), (9, 38, 24)]
    fields = ", ".join(
        f"CAST({big.format(n=n, p=p, s=s)} AS DECIMAL({p},{s})) AS w{i}"
        for i, (n, p, s) in enumerate(widths)
    )
    table = frugal.sql(f"SELECT timestamp_seconds(id) AS ts, {fields} FROM range(9)")
    aggregates = [f(name) for name in table.columns[1:] for f in (mt.sum, mt.avg)]
    query = mt.query("ts", [mt.tumbling("3 seconds"), mt.tumbling("9 seconds")], aggregates)
    ours = on_spark(planned("wcg", query), query, table)
    assert_same_rows(ours, rows_of_window(table, query), query)


def test_other_types_have_sparks_results(frugal: SparkSession) -> None:
    table = frugal.sql(
        "SELECT timestamp_seconds(id) AS ts, CAST(id AS TINYINT) AS tiny, CAST(id AS FLOAT) AS f, "
        "CAST(id / 3 AS STRING) AS text, date_add(DATE'2020-01-01', CAST(id AS INT)) AS day, "
        "make_dt_interval(0, 0, 0, id) AS took, "
        "timestamp_seconds(id * id) AS at, array(id, 1) AS list, named_struct('a', id) AS pair, "
        "to_binary(CAST(id AS STRING), 'utf-8') AS bytes FROM range(30)"
    )
    numeric = [f(c) for c in ("tiny", "f", "text", "took") for f in (mt.sum, mt.avg)]
    ordered = [f(c) for c in table.columns for f in (mt.min, mt.max)]
    others = [mt.avg("at"), mt.sum("at"), mt.bit_or("tiny"), mt.count("list"), mt.var_samp("tiny")]
    others += [mt.min_by("list", "day"), mt.max_by("pair", "took")]
    windows = [
        mt.tumbling("5 seconds"),
        mt.tumbling("10 seconds"),
        mt.hopping("10 seconds", "5 seconds"),
    ]
    query = mt.query("ts", windows, numeric + ordered + others)
    ours = on_spark(planned("wcg", query), query, table)
    assert_same_rows(ours, rows_of_window(table, query), query)


@pytest.mark.parametrize("kind", ["timestamp", "timestamp_ntz"])
def test_microseconds_are_exact_in_all_centuries(frugal: SparkSession, kind: str) -> None:
    years = [2, 1582, 1900, 1969, 1970, 2024, 2300, 9998]
    rows = [(datetime(y, 12, 31, 23, 59, 59, 999_999 - i), i) for y in years for i in range(3)]
    table = frugal.createDataFrame(rows, f"ts {kind}, i int")
    windows = [mt.Window(3, 1), mt.Window(7, 7, 2), mt.hopping("1 day", "7 hours")]
    query = mt.query("ts", windows, [mt.sum("i")])
    ours = on_spark(planned("wcg", query), query, table)
    assert assert_same_rows(ours, rows_of_window(table, query), query) > 60


@pytest.mark.parametrize("kind", ["timestamp", "timestamp_ntz", "date"])
def test_windows_follow_utc_whatever_the_sessions_zone(frugal: SparkSession, kind: str) -> None:
    # The clocks of New York go back on 2024-11-03: a day of 25 hours.
    frugal.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        first = "TIMESTAMP'2024-11-01 22:00:00'"
        table = frugal.sql(
            f"SELECT CAST({first} + make_dt_interval(0, CAST(id AS INT)) AS {kind}) AS ts, id "
            "FROM range(80)"
        )
        windows = [
            mt.tumbling("1 day"),
            mt.hopping("1 day", "6 hours", "1 hour"),
            mt.tumbling("1 hour"),
        ]
        query = mt.query("ts", windows, [mt.sum("id"), mt.count()])
        ours = on_spark(planned("wcg", query), query, table)
        assert_same_rows(ours, rows_of_window(table, query), query)
    finally:
        frugal.conf.set("spark.sql.session.timeZone", "UTC")


def test_rows_without_a_time_count_nowhere_and_null_values_make_windows(
    frugal: SparkSession,
) -> None:
    rows = [(None, 1), (START, None), (START + timedelta(hours=5), 2)]
    table = frugal.createDataFrame(rows, "ts timestamp, v int")
    query = mt.query("ts", [mt.tumbling("1 hour")], [mt.count(), mt.count("v"), mt.sum("v")])
    found = on_spark(planned("wcg", query), query, table).orderBy("window").collect()
    assert [tuple(row)[2:] for row in found] == [(1, 0, None), (1, 1, 2)]


def test_an_instance_that_starts_before_the_first_event_is_emitted(frugal: SparkSession) -> None:
    table = frugal.createDataFrame([(START, 1)], "ts timestamp, v int")
    query = mt.query("ts", [mt.hopping("3 hours", "1 hour")], [mt.count()])
    found = on_spark(planned("shared-pairs", query), query, table).orderBy("window").collect()
    begins = [row.window.start for row in found]
    assert begins == [START - timedelta(hours=h) for h in (2, 1, 0)]
    assert all(after - before == timedelta(hours=1) for before, after in pairwise(begins))


@pytest.mark.long
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_sixty_windows(spark: SparkSession, strategy: str) -> None:
    table = spark.range(2_000).selectExpr(
        "timestamp_seconds(id * 37) AS ts", "id % 3 AS k", "id AS v"
    )
    windows = [mt.hopping(f"{n} minutes", "1 minute") for n in range(1, 61)]
    query = mt.query("ts", windows, [mt.max("v"), mt.sum("v")], keys="k")
    ours = on_spark(planned(strategy, query), query, table)
    assert_same_rows(ours, rows_of_window(table, query), query)

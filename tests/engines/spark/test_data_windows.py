"""Windows that the data decides, on Spark: sessions are Spark's own, others what they mean."""

from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.data_windows import LastRecords, WindowFunction, evaluate
from muntin.data_windows.protocol import Columns, Numbers, Record
from muntin.errors import ColumnError, StrategyError
from muntin.model.data_windows import DataWindow
from muntin_testing.data_windows import Records, meaning

pytestmark = pytest.mark.slow

SECOND = 1_000_000
START = datetime(2024, 1, 1)


@pytest.fixture(scope="module")
def keyed() -> dict[Any, Records]:
    """Records of several keys, one of them null, with ties, nulls, and before 1970."""
    random = np.random.default_rng(3)
    keys: dict[Any, Records] = {}
    for key in ("a", "b", None, "d"):
        steps = random.choice([0, 0, 1, 2, 5, 10, 11, 40], 60)
        times = np.cumsum(steps) * SECOND - (10**9 * SECOND if key == "d" else 0)
        km = np.cumsum(random.choice([0, 1, 3, 12], 60))
        keys[key] = [
            {
                "k": key,
                "t": int(t),
                "n": i,
                "v": None if i % 9 == 4 else int(random.integers(-9, 9)),
                "x": float(random.integers(-90, 90)) / 8,
                "km": int(d),
                "price": None if i % 7 == 3 else float(random.integers(1, 9)),
                "go": bool(random.random() < 0.2),
                "stop": bool(random.random() < 0.2),
            }
            for i, (t, d) in enumerate(zip(times, km, strict=True))
        ]
    return keys


def table(spark: SparkSession, keyed: dict[Any, Records]) -> DataFrame:
    rows = [record for records in keyed.values() for record in records]
    rows = [rows[i] for i in np.random.default_rng(1).permutation(len(rows))]
    fields = (
        "k string, t long, n int, v int, x double, km int, price double, go boolean, stop boolean"
    )
    df = spark.createDataFrame([tuple(row.values()) for row in rows], fields)
    return df.withColumn("ts", F.expr("timestamp_micros(t)"))


GAPS = ["10 seconds", "1 second", "25 seconds"]


def test_sessions_of_many_gaps_are_sparks_own(
    frugal: SparkSession, keyed: dict[Any, Records]
) -> None:
    df = table(frugal, keyed).unionAll(
        frugal.sql("SELECT 'a', 5L, 1, 1, 1D, 1, 1D, true, true, CAST(NULL AS TIMESTAMP)")
    )
    aggregates = [mt.count(), mt.sum("v").filter("x > 0"), mt.avg("x"), mt.max_by("x", "n")]
    query = mt.query("ts", [mt.session(g) for g in GAPS], aggregates, keys="k")
    for operator, keys in (("sessions", 1), ("runs", 1e9)):
        plan = mt.optimize(query, distinct_keys=keys, rows=1e7, rate=100)
        assert plan.operator.name == operator
        verified = mt.verify(df, plan)
        assert verified, verified
        assert verified.rows > 150


def test_sessions_without_keys_of_what_is_shared_and_what_is_not(
    frugal: SparkSession, keyed: dict[Any, Records]
) -> None:
    df = table(frugal, keyed)
    aggregates = [mt.stddev_pop("x"), mt.median("x"), mt.count_distinct("v")]
    query = mt.query("ts", [mt.session("10 seconds")], aggregates, where="t > 0")
    verified = mt.verify(df, query)
    assert verified, verified
    assert verified.rows > 5


def test_sessions_by_cutty_and_beside_periodic_windows_are_the_same(
    frugal: SparkSession, keyed: dict[Any, Records]
) -> None:
    windows: list[DataWindow | mt.Window] = [
        mt.session("5 seconds"),
        mt.hopping("20 seconds", "7 seconds"),
        mt.session("1 hour"),
    ]
    query = mt.query("ts", windows, [mt.count(), mt.avg("x"), mt.min("v")], keys="k")
    plan = mt.optimize(query)
    assert plan.strategy == "cutty"
    verified = mt.verify(table(frugal, keyed), plan)
    assert verified, verified
    assert verified.rows > 150


OTHERS: list[DataWindow | mt.Window] = [
    mt.count_window(5, 2, id="count"),
    mt.count_window(7, incomplete=True, id="tumbling count"),
    mt.hopping_by("km", 10, 5, id="distance"),
    mt.hopping_by("km / 4", 2.5, 0.5, id="quarters", incomplete=True),
    mt.punctuation("go", id="go"),
    mt.snapshot(id="snapshot"),
    mt.landmark("go", "stop", id="landmark"),
    mt.landmark("go", length="8 seconds", id="for 8"),
    mt.threshold("price", 3, id="price"),
    mt.session("5 seconds", maximum="12 seconds", id="short session"),
    mt.hopping("30 seconds", "20 seconds", id="time"),
]


def expected(window: Any, records: Records) -> list[tuple[Any, ...]]:
    if window.id == "quarters":
        records = [{**r, "km": r["km"] / 4} for r in records]
    found = []
    for start, end, run in meaning(window, records):
        values = [records[i]["v"] for i in run if records[i]["v"] is not None]
        xs = [records[i]["x"] for i in run]
        total = sum(values) if values else None
        found.append((start, end, len(run), total, max(xs), records[run[0]]["n"]))
    return sorted(found, key=repr)


@pytest.mark.parametrize("extra", [[], [mt.median("x")]], ids=["shared", "assigned"])
def test_every_kind_is_what_it_means_for_every_key(
    frugal: SparkSession, keyed: dict[Any, Records], extra: list[mt.Aggregate]
) -> None:
    rows = mt.aggregate(
        table(frugal, keyed),
        time="ts",
        keys="k",
        windows=OTHERS,
        aggregates=[mt.count(), mt.sum("v"), mt.max("x"), mt.min("n"), *extra],
        order_by="n",
    )
    plain = rows.select(
        "window_id",
        "k",
        F.expr("unix_micros(window.start)"),
        F.expr("unix_micros(window.end)"),
        "count",
        "`sum(v)`",
        "`max(x)`",
        "`min(n)`",
    )
    collected = plain.collect()
    for window in OTHERS:
        for key, records in keyed.items():
            found = [tuple(r[2:]) for r in collected if r[0] == window.id and r[1] == key]
            assert sorted(found, key=repr) == expected(window, records), (window.id, key)


def functions() -> tuple[type[WindowFunction], type[WindowFunction]]:
    """Made in a function, so that workers get them by value: they cannot import test files."""

    class Jumps(WindowFunction):
        """From one jump of the value to the next."""

        columns = ("x",)

        def __init__(self) -> None:
            self.last = None

        def mark(self, time: int, record: Record) -> tuple[int, int]:
            jumped = self.last is None or abs(record["x"] - self.last) > 10
            first, self.last = self.last is None, record["x"]
            return int(jumped and not first), int(jumped)

    class JumpsInBatches(Jumps):
        def marks(self, times: Numbers, columns: Columns) -> tuple[Numbers, Numbers]:
            jumped = np.abs(np.diff(columns["x"], prepend=np.inf)) > 10
            ends = jumped.copy()
            ends[0] = False
            return ends, jumped  # type: ignore[return-value]  # booleans count as 0 and 1

    return Jumps, JumpsInBatches


def test_functions_of_users_record_by_record_and_in_batches_agree(
    frugal: SparkSession, keyed: dict[Any, Records]
) -> None:
    jumps, in_batches = functions()
    windows = [
        mt.user_window(jumps, id="records"),
        mt.user_window(in_batches, id="batches"),
        mt.user_window(lambda: LastRecords(4, 10 * SECOND), id="last"),
    ]
    rows = mt.aggregate(
        table(frugal, keyed), "ts", windows, [mt.count(), mt.sum("x")], "k", order_by="n"
    ).collect()
    by = {
        id: sorted(tuple(r[1:]) for r in rows if r[0] == id and r[2])
        for id in ("records", "batches")
    }
    assert by["records"] == by["batches"]
    assert len(by["records"]) > 20
    found = sorted((str(r["k"]), r["count"], r["sum(x)"]) for r in rows if r[0] == "last")
    alone = evaluate(
        [record for records in keyed.values() for record in records],
        *("t", [windows[-1]], [mt.count(), mt.sum("x")], "k"),
    )
    assert found == sorted((str(r["k"]), r["count"], r["sum(x)"]) for r in alone)
    assert len(found) > 50


ALL = [
    mt.count(),
    mt.count("v"),
    mt.count_if("x > 0"),
    mt.sum("v"),
    mt.sum("x"),
    mt.avg("v"),
    mt.sum("CAST(x AS DECIMAL(10, 3))"),
    mt.avg("CAST(x AS DECIMAL(10, 3))"),
    mt.min("k"),
    mt.max("ts"),
    mt.min_by("x", "n"),
    mt.max_by("x", "n"),
    mt.var_samp("x"),
    mt.stddev_pop("v"),
    mt.skewness("x"),
    mt.kurtosis("v"),
    mt.corr("x", "v"),
    mt.covar_pop("x", "v"),
    mt.bool_and("go"),
    mt.bool_or("stop"),
    mt.bit_and("n"),
    mt.bit_or("n"),
    mt.bit_xor("n"),
    mt.product("x"),
    mt.ratio(mt.sum("x"), mt.count("v")).alias("ratio"),
]


def test_every_aggregate_lifts_single_records_as_spark_does(
    frugal: SparkSession, keyed: dict[Any, Records]
) -> None:
    windows: list[DataWindow | mt.Window] = [mt.session("5 seconds"), mt.tumbling("20 seconds")]
    query = mt.query("ts", windows, ALL, keys="k")
    verified = mt.verify(table(frugal, keyed), mt.optimize(query))
    assert verified, verified
    assert verified.rows > 100


def test_an_aggregate_in_python_runs_over_sessions(
    frugal: SparkSession, keyed: dict[Any, Records]
) -> None:
    longest = mt.custom(
        "longest", lift=abs, combine=max, lower=lambda n: n, identity=0, result="int"
    )
    rows = mt.aggregate(
        table(frugal, keyed), "ts", [mt.session("5 seconds")], [longest("v"), mt.count()], "k"
    ).collect()
    wanted = []
    for key, records in keyed.items():
        for start, _, run in meaning(mt.session("5 seconds"), records):
            values = [abs(records[i]["v"]) for i in run if records[i]["v"] is not None]
            wanted.append((key, start, max(values, default=0), len(run)))
    epoch = datetime(1970, 1, 1)
    found = [
        (r["k"], (r["window"]["start"] - epoch) // timedelta(microseconds=1), r[3], r[4])
        for r in rows
    ]
    assert sorted(found, key=repr) == sorted(wanted, key=repr)


def test_wide_layout_and_refusals(frugal: SparkSession, keyed: dict[Any, Records]) -> None:
    df = table(frugal, keyed)
    windows = [mt.session("5 seconds", id="s"), mt.count_window(5, id="c")]
    wide = mt.aggregate(df, "ts", windows, [mt.count()], "k", layout="wide")
    assert wide.columns == ["k", "window_end", "count__s", "count__c"]
    with pytest.raises(StrategyError, match="empty='fill' is for periodic windows"):
        mt.aggregate(df, "ts", windows, [mt.count()], "k", empty="fill")
    with pytest.raises(StrategyError, match="'weave-share' plans periodic windows"):
        mt.aggregate(df, "ts", windows, [mt.count()], "k", strategy="weave-share")
    with pytest.raises(StrategyError, match="no window of its own to compare 'c'"):
        mt.verify(df, mt.query("ts", windows, [mt.count()]))
    with pytest.raises(ColumnError, match="window input 'nope > 1' cannot be computed"):
        mt.aggregate(df, "ts", [mt.punctuation("nope > 1")], [mt.count()])
    with pytest.raises(ColumnError, match="order_by 'm' is not a column"):
        mt.aggregate(df, "ts", [mt.count_window(5)], [mt.count()], order_by="m")


def test_without_order_by_the_result_does_not_depend_on_arrival(
    frugal: SparkSession, keyed: dict[Any, Records]
) -> None:
    df = table(frugal, keyed).select("ts", "k", "v", "x")
    windows = [mt.count_window(3, 1), mt.threshold("x", 5)]
    once, again = (
        mt.aggregate(each, "ts", windows, [mt.count(), mt.sum("v"), mt.max("x")], "k")
        for each in (df, df.orderBy("x").coalesce(1))
    )
    found = sorted(map(repr, once.collect()))
    assert found == sorted(map(repr, again.collect()))
    assert len(found) > 200

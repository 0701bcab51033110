"""Every aggregate over every type that Spark takes it on: the same result types and values.

Which functions go with which types is asked of Spark itself, so nothing is left out by forgetting
it; what Spark refuses, Muntin refuses with a sentence.
"""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.aggregates import FUNCTIONS, Aggregate, aggregate_named
from muntin.physical import Operators
from muntin.physical.operators import kernel_refusal
from muntin.spark.batch import apply
from muntin_testing.oracle import assert_same_rows, planned, rows_of_window

TYPES = {
    "tiny": "tinyint",
    "short": "smallint",
    "small": "int",
    "big": "bigint",
    "single": "float",
    "x": "double",
    "money": "decimal(10,2)",
    "wide": "decimal(30,4)",
    "word": "string",
    "day": "date",
    "at": "timestamp",
    "local": "timestamp_ntz",
    "flag": "boolean",
    "raw": "binary",
}
WINDOWS = [
    mt.tumbling("10 seconds"),
    mt.tumbling("20 seconds"),
    mt.hopping("1 minute", "20 seconds"),
]
EXACT = sorted(n for n, f in FUNCTIONS.items() if not f.approximate)
AT_ONCE = 60
"""Aggregates in one job: enough to be quick, few enough for Spark to plan."""


def table(spark: SparkSession) -> DataFrame:
    random = Random(5)
    start = datetime(2024, 3, 1, tzinfo=UTC)

    def row(i: int) -> tuple[Any, ...]:
        number, at = random.randrange(-9, 10), start + timedelta(seconds=random.randrange(150))
        values = (
            number,
            number * 7,
            random.randrange(-1000, 1000),
            random.randrange(-(10**12), 10**12),
            random.randrange(-80, 80) / 8,
            random.randrange(-8000, 8000) / 8,
            Decimal(random.randrange(-(10**9), 10**9)).scaleb(-2),
            Decimal(random.randrange(-(10**20), 10**20)).scaleb(-4),
            str(number % 2),  # a number and a truth value too, which Spark reads from text
            date(2024, 1, 1) + timedelta(days=number),
            start + timedelta(microseconds=number * 1_000_003),
            datetime(2024, 1, 1) + timedelta(hours=number),
            number > 0,
            bytes([number + 10]),
        )
        holes = (None if random.random() < 0.1 else v for v in values)
        return (at, random.choice(["a", None]), *holes, i)

    columns = ", ".join(f"{name} {kind}" for name, kind in TYPES.items())
    rows = [row(i) for i in range(60)]
    return spark.createDataFrame(rows, f"ts timestamp, key string, {columns}, turn bigint")


def tried(name: str) -> list[Aggregate]:
    """The function over each type; a second argument is a number without ties."""
    others = ["turn"] * (FUNCTIONS[name]().arity - 1)
    return [aggregate_named(name, column, *others) for column in TYPES]


def accepted(df: DataFrame, aggregate: Aggregate) -> bool:
    call = aggregate.function.native().format(*aggregate.arguments)
    try:
        df.agg(F.expr(call)).schema  # noqa: B018  (Connect analyses only now)
    except AnalysisException:
        return False
    return True


@pytest.mark.parametrize("share", [5, pytest.param(1, marks=pytest.mark.long)])
def test_types_and_values_are_sparks_own_by_every_operator(
    frugal: SparkSession, share: int
) -> None:
    df = table(frugal)
    every = [a for name in EXACT for a in tried(name)][::share]
    known = [a for a in every if accepted(df, a)]
    known = [a.filter("turn > 20") if i % 3 == 0 else a for i, a in enumerate(known)]
    assert len(known) > 150 / share, "most functions take most types"
    for first in range(0, len(known), AT_ONCE):
        some = known[first : first + AT_ONCE]
        query = mt.query("ts", WINDOWS, some, keys="key")
        plan = planned("wcg" if first % (2 * AT_ONCE) else "shared-pairs", query)
        expected = rows_of_window(df, query)
        assert assert_same_rows(apply(plan, query, df), expected, query) > 30
        numpy = [a for a in some if kernel_refusal(plan, mt.query("ts", WINDOWS, [a])) is None]
        query = mt.query("ts", WINDOWS, numpy, keys="key")
        by_kernel = apply(plan, query, df, Operators("kernel", "as asked"))
        names = ["window_id", "window", "key", *(f"`{a.name}`" for a in numpy)]
        assert_same_rows(by_kernel, expected.select(*names), query)


@pytest.mark.parametrize("share", [11, pytest.param(1, marks=pytest.mark.long)])
def test_what_spark_refuses_is_refused_with_a_sentence(frugal: SparkSession, share: int) -> None:
    df = table(frugal)
    every = [a for name in FUNCTIONS for a in tried(name)]
    refused = [a for a in every[::share] if not accepted(df, a)]
    assert len(refused) > 80 / share
    for aggregate in refused:
        query = mt.query("ts", WINDOWS, [mt.count(), aggregate])
        with pytest.raises(mt.MuntinError) as raised:
            apply(planned("wcg", query), query, df)
        assert aggregate.function.name in str(raised.value)
        assert "\n" not in str(raised.value)


def test_sums_overflow_as_sparks_do_with_ansi_on_and_off(frugal: SparkSession) -> None:
    at = datetime(2024, 3, 1, tzinfo=UTC)
    texts = ["no", "2", None, "5"]  # what is no number is null with ANSI mode off
    rows = [
        (at + timedelta(seconds=i), 2**62, Decimal(9 * 10**37), text)
        for i, text in enumerate(texts)
    ]
    df = frugal.createDataFrame(rows, "ts timestamp, n bigint, d decimal(38,0), word string")
    windows = [mt.tumbling("1 second"), mt.tumbling("2 seconds"), mt.tumbling("4 seconds")]
    before = frugal.conf.get("spark.sql.ansi.enabled")
    query = mt.query("ts", windows, [mt.sum("n").alias("s"), mt.sum("d").alias("t")])
    numeric = (mt.avg, mt.sum, mt.var_pop, mt.stddev_samp, mt.kurtosis, mt.product)
    of_texts = (*(f("word") for f in numeric), mt.covar_pop("word", "n"))
    plan, lenient = planned("wcg", query), replace(query, aggregates=query.aggregates + of_texts)
    try:
        frugal.conf.set("spark.sql.ansi.enabled", "false")
        expected = rows_of_window(df, lenient)
        for operator in ("expand", "kernel"):
            ours = apply(plan, lenient, df, Operators(operator, "as asked"))
            assert_same_rows(ours, expected, lenient)
        frugal.conf.set("spark.sql.ansi.enabled", "true")
        for operator in ("expand", "kernel"):
            ours = apply(plan, query, df, Operators(operator, "as asked"))
            with pytest.raises(Exception, match=r"OVERFLOW|NUMERIC_VALUE_OUT_OF_RANGE"):
                ours.collect()
    finally:
        frugal.conf.set("spark.sql.ansi.enabled", str(before))


NAN, INFINITE = float("nan"), float("inf")
PAIRS: dict[str, tuple[list[tuple[float | None, float]], float | None]] = {
    "one row": ([(1.0, 2.0)], None),
    "one row without an end": ([(INFINITE, 2.0)], None),
    "one row with both": ([(None, 1.0), (INFINITE, 2.0)], None),
    "a column that does not vary": ([(1.0, 2.0), (1.0, 3.0)], None),
    "nor beside a NaN": ([(NAN, 2.0), (1.0, 2.0)], None),
    "no number": ([(NAN, 2.0), (1.0, 3.0)], NAN),
    "on a line": ([(1.0, 2.0), (2.0, 4.0)], 1.0),
}


def test_corr_is_the_same_on_every_spark(frugal: SparkSession) -> None:
    """4.0 divides by zero where later ones give null."""
    at = datetime(2024, 3, 1, tzinfo=UTC)
    rows = [(at, name, *pair) for name, (pairs, _) in PAIRS.items() for pair in pairs]
    df = frugal.createDataFrame(rows, "ts timestamp, key string, x double, y double")
    query = mt.query("ts", WINDOWS[:1], [mt.corr("x", "y").alias("r")], keys="key")
    ours = apply(planned("wcg", query), query, df)
    assert_same_rows(ours, rows_of_window(df, query), query)
    found = {row["key"]: row["r"] for row in ours.collect()}
    assert found == pytest.approx({k: r for k, (_, r) in PAIRS.items()}, nan_ok=True)

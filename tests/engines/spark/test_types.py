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

import muntin as mt
from muntin.aggregates import FUNCTIONS, Aggregate, aggregate_named
from muntin.engines.spark.session_facts import version_of
from muntin.physical.operators.kernel import KERNEL
from muntin_testing.oracle import assert_same_rows, planned, rows_of_window, spark_call
from muntin_testing.running import on_spark, question_of

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
ORDERS = [
    "lpad(turn, 3, '0')",
    "CAST(lpad(turn, 3, '0') AS BINARY)",
    "date_add(DATE '2024-01-01', CAST(turn AS INT))",
    "timestamp_micros(turn)",
    "CAST(turn AS DECIMAL(20, 2))",
    "if(turn = 30, CAST('NaN' AS DOUBLE), -turn)",
    "CASE turn WHEN 30 THEN true WHEN 31 THEN false END",
]
"""What to take the first or last by, of every kind, without ties."""

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
    """The function over each type, and where it takes two arguments over each type as the second.

    A combination of two values is counted with a truth value; what has an order has no ties.
    """
    if FUNCTIONS[name].variadic:
        pairs = [aggregate_named(name, column, "flag") for column in TYPES]
        return [*(aggregate_named(name, column) for column in TYPES), *pairs]
    if FUNCTIONS[name].arity == 1:
        return [aggregate_named(name, column) for column in TYPES]
    seconds = ORDERS if FUNCTIONS[name].selective else TYPES
    return [
        *(aggregate_named(name, column, "turn") for column in TYPES),
        *(aggregate_named(name, "big", second) for second in seconds),
    ]


def accepted(df: DataFrame, aggregate: Aggregate) -> bool:
    version = version_of(df.sparkSession)
    call = spark_call(aggregate.function, list(aggregate.arguments), version)
    try:
        df.agg(call).schema  # noqa: B018  (Connect analyses only now)
    except AnalysisException:
        return False
    return True


@pytest.mark.parametrize("share", [14, pytest.param(1, marks=pytest.mark.long)])
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
        assert assert_same_rows(on_spark(plan, query, df), expected, query) > 30
        alone = {a: question_of(mt.query("ts", WINDOWS, [a])) for a in some}
        numpy = [a for a in some if KERNEL.refusal(plan, alone[a]) is None]
        query = mt.query("ts", WINDOWS, numpy, keys="key")
        by_kernel = on_spark(plan, query, df, "kernel")
        names = ["window_id", "window", "key", *(f"`{a.name}`" for a in numpy)]
        assert_same_rows(by_kernel, expected.select(*names), query)


@pytest.mark.parametrize("share", [13, pytest.param(1, marks=pytest.mark.long)])
def test_what_spark_refuses_is_refused_with_a_sentence(frugal: SparkSession, share: int) -> None:
    df = table(frugal)
    every = [a for name in FUNCTIONS for a in tried(name)]
    refused = [a for a in every[::share] if not accepted(df, a)]
    assert len(refused) > 80 / share
    for aggregate in refused:
        query = mt.query("ts", WINDOWS, [mt.count(), aggregate])
        with pytest.raises(mt.MuntinError) as raised:
            on_spark(planned("wcg", query), query, df)
        said, name = str(raised.value), aggregate.function.name
        assert said.startswith((f"{name}(", f"{name} of ")), said
        assert "cannot be computed" in said or " takes " in said, said
        assert "\n" not in said


@pytest.mark.slow
def test_sums_overflow_as_sparks_do_with_ansi_on_and_off(frugal: SparkSession) -> None:
    at = datetime(2024, 3, 1, tzinfo=UTC)
    texts = ["no", "2", None, "5"]  # what is no number is null with ANSI mode off
    large, one = Decimal(6 * 10**37), Decimal(1)
    within = (large, large, one, one)  # too large in a slice of a second
    between = (large, None, large, one)  # too large in two of them together
    rows = [
        (at + timedelta(seconds=second), 2**62, *each)
        for second, *each in zip((0, 0, 1, 3), within, between, texts, strict=True)
    ]
    df = frugal.createDataFrame(
        rows, "ts timestamp, n bigint, d decimal(38,0), e decimal(38,0), word string"
    )
    windows = [mt.tumbling("1 second"), mt.tumbling("2 seconds"), mt.tumbling("4 seconds")]
    before = frugal.conf.get("spark.sql.ansi.enabled")
    sums = [mt.sum("n"), mt.sum("d"), mt.sum("e"), mt.avg("d"), mt.avg("e")]
    query = mt.query("ts", windows, sums)
    numeric = (mt.avg, mt.sum, mt.var_pop, mt.stddev_samp, mt.kurtosis, mt.product)
    of_texts = (*(f("word") for f in numeric), mt.covar_pop("word", "n"))
    plan, lenient = planned("wcg", query), replace(query, aggregates=query.aggregates + of_texts)
    try:
        frugal.conf.set("spark.sql.ansi.enabled", "false")
        expected = rows_of_window(df, lenient)
        for operator in ("expand", "kernel"):
            ours = on_spark(plan, lenient, df, operator)
            assert_same_rows(ours, expected, lenient)
        frugal.conf.set("spark.sql.ansi.enabled", "TRUE")
        for operator in ("expand", "kernel"):
            ours = on_spark(plan, query, df, operator)
            with pytest.raises(Exception, match=r"OVERFLOW|NUMERIC_VALUE_OUT_OF_RANGE"):
                ours.collect()
    finally:
        frugal.conf.set("spark.sql.ansi.enabled", str(before))


DECIMALS = [(5, 0), (10, 1), (23, 0), (24, 24), (32, 0), (32, 4)]
TOO_WIDE = [(38, 0), (38, 4), (38, 30), (38, 38)]
"""Decimals whose mean Spark computes itself: of up to 34 digits, which its type has room for."""


@pytest.mark.slow
def test_values_at_the_edges_of_their_types(frugal: SparkSession) -> None:
    """Many digits, squares beyond the largest double, and an hour that comes twice."""
    random, at = Random(7), datetime(2024, 11, 3, 5, 30, tzinfo=UTC)  # 01:30 in New York, twice

    def row(second: int) -> tuple[Any, ...]:
        digits = [
            Decimal(f"{random.randrange(1 - 10 ** min(p, 34), 10 ** min(p, 34))}e-{s}")
            for p, s in DECIMALS + TOO_WIDE
        ]
        large = None if second // 10 == 1 else 1e200
        twice = at + timedelta(hours=random.randrange(2))
        return (at + timedelta(seconds=second), twice, bool(second % 2), large, *digits)

    kinds = ", ".join(f"d{p}_{s} decimal({p},{s})" for p, s in DECIMALS + TOO_WIDE)
    schema = f"ts timestamp, at timestamp, odd boolean, x double, {kinds}"
    df = frugal.createDataFrame([row(second) for second in range(0, 60, 2)], schema)
    numbers = [f(f"d{p}_{s}") for p, s in DECIMALS + TOO_WIDE for f in (mt.avg, mt.sum)]
    numbers += [mt.var_pop("x"), mt.stddev_samp("x"), mt.ratio(mt.avg("d38_30"), mt.count())]
    query = mt.query("ts", WINDOWS, [*numbers, mt.count_distinct("at", "odd")])
    merged = replace(query, aggregates=tuple(numbers))
    before = frugal.conf.get("spark.sql.session.timeZone")
    try:
        frugal.conf.set("spark.sql.session.timeZone", "America/New_York")
        expected = rows_of_window(df, query)
        assert_same_rows(on_spark(planned("wcg", query), query, df), expected, query)
        by_kernel = on_spark(planned("wcg", merged), merged, df, "kernel")
        assert_same_rows(by_kernel, expected.drop(query.aggregates[-1].name), merged)
    finally:
        frugal.conf.set("spark.sql.session.timeZone", str(before))


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
    ours = on_spark(planned("wcg", query), query, df)
    assert_same_rows(ours, rows_of_window(df, query), query)
    found = {row["key"]: row["r"] for row in ours.collect()}
    assert found == pytest.approx({k: r for k, (_, r) in PAIRS.items()}, nan_ok=True)

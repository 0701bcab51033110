"""Layouts against brute force, holistic aggregates beside shared ones, ratios, sketches, Python."""

from datetime import datetime, timedelta
from itertools import pairwise
from operator import add
from random import Random
from statistics import median
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.aggregates import FUNCTIONS
from muntin.errors import StrategyError
from muntin_testing.oracle import assert_same_rows, rows_of_window

pytestmark = pytest.mark.slow

START = datetime(2024, 1, 1)
WINDOWS = [
    mt.tumbling("10 seconds", id="ten"),
    mt.tumbling("20 seconds", offset="5 seconds", id="it's 20"),
    mt.hopping("1 minute", "20 seconds", id="minute"),
]
Rows = dict[tuple[Any, ...], dict[str, Any]]


def table(spark: SparkSession, rows: int = 60) -> DataFrame:
    """Few rows far apart, so that there are gaps; keys and values may be null."""
    random = Random(3)
    made = [
        (
            START + timedelta(seconds=random.randrange(600)),
            random.choice(["a", "b", None]),
            random.choice([None, *range(9)]),
            random.randrange(-800, 800) / 8,
        )
        for _ in range(rows)
    ]
    return spark.createDataFrame(made, "ts timestamp, `a key` string, n bigint, x double")


def long_rows(result: DataFrame, names: list[str]) -> Rows:
    found: Rows = {}
    for row in result.collect():
        at = (row["window_id"], row["a key"], row["window"]["start"], row["window"]["end"])
        assert at not in found, f"two rows for {at}"
        found[at] = {name: row[name] for name in names}
    return found


AGGREGATES = [
    mt.count().alias("rows"),
    mt.sum("n").alias("s"),
    mt.collect_set("n").alias("set"),
    mt.median("x").alias("mid"),
]
NAMES = [a.name for a in AGGREGATES]
EMPTY: dict[str, Any] = {"rows": 0, "s": None, "set": [], "mid": None}


@pytest.fixture
def results(frugal: SparkSession) -> dict[str, DataFrame]:
    df = table(frugal)
    options: dict[str, Any] = {"time": "ts", "keys": "a key", "windows": WINDOWS}
    options["aggregates"] = AGGREGATES
    return {
        "long": mt.aggregate(df, **options),
        "filled": df.transform(mt.aggregate, empty="fill", **options),
        "wide": mt.aggregate(df, layout="wide", **options),
        "filled and wide": mt.aggregate(df, layout="wide", empty="fill", **options),
    }


def with_empty_instances(plain: Rows, windows: list[mt.Window], empty: dict[str, Any]) -> Rows:
    """Every instance between two that a key has of a window, by brute force."""
    full: Rows = dict(plain)
    for window in windows:
        slide, span = timedelta(microseconds=window.slide), timedelta(microseconds=window.range)
        for key in {at[1] for at in plain}:
            starts = sorted(at[2] for at in plain if at[:2] == (window.id, key))
            for older, newer in pairwise(starts):
                while (older := older + slide) < newer:
                    full[window.id, key, older, older + span] = empty
    return full


def by_end(long: Rows) -> Rows:
    """The same rows in the wide layout."""
    found: Rows = {}
    for (window_id, key, _, end), values in long.items():
        row = found.setdefault((key, end), {f"{n}__{w.id}": None for n in NAMES for w in WINDOWS})
        row |= {f"{name}__{window_id}": value for name, value in values.items()}
    return {at: {"a key": at[0], "window_end": at[1], **row} for at, row in found.items()}


def test_fill_and_wide_equal_brute_force(results: dict[str, DataFrame]) -> None:
    plain, full = (long_rows(results[kind], NAMES) for kind in ("long", "filled"))
    assert {f.name: f.dataType for f in results["filled"].schema} == {
        f.name: f.dataType for f in results["long"].schema
    }
    expected = with_empty_instances(plain, WINDOWS, EMPTY)
    assert len(expected) > len(plain)
    assert full == expected
    for kind, long in (("wide", plain), ("filled and wide", full)):
        rows = results[kind].collect()
        assert {(r["a key"], r["window_end"]): r.asDict() for r in rows} == by_end(long)
        assert len(rows) == len(by_end(long))


def test_what_is_filled_in_is_what_spark_has_of_no_rows(frugal: SparkSession) -> None:
    """Every function over an empty table: Spark's own, and what it declares for empty windows."""
    df = table(frugal, 1).where("false").selectExpr("*", "x > 0 AS b")
    others = dict.fromkeys(("bool_and", "bool_or", "count_if"), "b")
    theirs, ours = [], []
    for name, kind in FUNCTIONS.items():
        function = kind()
        columns = [others.get(name, "n")] * function.arity
        theirs.append(F.expr(function.native().format(*columns)).alias(name))
        ours.append(F.expr(function.empty).alias(name))
    both = df.agg(*theirs).unionByName(frugal.range(1).select(*ours)).collect()
    assert both[0] == both[1]
    assert set(map(str, both[0])) == {"None", "0", "[]"}


BEFORE_1970 = datetime(1969, 12, 31, 23, 58)
COUNTS = [
    mt.count().filter("n > 4").alias("many"),
    mt.count_if("n > 4").filter("n > 2").alias("some"),
    mt.count_distinct("n").alias("distinct"),
    mt.min("n").filter("n > 4").alias("least"),
]


@pytest.mark.parametrize(
    ("kind", "keys", "every", "rows"),
    [
        ("timestamp_ntz", (), "seconds", [0, 7, 95, 181, 290]),
        ("date", ("a key",), "days", [0, 1, 7, 8, 30]),
        ("timestamp", ("a key",), "seconds", [3]),
        ("timestamp", (), "seconds", []),
    ],
    ids=["no key and no zone", "days", "one row", "no row"],
)
def test_windows_without_rows_are_filled_in(
    frugal: SparkSession, kind: str, keys: tuple[str, ...], every: str, rows: list[int]
) -> None:
    """Around 1970, where division rounds the other way, with counts that see only some rows."""
    made = [(BEFORE_1970 + timedelta(**{every: n}), "k", n % 9) for n in rows]
    df = frugal.createDataFrame(made, "ts timestamp, `a key` string, n int")
    df = df.withColumn("ts", F.col("ts").cast(kind))
    windows = [
        mt.hopping(f"30 {every}", f"10 {every}", offset=f"3 {every}"),
        mt.tumbling(f"2 {every}"),
    ]
    options: Any = {"time": "ts", "keys": keys, "windows": windows, "aggregates": COUNTS}
    both = [mt.aggregate(df, empty=empty, **options) for empty in ("omit", "fill")]
    if not keys:
        both = [each.withColumn("a key", F.lit(None)) for each in both]
    plain, full = (long_rows(each, [a.name for a in COUNTS]) for each in both)
    empty = {"many": 0, "some": 0, "distinct": 0, "least": None}
    assert full == with_empty_instances(plain, windows, empty)
    assert len(full) > len(plain) or len(rows) < 2
    assert len(plain) >= len(rows)


def test_holistic_aggregates_stand_beside_shared_ones(frugal: SparkSession) -> None:
    df = table(frugal)
    mixed = [
        mt.median("x").alias("mid"),
        mt.sum("n").alias("s"),
        mt.percentile("x", 0.9).filter("n > 2").alias("p90"),
        mt.count_distinct("n", "`a key`", "x > 0").filter("x > -50").alias("combinations"),
    ]
    for aggregates in (mixed, mixed[:1]):
        query = mt.query("ts", WINDOWS, aggregates, keys="a key")
        plan = mt.optimize(query, "wcg", operator="expand")
        assert_same_rows(plan.apply(df), rows_of_window(df, query), query)
    assert mt.verify(df, plan)
    assert (
        "computed directly, beside the shared ones: mid, p90"
        in mt.optimize(mt.query("ts", WINDOWS, mixed)).explain()
    )
    alone = mt.optimize(mt.query("ts", WINDOWS, mixed[:1]))
    assert alone.operator.name == "window"
    assert "none of the aggregates has partials" in alone.explain()


@pytest.mark.parametrize("operator", ["kernel", pytest.param("expand", marks=pytest.mark.slow)])
def test_ratios_share_partials_and_are_null_where_nothing_divides(
    frugal: SparkSession, operator: Any
) -> None:
    df = table(frugal)
    ratios = [
        mt.ratio(mt.sum("x * n"), mt.sum("n")).alias("weighted"),
        mt.ratio(mt.count().filter("n > 4"), mt.count()).alias("share"),
        mt.ratio(mt.sum("x").filter("n > 2"), mt.count("n").filter("n > 7")).alias("filtered"),
        mt.ratio(mt.median("x"), mt.count()).filter("x > 0").alias("mixed"),
    ]
    query = mt.query("ts", WINDOWS, ratios, keys="a key")
    assert mt.verify(df, mt.optimize(query, "wcg", operator=operator))
    found = mt.aggregate(df, "ts", WINDOWS, ratios, "a key", strategy="wcg", operator=operator)
    rows, held = found.collect(), df.collect()
    assert {r.filtered for r in rows} > {None}
    assert len({r.share for r in rows}) > 3
    for row in rows:
        same = [r for r in held if r["a key"] == row["a key"]]
        own = [r for r in same if row.window.start <= r.ts < row.window.end]
        share = sum(r.n is not None and r.n > 4 for r in own) / len(own)
        assert row.share == pytest.approx(share)


SKETCHED = {
    "tinyint": ("CAST(i div 200 AS TINYINT)", "{} * 200"),
    "smallint": ("CAST(i AS SMALLINT)", "{}"),
    "int": ("CAST(i AS INT)", "{}"),
    "bigint": ("CAST(i AS BIGINT)", "{}"),
    "float": ("CAST(i AS FLOAT)", "{}"),
    "double": ("CAST(i AS DOUBLE)", "{}"),
    "decimal": ("CAST(i AS DECIMAL(10, 2))", "{}"),
    "date": ("date_from_unix_date(i)", "unix_date({})"),
    "timestamp": ("timestamp_seconds(i)", "unix_seconds({})"),
    "timestamp_ntz": (
        "timestamp_ntz'1970-01-01' + make_dt_interval(0, 0, 0, i)",
        "timestampdiff(SECOND, timestamp_ntz'1970-01-01', {})",
    ),
    "day to second": ("make_dt_interval(0, 0, 0, i)", "CAST(CAST({} AS INTERVAL SECOND) AS INT)"),
    "month": ("CAST(make_ym_interval(0, i) AS INTERVAL MONTH)", "CAST({} AS INT)"),
}
"""Of every type that a sketch takes: made of whole numbers in their order, and the way back."""

COUNTED = {
    "string": "CAST(i AS STRING)",
    "binary": "CAST(CAST(i AS STRING) AS BINARY)",
    "array": "array(i)",
    "truth": "i > 0",
}


def test_sketches_are_right_within_their_error(frugal: SparkSession) -> None:
    at = F.expr("timestamp'2024-01-01' + make_dt_interval(0, 0, 0, id div 100)")
    spread = F.expr("CAST(pmod(id * 7919, 20011) AS INT)")
    df = frugal.range(0, 4_000, 1, 2).select(at.alias("ts"), spread.alias("i"))
    counted = {k: made for k, (made, _) in SKETCHED.items()} | COUNTED
    early = "if(ts < timestamp'2024-01-01 00:00:10', i, NULL)"
    some = [mt.approx_count_distinct("i").filter("i < 9000").alias("some")]
    some += [mt.approx_count_distinct(early).alias("de"), mt.approx_percentile(early).alias("pe")]
    sketches = [mt.approx_count_distinct(made).alias(f"d {k}") for k, made in counted.items()]
    sketches += [
        mt.approx_percentile(made, 0.9).alias(f"p {k}") for k, (made, _) in SKETCHED.items()
    ]
    windows = [mt.tumbling("5 seconds"), mt.tumbling("20 seconds")]
    query = mt.query("ts", windows, [*sketches, *some, mt.collect_set("i").alias("all")])
    ours = mt.optimize(query, "wcg", operator="expand").apply(df)
    assert ours.dtypes == rows_of_window(df, query).dtypes
    back = {
        k: f"CAST({way.format(f'`p {k}`')} AS INT) AS `p {k}`" for k, (_, way) in SKETCHED.items()
    }
    kept = ["window", "some", "de", "pe", "all", *(f"`d {k}`" for k in counted)]
    rows = ours.selectExpr(*kept, *back.values()).collect()
    assert len(rows) == 10
    few = {"tinyint": lambda v: v // 200, "truth": lambda v: v > 0}
    for row in rows:
        values = sorted(row["all"])
        for k in counted:
            distinct = len(set(map(few[k], values) if k in few else values))
            assert abs(row[f"d {k}"] - distinct) <= 0.08 * distinct, k  # five standard errors
        for k in SKETCHED:
            rank = sum(v <= row[f"p {k}"] for v in values) / len(values)
            assert abs(rank - 0.9) <= 0.05, k
        assert row.some == pytest.approx(sum(v < 9000 for v in values), rel=0.08)
        is_early = row.window.start < START + timedelta(seconds=10)
        assert (row.de > 0, row.pe is not None) == (is_early, is_early)


def test_sketches_of_distinct_values_are_shared_by_pieces_that_overlap(
    frugal: SparkSession,
) -> None:
    windows = [mt.hopping("20 seconds", "10 seconds"), mt.hopping("30 seconds", "10 seconds")]
    query = mt.query("ts", windows, [mt.approx_count_distinct("x").alias("d")], keys="a key")
    exact = mt.query("ts", windows, [mt.count_distinct("x").alias("d")], keys="a key")
    df, plan = table(frugal), mt.optimize(query, "wcg", operator="expand")
    assert plan.tree.nodes[-1].parent is not None
    # So few values that a sketch of them is exact.
    assert_same_rows(plan.apply(df), rows_of_window(df, exact), exact)


def test_aggregates_in_python_run_in_the_kernel(frugal: SparkSession) -> None:
    df = table(frugal)
    middle = mt.custom(
        "middle",
        lift=lambda x: (x,),
        combine=lambda a, b: tuple(sorted(a + b)),
        lower=lambda values: median(values) if values else None,
        identity=(),
        check_laws=[1.0, 2.0, 5.0],
    )
    largest = mt.custom(
        "largest",
        lift=lambda r: r["_0"] * r["_1"] if r["_0"] is not None else None,
        combine=lambda a, b: b if a is None else a if b is None else max(a, b),
        lower=lambda v: v,
        identity=None,
        arity=2,
    )
    total = mt.custom(
        "total",
        lift=int,
        combine=lambda a, b: a + b,
        lower=lambda v: v,
        identity=0,
        result="bigint",
        commutative=True,
        fold=lambda values: values.to_numpy().sum(),
    )
    records = mt.custom(
        "records", lift=lambda _: 1, combine=add, lower=int, identity=0, result="bigint", arity=2
    )
    aggregates = [
        middle("x"),
        largest("n", "x"),
        records("n", "x").alias("records"),
        records("n", "x").filter("`a key` = 'b' OR n > 0").alias("some"),
        total("n").filter("x > 0").alias("t"),
        mt.count().alias("rows"),
        mt.collect_set("n").alias("set"),
    ]
    theirs = [
        mt.median("x"),
        mt.max("n * x"),
        mt.count().filter("`a key` = 'b' OR n > 0").alias("some"),
        mt.sum("n").filter("x > 0").alias("t"),
        mt.count().alias("rows"),
        mt.collect_set("n").alias("set"),
    ]
    names = [
        ("middle(x)", "median(x)"),
        ("largest(n, x)", "max(n * x)"),
        ("rows", "rows"),
        ("records", "rows"),
        ("some", "some"),
        ("set", "set"),
    ]
    expected = long_rows(mt.aggregate(df, "ts", WINDOWS, theirs, "a key"), [a.name for a in theirs])
    plan = mt.optimize(mt.query("ts", WINDOWS, aggregates, "a key"))
    assert "shared by expand, beside the kernel: set" in plan.explain()
    for strategy in ("direct", "shared-pairs"):
        ours = mt.aggregate(df, "ts", WINDOWS, aggregates, "a key", strategy=strategy)
        found = long_rows(ours, [a.name for a in aggregates])
        assert found.keys() == expected.keys()
        for at, row in found.items():
            assert all(row[own] == expected[at][other] for own, other in names)
            assert row["t"] == (expected[at]["t"] or 0)


def test_names_that_differ_in_case_are_two_where_spark_tells_them_apart(
    frugal: SparkSession,
) -> None:
    df, two = (
        table(frugal, 2),
        [mt.tumbling(f"{n} minutes", id=id) for n, id in ((1, "A"), (2, "a"))],
    )
    frugal.conf.set("spark.sql.caseSensitive", "true")
    try:
        wide = mt.aggregate(df, "ts", two, [mt.count()], layout="wide")
        assert wide.columns == ["window_end", "count__A", "count__a"]
    finally:
        frugal.conf.unset("spark.sql.caseSensitive")


def test_bad_options_get_a_sentence(frugal: SparkSession) -> None:
    df = table(frugal, 2)
    plan = mt.optimize(mt.query("ts", WINDOWS, [mt.count()]))
    with pytest.raises(StrategyError, match=r"unknown layout 'wid': did you mean 'wide'\?"):
        plan.apply(df, layout="wid")  # type: ignore[arg-type]
    with pytest.raises(StrategyError, match="unknown empty 'zero': known: omit, fill"):
        plan.apply(df, empty="zero")  # type: ignore[arg-type]
    with pytest.raises(StrategyError, match="needs a Spark DataFrame"):
        plan.apply(df.toArrow(), layout="wide")
    own = mt.custom("own", len, max, len, 0)("x")
    with pytest.raises(
        StrategyError, match=r"own\(x\) is written in Python, which only the kernel"
    ):
        mt.optimize(mt.query("ts", WINDOWS, [own]), operator="expand")
    with pytest.raises(mt.MuntinError, match=r"own\(x\) is written in Python"):
        mt.optimize(mt.query("ts", WINDOWS, [own])).to_sql("spark")

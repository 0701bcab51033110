"""Trailing windows on Spark: every aggregate, one hot key, what is chosen, said and refused."""

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.aggregates import FUNCTIONS
from muntin.aggregates.algebra import Aggregate, make
from muntin.engines.spark.computed_columns import keeps_rows
from muntin.model.choices import FrameOperator
from muntin_testing.values import VALUES, same

OPERATORS: tuple[FrameOperator, ...] = ("frames", "range")

COLUMNS = {
    "bigint": "pmod(id * 7919, 23) - 9",
    "int": "CAST(pmod(id * 104729, 19) - 9 AS INT)",
    "double": "CAST(pmod(id * 15485863, 997) / 8 AS DOUBLE)",
    "decimal(10,2)": "CAST(pmod(id * 32452843, 9973) / 100 AS DECIMAL(10, 2))",
    "boolean": "pmod(id * 7, 5) > 1",
    "string": "concat('s', pmod(id * 13, 7))",
}
"""A column of each type that aggregates are tried on, from the number of a row."""


def table(spark: SparkSession, rows: int = 120) -> DataFrame:
    """Rows with ties, nulls everywhere, and a column of each type."""
    values = [
        f"if(pmod(id, 11) = {i}, NULL, {sql}) AS `{kind}`"
        for i, (kind, sql) in enumerate(COLUMNS.items())
    ]
    return spark.range(rows).selectExpr(
        "if(id % 31 = 30, NULL, timestamp_seconds(pmod(id * 37, 100) * 60 - 3000)) AS ts",
        "if(id % 3 = 2, NULL, id % 3) AS k",
        "id AS o",
        *values,
    )


def every_aggregate() -> list[Aggregate]:
    found = []
    for name, cases in VALUES.items():
        kind = FUNCTIONS[name]
        for i, case in enumerate(cases):
            if not set(case.types) <= set(COLUMNS):
                continue
            function = kind.over(1) if kind.variadic else kind()
            own = list(case.types)
            if name in ("min_by", "max_by"):
                own[1] = "o"  # which has no ties
            found.append(make(function, *own).alias(f"{name}_{i}"))
    assert {a.function.name for a in found} == set(VALUES), "every function is tried"
    return found


@pytest.mark.slow
def test_every_aggregate_equals_spark(spark: SparkSession) -> None:
    """Sketches are exact here; of them it is compared which features there are."""
    windows: list[Any] = ["7 minutes", mt.trailing("20 minutes", delay="3 minutes")]
    most = [a for a in every_aggregate() if a.function.name != "skewness"]
    plan = mt.explain(table(spark), "ts", windows, most, "k", operator="frames")
    outcome = mt.verify(table(spark), plan)
    assert outcome.equal, outcome
    assert outcome.rows == 120


def test_skewness_equals_sparks_but_for_rounding_about_zero(spark: SparkSession) -> None:
    """Of a few symmetrical values it is zero, of which rounding leaves no relative digits."""
    own = [a for a in every_aggregate() if a.function.name == "skewness"]
    frames, own_frames = (
        {
            row["o"]: row
            for row in mt.as_of(
                table(spark), "ts", ["20 minutes"], own, "k", operator=operator
            ).collect()
        }
        for operator in OPERATORS
    )
    assert frames.keys() == own_frames.keys()
    names = [f"{a.name}__20_minutes" for a in own]
    known = 0
    for o, row in frames.items():
        assert all(same(row[name], own_frames[o][name], 1e-9) for name in names)
        known += row[names[0]] is not None and abs(row[names[0]]) > 0.01
    assert known > 20


def test_what_only_spark_computes_stands_beside(spark: SparkSession) -> None:
    share = mt.ratio(mt.count_distinct("string"), mt.count()).alias("share")
    aggregates = [mt.count(), share, mt.max("double").filter("`int` > 0")]
    plan = mt.explain(
        table(spark), "ts", ["10 minutes"], aggregates, "k", "`boolean`", operator="frames"
    )
    assert "by a range join of Spark: share" in plan.explain()
    names = ["count__10_minutes", "share__10_minutes"]
    assert [n for n in plan.run().columns if n in names] == names
    assert mt.verify(table(spark), plan).equal


def test_a_custom_aggregate_takes_events_in_order(spark: SparkSession) -> None:
    last = mt.custom("last", lambda v: v, lambda a, b: b or a, lambda v: v, None, result="string")(
        "string"
    ).alias("last")
    windows: list[Any] = ["10 minutes", mt.lifetime()]
    found = mt.as_of(table(spark), "ts", windows, [last], "k", order_by="o")
    by = mt.max_by("string", "struct(ts, o)").filter("string IS NOT NULL").alias("last")
    wanted = mt.as_of(table(spark), "ts", windows, [by], "k", operator="range")
    assert sorted(map(str, found.collect())) == sorted(map(str, wanted.collect()))
    assert found.where("last__lifetime IS NOT NULL").count() > 50


def test_one_key_is_shared_out_among_tasks_by_time(spark: SparkSession) -> None:
    """Where its rows are so many that Spark does not put partitions together again."""
    together = "spark.sql.adaptive.coalescePartitions.enabled"
    before = spark.conf.get(together)
    spark.conf.set(together, "false")
    rows = spark.range(20_000).selectExpr("timestamp_seconds(id) AS ts", "id % 7 AS v")
    found = mt.as_of(rows, "ts", ["1 minute"], [mt.count(), mt.sum("v")], operator="frames")
    tasks = found.groupBy(F.spark_partition_id()).agg(F.max("ts")).count()
    spark.conf.set(together, before or "true")
    assert tasks > 1
    counts = found.agg(F.count("*"), F.sum("count__1_minute"), F.max("sum_v__1_minute"))
    assert counts.collect()[0][:2] == (20_000, 60 * 20_000 - 60 * 61 // 2)


def test_auto_takes_what_is_predicted_to_be_faster(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: Any = {"time": "ts", "windows": ["1 day"], "aggregates": [mt.count()], "keys": "k"}
    for seconds, taken in (((1.0, 2.0), "frames"), ((2.0, 1.0), "range")):
        with monkeypatch.context() as patch:
            patch.setattr("muntin.engines.spark.as_of.predict", lambda *_, own=seconds: own)
            assert mt.explain(table(spark), **asked).bound.operator == taken
    many = spark.range(5_000_000).selectExpr("timestamp_seconds(id) AS ts", "id % 9 AS k")
    plan = mt.explain(many, **asked)
    assert "frames, on Spark" in repr(plan)
    assert "chunks of 8 days" in repr(plan)


def test_keys_that_python_cannot_take_are_left_to_spark(spark: SparkSession) -> None:
    """Where rows stay in the JVM, their other columns may be of any type."""
    months = table(spark, 30).withColumn("m", F.expr("INTERVAL '1' MONTH"))
    asked: Any = {"time": "ts", "windows": ["1 day"], "aggregates": [mt.count()]}
    said = "'frames' cannot run this: interval month cannot be"
    with pytest.raises(mt.MuntinError, match=said):
        mt.as_of(months, keys="m", operator="frames", **asked)
    found = mt.as_of(months, keys="m", **asked)
    assert found.columns == [*months.columns, "count__1_day"]
    assert found.count() == 30
    if keeps_rows(spark):
        plan = mt.explain(months, keys="k", operator="frames", **asked)
        assert "rows stay in the JVM" in plan.explain()
        assert mt.verify(months, plan).equal
    else:
        with pytest.raises(mt.MuntinError, match=said):
            mt.as_of(months, keys="k", operator="frames", **asked)


def test_what_is_asked_of_features_changes_none_of_them(spark: SparkSession) -> None:
    """A filter, a limit or a sum over the result takes no event from the rows that it leaves."""
    given: Any = {"time": "ts", "windows": ["20 minutes"], "aggregates": [mt.sum("o")], "keys": "k"}
    found = mt.as_of(table(spark), operator="frames", **given)
    name = "sum_o__20_minutes"
    wanted = {row["o"]: row[name] for row in found.collect()}
    assert sum(value is not None for value in wanted.values()) > 50
    some = found.where("o % 5 = 0 AND ts > timestamp_seconds(-1000)").collect()
    assert len(some) > 5
    assert all(row[name] == wanted[row["o"]] for row in some)
    assert all(row[name] == wanted[row["o"]] for row in found.limit(9).collect())
    assert all(row[name] == wanted[row["o"]] for row in found.orderBy("o").limit(9).collect())
    total = sum(value for value in wanted.values() if value is not None)
    assert found.agg(F.sum(name)).collect()[0][0] == total


def test_the_given_rows_come_back_as_they_were(spark: SparkSession) -> None:
    strange = table(spark, 40).selectExpr(
        "*", "map('a', o) AS `a map`", "array(struct(o)) AS nested", "o AS `it's.o`"
    )
    doubled = strange.unionAll(strange)
    found = mt.as_of(doubled, "ts", ["1 hour"], [mt.count()], "k", operator="frames")
    assert found.dtypes[:-1] == doubled.dtypes
    plain = found.drop("count__1_hour")
    assert sorted(map(str, plain.collect())) == sorted(map(str, doubled.collect()))


def test_a_wrong_feature_is_found(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge is not deaf: with another bound, features differ and are shown."""
    from muntin.engines.spark import own_frames

    plan = mt.explain(table(spark), "ts", ["10 minutes"], [mt.count()], "k", operator="frames")
    offsets = own_frames._offsets
    monkeypatch.setattr(own_frames, "_offsets", lambda frame, _: offsets(frame, "both"))
    outcome = mt.verify(table(spark), plan)
    assert outcome.different > 20
    assert "count__10_minutes = " in repr(outcome)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"aggregates": [mt.sum("string || 'x' > 3")]}, "cannot be computed"),
        ({"keys": "kk"}, "key 'kk' is not a column"),
        ({"time": "k"}, "time"),
        ({"where": "nothing > 3"}, "where"),
        ({"aggregates": [mt.count().alias("o")], "windows": [mt.trailing("1h", id="x")]}, ""),
    ],
)
def test_what_cannot_be_is_refused(spark: SparkSession, changed: Any, sentence: str) -> None:
    asked = {"time": "ts", "windows": ["1 day"], "aggregates": [mt.count()], "keys": "k"}
    if not sentence:
        taken = table(spark, 5).withColumn("o__x", F.lit(1))
        with pytest.raises(mt.MuntinError, match="column 'o__x' would be both"):
            mt.as_of(taken, **{**asked, **changed})
        return
    with pytest.raises(mt.MuntinError, match=sentence):
        mt.as_of(table(spark, 5), **{**asked, **changed})

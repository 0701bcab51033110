"""Trailing windows on Spark, by our kernel and by Spark's own frames, against brute force."""

from itertools import cycle
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField, StructType

import muntin as mt
from conformance.selection import SEED, many
from conformance.trailing import Question, trailing_question
from conformance.trailing_runners import KINDS, Result, arguments, differences, note, tables
from muntin.engines.spark import frame_stage
from muntin_testing.reached import Reached


def frames(spark: SparkSession, question: Question) -> list[Any]:
    found: list[Any] = []
    for table, time in zip(tables(question), ("ts", "at"), strict=True):
        if table is None:
            found.append(None)
            continue
        kinds = f"{time} bigint, k string, part int, n bigint, x double, o bigint, s string"
        whole = table.set_column(0, time, table.column(0).cast("int64"))
        df = spark.createDataFrame([tuple(r.values()) for r in whole.to_pylist()], kinds)
        found.append(df.withColumn(time, df[time].cast("bigint")).selectExpr(
            f"timestamp_micros({time}) AS {time}", *df.columns[1:]
        ))  # fmt: skip
    return found


def on_spark(spark: SparkSession, question: Question, operator: Any) -> Result:
    rows, events = frames(spark, question)
    given: Any = arguments(question)
    found: DataFrame = mt.as_of(rows, events=events, operator=operator, **given)
    place = {row["o"]: i for i, row in enumerate(question.rows)}
    collected = [row.asDict() for row in found.collect()]
    return sorted(collected, key=lambda row: place[row["o"]])


def test_features_are_those_of_brute_force(spark: SparkSession) -> None:
    reached, operators = Reached(), cycle(["frames", "frames", "range"])
    for number in range(many(12, 300)):
        asked = trailing_question(f"{SEED}/trailing spark/{number}")
        operator = next(operators)
        wrong = differences(asked, on_spark(spark, asked, operator))
        assert not wrong, "\n".join([f"{asked.seed} by {operator}: {asked}", *wrong[:5]])
        note(asked, reached)
        reached[operator] += 1
    reached.at_least(1, *KINDS, "frames", "range")


@pytest.mark.parametrize("portion", [7, pytest.param(1, marks=pytest.mark.slow), *many([], [3])])
def test_portions_change_nothing(
    spark: SparkSession, portion: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stage by itself, fed a few records at a time, on what Spark would give it."""
    monkeypatch.setattr(frame_stage, "PORTION", portion)
    reached = Reached()
    for number in range(many(8, 100)):
        asked = trailing_question(f"{SEED}/portions/{number}")
        if not asked.rows:
            continue
        found = by_stage(spark, asked, portion)
        wrong = differences(asked, found)
        assert not wrong, "\n".join([f"{asked.seed}: {asked}", *wrong[:5]])
        note(asked, reached)
    reached.at_least(1, "left", "right", "lifetime", "rows", "delay", "grain", "other events")


def columns(batch: pa.RecordBatch) -> tuple[pa.Array, ...]:
    return tuple(batch.columns)


def by_stage(spark: SparkSession, question: Question, portion: int) -> Result:
    """The sorted records of one partition through the stage in this process, results by Spark."""
    rows, events = frames(spark, question)
    given: Any = arguments(question)
    plan: Any = mt.explain(rows, events=events, operator="frames", **given)
    records = plan.bound.records
    arranged = records.arrange()
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    sent = arranged.sent.toArrow()
    spark.conf.set("spark.sql.shuffle.partitions", str(before))
    sends = sent.select(arranged.stage.layout.sends)
    held = [row for each in arranged.stage(map(columns, sends.to_batches(portion))) for row in each]
    assert len(held) == sent.num_rows, "features come in the order of the records"
    schema = StructType([*arranged.sent.schema, StructField("f", records.features)])
    rows_of = zip(sent.to_pylist(), held, strict=True)
    local = spark.createDataFrame([(*row.values(), f.as_py()) for row, f in rows_of], schema)
    finished = records.finish(arranged, local)
    place = {row["o"]: i for i, row in enumerate(question.rows)}
    return sorted((row.asDict() for row in finished.collect()), key=lambda row: place[row["o"]])

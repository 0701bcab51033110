"""Streams give Spark's own rows, batch by batch: late rows, silent keys, every mode, operator."""

import os
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import muntin as mt
from muntin.physical import STREAM_OPERATORS
from muntin.strategies import STRATEGIES
from muntin_testing.oracle import differences, rows_of_window
from muntin_testing.streams import Batches, Script, Side, played, script, streamed, written

START = datetime(2024, 1, 1)
SCHEMA = "ts timestamp, k string, n bigint"
WINDOWS = [mt.tumbling("10 seconds"), mt.hopping("30 seconds", "10 seconds")]
AGGREGATES = [mt.sum("n").alias("total"), mt.count().alias("rows")]
LONG = os.environ.get("MUNTIN_HYPOTHESIS") == "long"


def at(second: float, key: str | None, n: int) -> tuple[datetime, str | None, int]:
    return (START + timedelta(seconds=second), key, n)


def of_spark(script: Script) -> Side:
    return lambda stream: rows_of_window(
        stream.withWatermark(script.query.time, script.watermark), script.query
    )


def of_plan(script: Script, strategy: str, operator: str, output: str) -> Side:
    plan = mt.optimize(script.query, strategy)
    return lambda stream: plan.apply(
        stream, watermark=script.watermark, output=output, operator=operator
    )


def assert_equal_in_every_batch(found: Batches, keys: int) -> int:
    rows = 0
    for number, batch in enumerate(found):
        for side in batch.keys() - {"spark"}:
            wrong = differences(batch[side], batch["spark"], keys)
            assert not wrong, f"{side}, batch {number}: {len(wrong)} rows\n" + "\n".join(wrong[:8])
        rows += len(batch["spark"])
    return rows


def runs_as_spark_does(
    spark: SparkSession, seed: str, strategies: list[str], output: str, folder: Path
) -> int:
    """Every operator by every strategy beside Spark's own windows, in one query."""
    asked = script(seed)
    stream = streamed(spark, asked.files(spark, folder / "files"), asked.schema)
    sides = {"spark": of_spark(asked)}
    for strategy in strategies:
        for operator in STREAM_OPERATORS:
            if output == "complete" and operator != "native":
                continue
            sides[f"{strategy}/{operator}"] = of_plan(asked, strategy, operator, output)
    found = played(stream, sides, output, folder / "checkpoint")
    return assert_equal_in_every_batch(found, len(asked.query.keys))


@pytest.mark.parametrize(
    ("output", "strategies"), [("append", ["shared-pairs", "wcg-fw"]), ("update", ["direct"])]
)
def test_every_batch_has_sparks_own_rows(
    frugal: SparkSession, tmp_path: Path, output: str, strategies: list[str]
) -> None:
    assert runs_as_spark_does(frugal, f"{output}/1", strategies, output, tmp_path) > 50


@pytest.mark.long
@pytest.mark.parametrize("output", ["append", "update", "complete"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_in_every_mode(
    frugal: SparkSession, tmp_path: Path, output: str, strategy: str
) -> None:
    for number in range(4):
        seed = f"{strategy}/{output}/{number}"
        runs_as_spark_does(frugal, seed, [strategy], output, tmp_path / str(number))


def test_a_finished_stream_has_the_rows_of_a_batch(frugal: SparkSession, tmp_path: Path) -> None:
    # Rows out of order within the watermark; "b" falls silent after the first batch; the last row
    # lets the watermark pass everything before it.
    batches = [
        [at(25, "a", 1), at(3, "a", 2), at(12, "b", 3), at(3, None, 4)],
        [at(41, "a", 5), at(22, None, 6), at(38, "a", 7)],
        [at(55, "a", 8), at(39, None, 9)],
        [at(600, "end", 0)],
    ]
    files = written(frugal, batches, SCHEMA, tmp_path / "files")
    query = mt.query("ts", WINDOWS, AGGREGATES, keys="k")
    stream = streamed(frugal, files, SCHEMA)
    sides = {
        operator: of_plan(Script(query, SCHEMA, batches, "20 seconds"), "auto", operator, "append")
        for operator in STREAM_OPERATORS
    }
    found = played(stream, sides, "append", tmp_path / "checkpoint")
    table = frugal.read.schema(SCHEMA).parquet(str(files)).where("k IS NULL OR k <> 'end'")
    expected = rows_of_window(table, query).collect()
    for operator in sides:
        rows = [row for batch in found for row in batch[operator]]
        assert differences(rows, expected, 1) == []
    silent = [row for batch in found[:-2] for row in batch["native"] if row[2] == "b"]
    assert silent, "windows of a key without new rows are emitted when the watermark passes"

"""The bucketed operator beside Spark's own windows, batch by batch, and across restarts."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from functools import reduce
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.engines.spark.labels import labels, murmur3
from muntin.engines.spark.session import ROCKSDB
from muntin_testing.oracle import differences, rows_of_window
from muntin_testing.streams import Batches, played, streamed, written

pytestmark = pytest.mark.slow

START = datetime(2024, 1, 1)
SCHEMA = "ts timestamp, k string, part int, x double, money decimal(10,2), word string, n bigint"
WINDOWS = [
    mt.tumbling("10 seconds"),
    mt.hopping("30 seconds", "10 seconds"),
    mt.hopping("25 seconds", "10 seconds", "5 seconds"),
]
AGGREGATES = [
    mt.sum("n").alias("total"),
    mt.count().alias("rows"),
    mt.min("x").alias("low"),
    mt.avg("money").alias("mean"),
    mt.max("word").alias("word"),
    mt.max_by("word", "n").alias("at"),
    mt.stddev_pop("n").filter("part = 1").alias("spread"),
    mt.bool_or("x > 5").alias("any"),
]
QUERY = mt.query("ts", WINDOWS, AGGREGATES, keys=["k", "part"])


@pytest.fixture
def rocks(frugal: SparkSession) -> Iterator[SparkSession]:
    """The frugal session with its state in RocksDB."""
    name = "spark.sql.streaming.stateStore.providerClass"
    before = frugal.conf.get(name)
    frugal.conf.set(name, ROCKSDB)
    frugal.conf.set("spark.sql.shuffle.partitions", "2")
    yield frugal
    frugal.conf.set(name, str(before))


def batches(count: int, seed: int = 1) -> list[list[tuple[Any, ...]]]:
    """Rows around a clock that goes on, some too late for some windows or for all."""
    random, found, number = Random(seed), [], 0
    for i in range(count):
        rows = []
        for _ in range(25):
            number += 1
            second = 15 * i + random.choice([0, 0, 0, -20, -45, -90]) + random.randrange(15)
            word = random.choice([None, "", "ä", "z"])
            values = (random.choice([None, float("nan"), 1.5, 9.0]), random.choice([None, 100, 33]))
            key = random.choice([None, "a", f"only {i}"])
            rows.append(_row(second, key, random.choice([None, 1, 2]), *values, word, number))
        found.append(rows)
    return found


def _row(
    second: int, key: str | None, part: int | None, x: Any, cents: Any, word: Any, n: int
) -> tuple[Any, ...]:
    money = None if cents is None else Decimal(cents).scaleb(-2)
    return (START + timedelta(seconds=second), key, part, x, money, word, n)


def bucketed(stream: DataFrame, output: str = "append", **options: Any) -> DataFrame:
    plan = mt.optimize(options.pop("query", QUERY), options.pop("strategy", "shared-pairs"))
    options |= {"watermark": "10 seconds", "output": output, "operator": "bucketed"}
    rows: DataFrame = plan.apply(stream, **options)
    return rows


def own(stream: DataFrame, query: mt.Query = QUERY) -> DataFrame:
    return rows_of_window(stream.withWatermark("ts", "10 seconds"), query)


@pytest.mark.long
def test_every_batch_has_the_rows_of_spark_in_update_mode(
    rocks: SparkSession, tmp_path: Path
) -> None:
    files = written(rocks, batches(4), SCHEMA, tmp_path / "files")
    sides = {"spark": own, "ours": lambda s: bucketed(s, "update", strategy="wcg", buckets=3)}
    found = played(streamed(rocks, files, SCHEMA), sides, "update", tmp_path / "checkpoint")
    assert_sparks_own(found, ["ours"])


def test_every_batch_has_the_rows_of_spark(rocks: SparkSession, tmp_path: Path) -> None:
    """Both operators, one tumbling window alone, and a second stateful step after ours."""
    script = [*batches(3), [_row(10_000, "end", 1, 1.0, 1, "", 1)]]
    files = written(rocks, script, SCHEMA, tmp_path / "files")
    alone = mt.query("ts", WINDOWS[:1], AGGREGATES, keys=["k", "part"])
    sides = {
        "spark": own,
        "bucketed": lambda stream: bucketed(stream, buckets=3),
        "native": native,
        "alone": lambda stream: native(stream, alone),
        "counted": lambda stream: counted(bucketed(stream, buckets=3)),
    }
    found = played(streamed(rocks, files, SCHEMA), sides, "append", tmp_path / "checkpoint")
    assert_sparks_own(found, ["bucketed", "native"])
    silent = [row for row in found[-1]["spark"] if row[2] == "only 1"]
    assert silent, "windows of a key without new rows are emitted when the watermark passes"
    for batch in found:
        assert differences(batch["alone"], of(WINDOWS[0], batch["spark"]), 2) == []
    results = Counter((row[0], row[1]) for batch in found for row in batch["spark"])
    assert {(row[0], row[1]): row[5] for batch in found for row in batch["counted"]} == results


def native(stream: DataFrame, query: mt.Query = QUERY) -> DataFrame:
    plan = mt.optimize(query, "wcg-fw")
    rows: DataFrame = plan.apply(stream, watermark="10 seconds", operator="native")
    return rows


def counted(rows: DataFrame) -> DataFrame:
    """How many keys each instance has, in the column `rows` of results like any others."""
    each = rows.groupBy("window_id", "window").agg(F.count(F.lit(1)).alias("keys"))
    columns = [
        F.col("keys") if field.name == "rows" else F.lit(None).cast(field.dataType)
        for field in rows.schema.fields[2:]
    ]
    return each.select("window_id", "window", *columns)


def assert_sparks_own(found: Batches, sides: list[str]) -> None:
    for number, batch in enumerate(found):
        for side in sides:
            wrong = differences(batch[side], batch["spark"], 2)
            assert not wrong, f"{side}, batch {number}: {len(wrong)} differ, {wrong[:5]}"
    assert sum(len(batch["spark"]) for batch in found) > 150


def run(
    sides: dict[str, DataFrame], checkpoint: Path
) -> tuple[list[dict[str, list[Row]]], list[Any]]:
    """The rows of every side in every batch until the files end, and Muntin's metrics."""
    found: list[dict[str, list[Row]]] = []

    def keep(batch: DataFrame, number: int) -> None:
        rows = batch.collect()
        found.append({name: [Row(*r[:-1]) for r in rows if r["side"] == name] for name in sides})

    labelled = [side.withColumn("side", F.lit(name)) for name, side in sides.items()]
    query = (
        reduce(DataFrame.unionAll, labelled)
        .writeStream.foreachBatch(keep)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    metrics = [
        metric
        for progress in query.recentProgress
        for name, metric in progress["observedMetrics"].items()
        if name.startswith("muntin") and "dropped" in metric
    ]
    return found, metrics


def of(window: mt.Window, rows: list[Row]) -> list[Row]:
    return [row for row in rows if row[0] == window.id]


@pytest.mark.slow
def test_windows_may_change_at_a_restart(rocks: SparkSession, tmp_path: Path) -> None:
    """Kept windows go on as if nothing happened, new ones from when they are complete."""
    script, kept, new = batches(6, seed=2), WINDOWS[1], mt.tumbling("20 seconds")
    files = written(rocks, script[:3], SCHEMA, tmp_path / "files")
    before = mt.query("ts", WINDOWS[:2], AGGREGATES, keys=["k", "part"])
    across = mt.tumbling("7 seconds")  # no slice is cut for it
    after = mt.query("ts", [kept, new, across], AGGREGATES, keys=["k", "part"])
    checkpoint = tmp_path / "checkpoint"

    def sides(query: mt.Query) -> dict[str, DataFrame]:
        stream = streamed(rocks, files, SCHEMA)
        return {"ours": bucketed(stream, query=query), "spark": own(stream, after)}

    first, metrics = run(sides(before), checkpoint)
    assert sum(m["dropped"] for m in metrics) > 0
    assert sum(m["late"] for m in metrics) > 0
    assert all(m["complete_from"] == "{}" for m in metrics)
    written(rocks, script, SCHEMA, files)
    second, metrics = run(sides(after), checkpoint)
    [since] = {m["complete_from"] for m in metrics}
    for batch in [*first, *second]:
        assert differences(of(kept, batch["ours"]), of(kept, batch["spark"]), 2) == []
    for window in (new, across):
        begin = json.loads(since)[window.id]
        complete = [[r for r in of(window, b["spark"]) if str(r[1][0]) >= begin] for b in second]
        assert sum(map(len, complete)) > 10
        for batch, expected in zip(second, complete, strict=True):
            assert differences(of(window, batch["ours"]), expected, 2) == []
    _refusal(rocks, files, after, checkpoint)


def _refusal(rocks: SparkSession, files: Path, query: mt.Query, checkpoint: Path) -> None:
    written(rocks, [*batches(6, seed=2), [_row(500, "a", 1, 1.0, 1, "", 1)]], SCHEMA, files)
    stream = streamed(rocks, files, SCHEMA)
    sides = {"ours": bucketed(stream, query=query, buckets=3), "spark": own(stream, query)}
    with pytest.raises(StreamingQueryException) as error:
        run(sides, checkpoint)
    assert "over 2 buckets, and the query asks for 3" in str(error.value)


def test_labels_spread_buckets_evenly(spark: SparkSession) -> None:
    numbers = [0, 1, 2, 77, 2**31 - 1]
    hashes = spark.createDataFrame([(n,) for n in numbers], "n int").select(F.hash("n")).collect()
    assert [row[0] for row in hashes] == [murmur3(n) for n in numbers]
    for buckets in (1, 2, 3, 200):
        places = {murmur3(label) % buckets for label in labels(buckets)}
        assert len(places) == len(set(labels(buckets))) == buckets
        assert labels(buckets)[0] == 0


def test_what_cannot_run_is_refused_with_a_sentence(rocks: SparkSession, tmp_path: Path) -> None:
    files = written(rocks, [[_row(1, "a", 1, 1.0, 1, "", 1)]], SCHEMA, tmp_path / "files")
    stream = streamed(rocks, files, SCHEMA)
    with pytest.raises(mt.MuntinError, match="complete mode keeps every window"):
        bucketed(stream, "complete")
    with pytest.raises(mt.MuntinError, match="buckets 0 must be a whole number"):
        bucketed(stream, buckets=0)
    plan = mt.optimize(QUERY)
    with pytest.raises(mt.MuntinError, match="leaves with the watermark: give watermark="):
        plan.apply(stream, output="update", operator="bucketed")
    sets = mt.query("ts", WINDOWS, [mt.collect_set("word")], keys="k")
    with pytest.raises(mt.MuntinError, match="is merged only by the engine itself"):
        bucketed(stream, query=sets)
    rocks.conf.unset("spark.sql.streaming.stateStore.providerClass")
    with pytest.raises(mt.MuntinError, match="needs state in RocksDB: set spark"):
        bucketed(stream)

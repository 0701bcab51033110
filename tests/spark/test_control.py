"""Windows that come and go on a running stream: the rows are what the history of commands says."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import muntin as mt
from muntin.spark.session import ROCKSDB
from muntin.windows import parse_window
from muntin_testing.oracle import differences, rows_of_window
from muntin_testing.streams import streamed, written

START = datetime(2024, 1, 1)
SCHEMA = "ts timestamp, k string, n bigint"
AGGREGATES = [mt.sum("n").alias("total"), mt.max("n").alias("most")]
ALWAYS = mt.hopping("20 seconds", "10 seconds", id="always")
FIRST = mt.tumbling("15 seconds", id="first")
END = [(START + timedelta(hours=1), "end", 0)]


@pytest.fixture
def rocks(frugal: SparkSession) -> Iterator[SparkSession]:
    """The frugal session with its state in RocksDB."""
    name = "spark.sql.streaming.stateStore.providerClass"
    before = frugal.conf.get(name)
    frugal.conf.set(name, ROCKSDB)
    frugal.conf.set("spark.sql.shuffle.partitions", "2")
    yield frugal
    frugal.conf.set(name, str(before))


def batches(count: int) -> list[list[tuple[Any, ...]]]:
    """Fifteen seconds each, a third of the rows up to nine seconds late: never too late."""
    found = []
    for b in range(count):
        seconds = [15 * b + s - (9 if s % 3 == 0 else 0) for s in range(15)]
        found.append([(START + timedelta(seconds=max(s, 0)), "abcd"[s % 4], s) for s in seconds])
    return [*found, END]


class Scripted:
    """A stream whose files and commands arrive when the test says so."""

    def __init__(self, spark: SparkSession, tmp_path: Path, rows: list[Any]) -> None:
        self.spark, self.tmp = spark, tmp_path
        self.aside = sorted(written(spark, rows, SCHEMA, tmp_path / "aside").iterdir())
        self.files = tmp_path / "files"
        self.files.mkdir()
        self.found: list[Row] = []

    def start(self, control: mt.Control, *windows: mt.Window, **options: Any) -> StreamingQuery:
        stream = streamed(self.spark, self.files, SCHEMA)
        options = {"watermark": "10 seconds", "buckets": 3, "control": control} | options
        rows: DataFrame = mt.aggregate(stream, "ts", windows, AGGREGATES, "k", **options)
        return (
            rows.writeStream.foreachBatch(lambda batch, _: self.found.extend(batch.collect()))
            .outputMode(options.get("output", "append"))
            .option("checkpointLocation", str(self.tmp / "checkpoint"))
            .start()
        )

    def arrive(self, query: StreamingQuery, files: int = 1) -> None:
        """Let some files arrive, and wait until they are worked through."""
        for _ in range(files):
            file = self.aside.pop(0)
            file.rename(self.files / file.name)
            query.processAllAvailable()

    def expected(self, control: mt.Control) -> list[Row]:
        """By recomputation over all rows, from what the list says of each window."""
        table = self.spark.read.schema(SCHEMA).parquet(str(self.files)).where("k <> 'end'")
        found: list[Row] = []
        for listed in control.list():
            if listed.state not in ("running", "suspended"):
                continue
            window = parse_window(f"{listed.id} = {listed.window}")
            rows = rows_of_window(table, mt.query("ts", [window], AGGREGATES, keys="k")).collect()
            low, high = naive(listed.complete_from), naive(listed.until)
            for row in rows:
                begun = low is None or row.window.start >= low
                if begun and (high is None or row.window.end <= high):
                    values = row.asDict()
                    for name in ("total", "most"):
                        if listed.aggregates is not None and name not in listed.aggregates:
                            values[name] = None
                    found.append(Row(**values))
        return found


def naive(instant: datetime | None) -> datetime | None:
    return None if instant is None else instant.replace(tzinfo=None)


def test_windows_come_and_go_while_the_stream_runs(rocks: SparkSession, tmp_path: Path):
    script = Scripted(rocks, tmp_path, batches(9))
    control = mt.Control(tmp_path / "control", grain="1 second")
    query = script.start(control, ALWAYS, FIRST)
    script.arrive(query, 2)
    control.register("30 seconds/5 seconds", "new edges", aggregates=["total"])
    control.register("30 seconds/10 seconds", "served at once")
    other = mt.Control(tmp_path / "control")
    with pytest.raises(mt.MuntinError, match="does not fit the grain of this stream, 1 second"):
        other.register("1500 milliseconds")
    script.arrive(query, 2)
    other.suspend("first")
    script.arrive(query)
    assert [row.state for row in control.list()] == ["running", "suspended", "running", "running"]
    query.stop()
    control.register("7 seconds", "first")
    query = script.start(control, ALWAYS, FIRST)
    script.arrive(query, 2)
    control.suspend("new edges")
    script.arrive(query, 3)
    [metrics] = query.lastProgress["observedMetrics"].values()
    query.stop()
    assert metrics["windows"] == '["always", "served at once", "first"]'
    wrong = differences(script.found, script.expected(control), 1)
    assert wrong == [], control.list()
    ids = [row.window_id for row in script.found]
    assert {id: ids.count(id) > 8 for id in ids} == dict.fromkeys(
        ["always", "first", "new edges", "served at once"], True
    )
    begun = {row.id: naive(row.complete_from) for row in control.list() if row.complete_from}
    assert begun["served at once"] < START + timedelta(seconds=29) < begun["new edges"]

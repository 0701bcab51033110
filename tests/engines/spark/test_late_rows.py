"""Late rows on Spark: revisions across a restart, several queries, what is refused."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from shutil import copy2
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import muntin as mt
from muntin.cli.live import figures
from muntin.engines.spark.progress import Progress
from muntin_testing.streams import streamed, written

pytestmark = pytest.mark.slow

START = datetime(2024, 1, 1)
SCHEMA = "ts timestamp, k string, n bigint"
SHORT, LONG = mt.tumbling("10 seconds"), mt.hopping("30 seconds", "10 seconds")
AGGREGATES = [mt.sum("n").alias("total"), mt.count().alias("rows")]


def at(second: int, key: str | None, n: int) -> tuple[Any, ...]:
    return (START + timedelta(seconds=second), key, n)


def batches(count: int) -> list[list[tuple[Any, ...]]]:
    """Rows around a clock that goes on; every other one late."""
    random, found, number = Random(5), [], 0
    for i in range(count):
        rows = []
        for _ in range(10):
            number += 1
            second = max(20 * i + random.randrange(20) - random.choice([0, 0, 30, 90]), 0)
            rows.append(at(second, random.choice(["a", None]), number))
        found.append(rows)
    return found


def run(results: DataFrame, folder: Path, kept: list[Row]) -> StreamingQuery:
    """Work through the files that are there; results are put to those before."""
    query = (
        results.writeStream.foreachBatch(lambda rows, _: kept.extend(rows.collect()))
        .option("checkpointLocation", str(folder))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return query


def last_revisions(rows: Sequence[Row], keys: int) -> tuple[set[tuple[Any, ...]], int]:
    """The last revision of every window, without its number; and how many came again."""
    came: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        came[tuple(row[:keys])].append(row)
    for each in came.values():
        assert [row["revision"] for row in each] == list(range(len(each)))
    again = sum(len(each) > 1 for each in came.values())
    return {tuple(each[-1][:-1]) for each in came.values()}, again


def test_the_last_revision_is_the_batch(streams: SparkSession, tmp_path: Path) -> None:
    """Two queries in one stream, a restart between, and a row that is too late for anything."""
    script = [*batches(3), [at(5000, "end", 0)], [at(-5000, "a", 1_000_000)]]
    everything = written(streams, script, SCHEMA, tmp_path / "all")
    files = tmp_path / "files"
    files.mkdir()
    queries = {
        "sums": mt.query("ts", [SHORT, LONG], AGGREGATES, keys=["k"]),
        "most": mt.query("ts", [LONG], [mt.max("n").alias("most")], keys=["k"]),
    }
    results = mt.aggregate(
        streamed(streams, files, SCHEMA),
        queries=queries,
        watermark="5 seconds",
        allowed_lateness="200 seconds",
    )
    assert results.columns[-2:] == ["most", "revision"]
    kept: list[Row] = []
    for part in (range(2), range(2, 5)):
        for i in part:
            copy2(everything / f"{i:04}.parquet", files)  # with its time, by which they are read
        query = run(results, tmp_path / "checkpoint", kept)
    found, again = last_revisions(kept, 4)
    rows = streams.read.schema(SCHEMA).parquet(str(everything)).where("n < 1000000")
    wanted = mt.aggregate(rows, queries=queries).where("k IS NULL OR k <> 'end'").collect()
    assert found == set(map(tuple, wanted))
    assert again > 4
    said = [metrics for each in query.recentProgress for metrics in each["observedMetrics"].items()]
    assert sum(m["dropped"] for name, m in said if "dropped" in m) == 1
    assert sum(m["revisions"] for name, m in said if "revisions" in m) > 0
    last = mt.progress(query)
    assert last is not None
    assert last.revisions == 0


def test_what_cannot_be_corrected_is_refused(streams: SparkSession, tmp_path: Path) -> None:
    stream = streams.readStream.format("rate").load()

    def refused(match: str, **options: Any) -> None:
        windows = options.pop("windows", [mt.tumbling("1 minute")])
        counts = options.pop("aggregates", [mt.count()])
        asked = {"watermark": "1 minute", "allowed_lateness": "1 hour"} | options
        with pytest.raises(mt.MuntinError, match=match):
            mt.aggregate(stream, "timestamp", windows, counts, **asked)

    refused("Spark forgets windows that have fired", operator="native")
    refused("in complete mode no window is ever final", output="complete")
    refused("windows of a control leave", control=mt.Control(tmp_path / "control"))
    refused("allowed_lateness is for periodic windows alone", windows=[mt.session("1 minute")])
    refused("allowed_lateness '0 seconds' must be more than zero", allowed_lateness="0 seconds")
    refused("column 'Revision' is what this stream", aggregates=[mt.count().alias("Revision")])
    plan = mt.explain(
        stream,
        "timestamp",
        [mt.tumbling("1 minute")],
        [mt.count()],
        watermark="1 minute",
        allowed_lateness="1 hour",
        distinct_keys=1,
    )
    assert "fired windows are kept 1 hour longer" in str(plan)
    assert plan.operator.name == "bucketed"  # type: ignore[union-attr]


def test_empty_windows_are_those_of_a_batch(streams: SparkSession, tmp_path: Path) -> None:
    """Between a key's first and last window all that a batch fills; then until it is silent."""
    script = [
        [at(5, "a", 1), at(8, None, 2), at(40, "a", 3), at(31, "b", 4)],
        [at(72, None, 5), at(99, "a", 6), at(500, "end", 0)],
    ]
    files = written(streams, script, SCHEMA, tmp_path / "files")
    money = mt.avg("CAST(n AS DECIMAL(10, 2))").alias("mean")
    asked = ("ts", [SHORT, LONG], [*AGGREGATES, money], "k")
    results = mt.aggregate(
        streamed(streams, files, SCHEMA), *asked, empty="fill", fill_for="1 minute", watermark="0s"
    )
    kept: list[Row] = []
    run(results, tmp_path / "checkpoint", kept)
    rows = streams.read.schema(SCHEMA).parquet(str(files)).where("k IS NULL OR k <> 'end'")
    wanted = set(map(tuple, mt.aggregate(rows, *asked, empty="fill").collect()))
    found = set(map(tuple, kept))
    assert len(found) == len(kept)
    assert wanted <= found
    assert any(row[4:] == (0, None) or row[3:] == (None, 0, None) for row in wanted)
    for row in found - wanted:
        assert row[3:] == (None, 0, None), "a key that has been silent for less than a minute"
    silent = [row for row in found - wanted if row[2] == "b" and row[0] == SHORT.id]
    assert {(row[1].end - START).total_seconds() for row in silent} == {50, 60, 70, 80, 90, 100}


def test_the_live_view_tells_of_late_rows() -> None:
    quiet = Progress(1, 10, 1.0, 1.0, 0.5)
    assert figures(quiet)["late"] == "0 rows dropped"
    busy = replace(quiet, late_rows=1200, future_rows=2, revisions=3)
    assert figures(busy)["late"] == (
        "1,200 rows dropped, 3 results revised, 2 from the future left out"
    )


def test_the_lag_of_late_rows_is_that_of_the_newest_event() -> None:
    """A batch of late rows alone has no event after the watermark; those before it had."""

    def batch(newest: str | None, watermark: str = "2026-01-01T00:10:00.000Z") -> dict[str, Any]:
        events = {"watermark": watermark} | ({} if newest is None else {"max": newest})
        rates = {"inputRowsPerSecond": 1.0, "processedRowsPerSecond": 1.0, "numInputRows": 1}
        said = {"batchId": 1, "durationMs": {}, "stateOperators": [], "observedMetrics": {}}
        return {"eventTime": events, **rates, **said}

    def lag(*batches: dict[str, Any]) -> timedelta | None:
        query: Any = SimpleNamespace(
            lastProgress=batches[-1], recentProgress=list(batches), isActive=True
        )
        found = mt.progress(query)
        assert found is not None
        return found.lag

    on_time = batch("2026-01-01T00:15:00.000Z", "2026-01-01T00:01:00.000Z")
    late = batch("2026-01-01T00:02:00.000Z")
    assert lag(on_time) == timedelta(minutes=14)
    assert lag(on_time, late) == timedelta(minutes=5)
    assert lag(late) is None, "after a restart nothing is known of the newest"
    assert lag(on_time, batch(None)) is None
    assert lag(batch("2026-01-01T00:15:00.000Z", "1970-01-01T00:00:00.000Z")) is None

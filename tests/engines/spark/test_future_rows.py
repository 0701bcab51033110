"""Rows from the future: left out before the watermark sees them, counted, or refused."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import muntin as mt
from muntin_testing.streams import streamed, written

SCHEMA = "ts timestamp, n bigint"


@pytest.mark.slow
def test_a_row_from_the_year_2100_makes_no_other_late(
    streams: SparkSession, tmp_path: Path
) -> None:
    """The windows and the trailing features are those of the rows that are not of the future."""
    now = datetime.now(UTC).replace(second=0, microsecond=0)

    def minutes(ahead: float) -> datetime:
        return now + timedelta(minutes=ahead)

    batches: list[list[tuple[Any, ...]]] = [
        [(minutes(-60), 1), (datetime(2100, 1, 1, tzinfo=UTC), 100), (None, 7)],
        [(minutes(-50), 2), (minutes(5), 4), (minutes(30), 100)],
        [(minutes(-1), 8), (minutes(9), 16)],
    ]
    stream = streamed(streams, written(streams, batches, SCHEMA, tmp_path / "files"), SCHEMA)
    found: list[list[int | None]] = []

    def keep(rows: DataFrame, number: int) -> None:
        found.append([row[0] for row in rows.collect()])

    sums = mt.aggregate(
        stream,
        "ts",
        [mt.tumbling("1 minute")],
        [mt.sum("n").alias("total")],
        watermark="30 minutes",
        future="20 minutes",
    ).select("total")
    features = mt.as_of(
        stream,
        "ts",
        "1 hour",
        [mt.sum("n").alias("total")],
        watermark="30 minutes",
        future="20 minutes",
    ).select("total__1_hour")
    query = (
        sums.unionAll(features)
        .writeStream.foreachBatch(keep)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    given = sorted(value for batch in found for value in batch if value is not None)
    assert given == [1, 1, 2], "two windows, and the feature of the second row"
    left_out = [
        sum(m["future"] for name, m in each["observedMetrics"].items() if "future" in name)
        for each in query.recentProgress
        if each["numInputRows"]
    ]
    assert left_out == [2, 2, 0], "each of the two reads of the source counts its own"
    last = mt.progress(query)
    assert last is not None
    assert last.future_rows == 0


def test_what_cannot_leave_rows_out_says_why(streams: SparkSession) -> None:
    stream = streams.readStream.format("rate").load()
    asked = ("timestamp", [mt.tumbling("1 minute")], [mt.count()])
    marked = stream.withWatermark("timestamp", "1 minute")
    with pytest.raises(mt.MuntinError, match=r"already has a watermark, which has seen all rows"):
        mt.aggregate(marked, *asked, future="10 minutes")
    with pytest.raises(mt.MuntinError, match=r"this stream has none: give watermark"):
        mt.aggregate(stream, *asked, future="10 minutes", output="update")
    with pytest.raises(mt.MuntinError, match=r"future '-1 minute' must not be negative"):
        mt.aggregate(stream, *asked, future="-1 minute", watermark="1 minute")
    with pytest.raises(mt.MuntinError, match=r"already has a watermark"):
        mt.as_of(marked, "timestamp", "1 hour", [mt.count()], future="10 minutes")

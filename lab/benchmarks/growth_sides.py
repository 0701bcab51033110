"""What grows: one query over one table, as a batch and as a stream, by us and by Spark itself.

Every side writes to nowhere. A stream reads the events as files of equal size, one in a
micro-batch, to the end (available-now), in append mode with a watermark; it is stopped where it
takes too long.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from lab.benchmarks.workload import Events
from muntin.api import aggregate
from muntin.cli.calibration_cases import AGGREGATES
from muntin.model.query import query
from muntin.model.windows import Window

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FILES = 4
"""Micro-batches of a stream."""
WATERMARK = "10 minutes"
OURS, SPARK = "ours", "Spark's window()"


@dataclass(frozen=True, slots=True)
class Point:
    """What is asked at one place of an axis: windows over so many events of so many keys."""

    at: float
    windows: tuple[Window, ...]
    rows: int
    keys: int = 100

    def events(self, stream: bool) -> Events:
        """A stream has a tenth of the events at the same rate."""
        return Events(rows=max(self.rows // 10, FILES) if stream else self.rows, keys=self.keys)


Side = Callable[[Point, float], float | None]
"""Seconds that a point takes, or None if it did not end within the limit."""


def sides_of(spark: SparkSession, folder: Path | None) -> dict[str, Side]:
    """Every side by its name: ours, told nothing, and Spark's own window() queries."""

    def batch(result: Callable[[DataFrame, Point], DataFrame]) -> Side:
        def timed(point: Point, limit: float) -> float:
            rows = spark.read.parquet(str(point.events(stream=False).file(folder)))
            begun = perf_counter()
            result(rows, point).write.format("noop").mode("overwrite").save()
            return perf_counter() - begun

        return timed

    def stream(result: Callable[[DataFrame, Point], DataFrame]) -> Side:
        def timed(point: Point, limit: float) -> float | None:
            rows = _read(spark, _split(point.events(stream=True).file(folder)))
            begun = perf_counter()
            return _run(result(rows, point), begun, limit)

        return timed

    return {
        f"batch, {OURS}": batch(_ours),
        f"batch, {SPARK}": batch(_own),
        f"stream, {OURS}": stream(_ours),
        f"stream, {SPARK}": stream(lambda rows, p: _own(rows.withWatermark("ts", WATERMARK), p)),
    }


def _ours(rows: DataFrame, point: Point) -> DataFrame:
    return aggregate(rows, "ts", point.windows, AGGREGATES, keys=["device"], watermark=WATERMARK)


def _own(rows: DataFrame, point: Point) -> DataFrame:
    from muntin.engines.spark.own_windows import run_own_windows

    return run_own_windows(rows, query("ts", point.windows, AGGREGATES, keys=["device"]))


def _split(whole: Path) -> Path:
    """The events as files of equal size, in order of time."""
    parts = whole.with_name(f"{whole.stem}-in-{FILES}")
    if not parts.exists():
        table = pq.read_table(whole)
        unfinished = Path(tempfile.mkdtemp(prefix=f"{parts.name}.unfinished-", dir=parts.parent))
        size = -(-len(table) // FILES)
        for i in range(FILES):
            target = unfinished / f"{i:02}.parquet"
            pq.write_table(table.slice(i * size, size), target)
            os.utime(target, (1_700_000_000 + i,) * 2)  # the source takes older files first
        unfinished.rename(parts)
    return parts


def _read(spark: SparkSession, folder: Path) -> DataFrame:
    reader = spark.readStream.schema("ts timestamp, device int, value double")
    return reader.option("maxFilesPerTrigger", 1).parquet(str(folder))


def _run(result: DataFrame, begun: float, limit: float) -> float | None:
    checkpoint = tempfile.mkdtemp(prefix="muntin-growth-")
    writer = result.writeStream.format("noop").option("checkpointLocation", checkpoint)
    running = writer.trigger(availableNow=True).start()
    try:
        finished = running.awaitTermination(ceil(limit))
        seconds = perf_counter() - begun
    finally:
        running.stop()
        shutil.rmtree(checkpoint, ignore_errors=True)
    return seconds if finished else None

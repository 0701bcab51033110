"""stream: each streaming operator and `auto`, against a floor and Spark's own window() queries.

The floor is the stream of ONE tumbling window of a minute, by Spark's own aggregation, over the
same files and batches. `auto` is told nothing: neither how many keys there are nor the rate.
Direct is a union of Spark's own window() queries, one for each window.

All sides read the same files, eight micro-batches of them, as fast as they can (available-now), in
append mode with a watermark of ten minutes, keep their state in RocksDB and write to nowhere; in
turn, in one session, each with a checkpoint of its own. The operator that `auto` takes is not run
twice. Direct is stopped where it takes ten times as long as `auto`, an operator where it takes
twice as long; a side that was stopped is said not to have finished, and not run again, and a ratio
with it is a bound. `a batch` is the median of the batches after the
first, whose times stand by themselves.

State is the largest that any batch left behind: its rows (of `bucketed`, whole runs of slices), the
files that hold it, and the memory that RocksDB says it takes, which is not the state's size.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

import pyarrow.parquet as pq
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from lab.benchmarks.workload import Events, query_of
from lab.registry import Options
from lab.report import new_table
from lab.timing import machine, start_spark
from muntin.api import Plan, optimize
from muntin.model.choices import StreamOperator
from muntin.physical.operators.bucketed import BUCKETED
from muntin.physical.operators.native import NATIVE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BATCHES = 8
WATERMARK = "10 minutes"
PATIENCE = {"direct": 10, NATIVE.name: 2, BUCKETED.name: 2}
"""How many times as long as `auto` a side may take."""

WARM_UP = 10
"""Seconds that a side may take for each of its first runs."""

FEW = 2_000
"""Events of the very first run. A side that is slow with these is warmed up no further: Spark stops
a task only between blocks of some thousand rows, for which that side may need many minutes."""

FILES = "rocksdbSstFileSize"
"""Where RocksDB tells how large the files of a state are."""

SIZES = ("state rows", "state files, MiB", "RocksDB, MiB")
TIMES = ("median", "rounds", "× floor", "first batch", "a batch", "planned in", "events/s")
COLUMNS = (*TIMES, *SIZES, "direct is")
FLOOR = "floor"

SCENARIOS: dict[str, tuple[str, int]] = {
    "single-100": ("single", 100),
    "mixed-100": ("mixed", 100),
    "mixed-20000": ("mixed", 20_000),
    "overlap-100": ("overlap", 100),
    "overlap-20000": ("overlap", 20_000),
}
"""A window set and a number of keys."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one side; `finished` is whether it came to the end of the files in time.

    `first` and `batch` are seconds of the first micro-batch and of the others, by their median;
    `planned` how many of those of the first went into planning.
    """

    seconds: float
    finished: bool
    first: float
    batch: float
    planned: float
    state_rows: int
    file_bytes: int
    memory_bytes: int


def run(options: Options, console: Console) -> None:
    """Time all sides on each scenario and print medians, rates, state and ratios."""
    names = options.choose(SCENARIOS, "set")
    spark = start_spark(console)
    rows = min(options.rows, 2_000_000)
    console.print(
        f"{rows:,} events in {BATCHES} files, min/max/avg, watermark {WATERMARK}, append; "
        f"{machine()}, Spark {spark.version}"
    )
    for name in names:
        console.print(_scenario(name, spark, rows, options))
    spark.stop()


def _scenario(name: str, spark: SparkSession, rows: int, options: Options) -> Table:
    windows, keys = SCENARIOS[name]
    few, some, sides = (
        sides_of(read_files(spark, slice_files(Events(rows=n, keys=keys), options.data)), name)
        for n in (FEW, rows // 20, rows)
    )
    for side in sides:
        if run_side(few[side], WARM_UP).finished:
            run_side(some[side], WARM_UP)
    runs: dict[str, list[Run]] = {side: [] for side in sides}
    for _ in range(options.repeat):
        for side, result in sides.items():
            limit = PATIENCE.get(side) and ceil(PATIENCE[side] * runs["auto"][-1].seconds)
            if all(run.finished for run in runs[side]):
                runs[side].append(run_side(result, limit))
    taken = _plan(name)
    auto = f"auto takes {taken.strategy} by {taken.operator.name}"
    return _table(f"{name}: {windows}, {keys:,} keys; {auto}", rows, runs)


def slice_files(events: Events, folder: Path | None) -> Path:
    """The events as files of equal size, in order of time."""
    whole = events.file(folder)
    parts = whole.with_suffix("")
    if not parts.exists():
        table = pq.read_table(whole)
        unfinished = Path(tempfile.mkdtemp(prefix=f"{parts.name}.unfinished-", dir=parts.parent))
        size = -(-len(table) // BATCHES)
        for i in range(BATCHES):
            target = unfinished / f"{i:02}.parquet"
            pq.write_table(table.slice(i * size, size), target)
            os.utime(target, (1_700_000_000 + i,) * 2)  # the source takes older files first
        unfinished.rename(parts)
    return parts


def read_files(spark: SparkSession, folder: Path) -> DataFrame:
    """The files as a stream, one in a micro-batch, the oldest first."""
    reader = spark.readStream.schema("ts timestamp, device int, value double")
    return reader.option("maxFilesPerTrigger", 1).parquet(str(folder))


def sides_of(stream: DataFrame, name: str) -> dict[str, DataFrame]:
    """The result of every side; `auto` early, since others are given a multiple of its time."""
    from muntin.engines.spark.own_windows import run_own_windows

    auto, marked = _plan(name), stream.withWatermark("ts", WATERMARK)
    sides = {FLOOR: run_own_windows(marked, query_of("single"))}
    sides["auto"] = auto.apply(stream, watermark=WATERMARK)
    for operator in {NATIVE.name, BUCKETED.name} - {auto.operator.name}:
        asked = cast(StreamOperator, operator)
        sides[operator] = auto.apply(stream, watermark=WATERMARK, operator=asked)
    direct = query_of(SCENARIOS[name][0])
    sides["direct"] = run_own_windows(marked, direct)
    return sides


def _plan(name: str) -> Plan:
    """What `auto` takes when it is told nothing of the data."""
    return optimize(query_of(SCENARIOS[name][0]), engine="stream")


def run_side(result: DataFrame, limit: int | None) -> Run:
    """One side to the end of the files, or until its time is over."""
    seconds, finished, progress = run_files(result, limit)
    batches = [p["durationMs"] for p in progress]
    whole = [each.get("triggerExecution", 0) / 1000 for each in batches]
    states = [p["stateOperators"] for p in progress]

    def most(size: Callable[[Any], int]) -> int:
        return max((sum(map(size, each)) for each in states), default=0)

    return Run(
        seconds,
        finished,
        whole[0] if whole else seconds,
        median(whole[1:]) if whole[1:] else seconds,
        batches[0].get("queryPlanning", 0) / 1000 if batches else 0.0,
        most(lambda state: state["numRowsTotal"]),
        most(lambda state: state["customMetrics"].get(FILES, 0)),
        most(lambda state: state["memoryUsedBytes"]),
    )


def run_files(result: DataFrame, limit: int | None) -> tuple[float, bool, list[Any]]:
    """The seconds until the end of the files, or until a limit; whether it came to the end, and
    what Spark tells of every batch."""
    checkpoint = tempfile.mkdtemp(prefix="muntin-bench-")
    begun = perf_counter()
    query = (
        result.writeStream.format("noop")
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start()
    )
    try:
        finished = query.awaitTermination(limit) if limit else query.awaitTermination() is None
        seconds = perf_counter() - begun
    finally:
        query.stop()
        shutil.rmtree(checkpoint, ignore_errors=True)
    return seconds, bool(finished), list(query.recentProgress)


def _table(title: str, rows: int, runs: dict[str, list[Run]]) -> Table:
    table = new_table(title, "<side", *COLUMNS, box=SIMPLE_HEAD, padding=(0, 0, 0, 1))
    for side, each in runs.items():
        seconds, done = _seconds(each)
        table.add_row(
            side,
            f"{seconds:.1f} s" if done else f"> {seconds:.0f} s",
            " ".join(f"{run.seconds:.1f}" for run in each),
            "" if side == FLOOR else _ratio(each, runs[FLOOR]),
            *(
                f"{median(getattr(run, part) for run in each):.2f} s"
                for part in ("first", "batch", "planned")
            ),
            f"{rows / seconds:,.0f}" if done else "–",
            f"{max(run.state_rows for run in each):,}",
            f"{max(run.file_bytes for run in each) / 2**20:,.1f}",
            f"{max(run.memory_bytes for run in each) / 2**20:,.0f}",
            "" if side in ("direct", FLOOR) else _ratio(runs["direct"], each),
        )
    return table


def _seconds(runs: list[Run]) -> tuple[float, bool]:
    """The median of a side, and whether all its runs came to the end."""
    return median(run.seconds for run in runs), all(run.finished for run in runs)


def _ratio(slow: list[Run], side: list[Run]) -> str:
    """How many times as long the first takes; of what did not finish, only a bound is known."""
    (theirs, they_did), (ours, we_did) = _seconds(slow), _seconds(side)
    if not (they_did or we_did):
        return "–"
    bound = "" if they_did and we_did else "< " if they_did else "> "
    return f"{bound}{theirs / ours:.2f}×"

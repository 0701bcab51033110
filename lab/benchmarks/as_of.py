"""as-of: trailing windows of every row, beside Spark's own frames, DuckDB and Polars.

floor        the shuffle and the sort that any of Spark's sides must do, and nothing else
ours         mt.as_of on Spark; and in process, on an Arrow table
RANGE        Spark's own window functions; from 4.2 also with its segment tree, which is off there
DuckDB       its own RANGE frames, in process
Polars       rolling, where it is installed

Count, sum and max of a double over the last 5 minutes, hour, day and 7 days, of events over 30 days
in one parquet file. Where Spark's own frames would take minutes they read the stated part of the
events, once, and no ratio is claimed.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from lab.registry import Options
from lab.report import new_table
from lab.timing import Times, machine, race, start_spark
from muntin.aggregates import count, max, sum
from muntin.api import as_of
from muntin.cli.calibration_cases import cache_folder
from muntin.engines.duckdb import connect
from muntin.engines.spark.session_facts import version_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WINDOWS = ("5 minutes", "1 hour", "1 day", "7 days")
SECONDS = (300, 3600, 86_400, 604_800)
AGGREGATES = (count(), sum("value"), max("value"))
SPAN = 30 * 86_400 * 1_000_000
SETS = {"few keys": 50, "many keys": 20_000, "one key": 1}
PATIENCE = 20_000
"""So many events Spark's own frames read at most."""
SEGMENT_TREE = "spark.sql.window.segmentTree.enabled"
FLOOR, OURS, RANGE = "shuffle and sort alone", "mt.as_of on Spark", "Spark's RANGE frames"
TREE, IN_PROCESS = "Spark's, segment tree", "mt.as_of in process"
DUCKDB, POLARS = "DuckDB", "Polars"


def run(options: Options, console: Console) -> None:
    """Time all sides on each number of keys and print medians."""
    names = options.choose(SETS, "set")
    rows = min(options.rows, 1_000_000)
    spark = start_spark(console)
    console.print(f"{rows:,} events, {len(WINDOWS)} windows × {len(AGGREGATES)} aggregates")
    console.print(f"{machine()}, Spark {spark.version}")
    for name in names:
        console.print(_measure(name, rows, spark, options))
    spark.stop()


def events_file(rows: int, keys: int, folder: Path | None) -> Path:
    """Seeded events in order of time, in one parquet file that is made once."""
    path = (folder or cache_folder()) / f"as_of_{rows}_{keys}.parquet"
    if not path.exists():
        random = np.random.default_rng(1)
        times = np.sort(random.integers(0, SPAN, rows)) + 1_700_000_000_000_000
        table = pa.table(
            {
                "ts": pa.array(times).cast(pa.timestamp("us", "UTC")),
                "device": random.integers(0, keys, rows),
                "value": random.normal(20, 5, rows),
            }
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, path)
    return path


def _measure(name: str, rows: int, spark: SparkSession, options: Options) -> Table:
    keys = SETS[name]
    path = events_file(rows, keys, options.data)
    events, table = spark.read.parquet(str(path)), pq.read_table(path)
    few = spark.read.parquet(str(events_file(min(rows, PATIENCE), keys, options.data)))
    sides: dict[str, Callable[[], int]] = {
        FLOOR: lambda: _to_nowhere(_floor(events)),
        OURS: lambda: _to_nowhere(_features(events)),
        IN_PROCESS: lambda: int(as_of(table, "ts", WINDOWS, AGGREGATES, "device").num_rows),
        DUCKDB: _in_duckdb(path),
    }
    if find_spec("polars"):
        sides[POLARS] = _in_polars(path)
    times = race(sides, options.repeat, name)
    own: dict[str, Callable[[], int]] = {RANGE: lambda: _own_frames(few, "false")}
    if version_of(spark) >= (4, 2):
        own[TREE] = lambda: _own_frames(few, "true")
    times |= race(own, 1, f"{name}, Spark's own", warm_up=False)
    return _table(name, times, rows)


def _features(events: DataFrame) -> DataFrame:
    return as_of(events, "ts", WINDOWS, AGGREGATES, "device", operator="frames")


def _floor(events: DataFrame) -> DataFrame:
    return events.repartition("device").sortWithinPartitions("device", "ts")


def _own_frames(events: DataFrame, tree: str) -> int:
    session = events.sparkSession
    session.conf.set(SEGMENT_TREE, tree)
    try:
        return _to_nowhere(as_of(events, "ts", WINDOWS, AGGREGATES, "device", operator="range"))
    finally:
        session.conf.unset(SEGMENT_TREE)


def _to_nowhere(rows: DataFrame) -> int:
    rows.write.format("noop").mode("overwrite").save()
    return 0


def _in_duckdb(path: Path) -> Callable[[], int]:
    connection = connect()
    quoted = str(path).replace("'", "''")
    features = []
    frames = []
    for i, length in enumerate(SECONDS):
        features.append(f"count(*) OVER w{i}, sum(value) OVER w{i}, max(value) OVER w{i}")
        frames.append(
            f"w{i} AS (PARTITION BY device ORDER BY ts RANGE BETWEEN INTERVAL {length} SECOND "
            "PRECEDING AND INTERVAL 1 MICROSECOND PRECEDING)"
        )
    text = (
        f"SELECT *, {', '.join(features)} FROM read_parquet('{quoted}') WINDOW {', '.join(frames)}"
    )
    return lambda: int(connection.sql(text).to_arrow_table().num_rows)


def _in_polars(path: Path) -> Callable[[], int]:
    import polars as pl  # type: ignore[import-not-found,unused-ignore]

    def compute() -> int:
        events = pl.read_parquet(path).with_columns(one=1).sort("device", "ts")
        features = []
        for length in SECONDS:
            size = f"{length}s"
            features += [
                pl.col("one")
                .rolling_sum_by("ts", size, closed="left")
                .over("device")
                .alias(f"count{length}"),
                pl.col("value")
                .rolling_sum_by("ts", size, closed="left")
                .over("device")
                .alias(f"sum{length}"),
                pl.col("value")
                .rolling_max_by("ts", size, closed="left")
                .over("device")
                .alias(f"max{length}"),
            ]
        return int(events.with_columns(features).height)

    return compute


def _table(name: str, times: dict[str, Times], rows: int) -> Table:
    table = new_table(f"{name}: {SETS[name]:,} keys", "<side", "median", "all rounds", "× floor")
    floor, few = times[FLOOR].median, min(rows, PATIENCE)
    for side, each in times.items():
        part = side in (RANGE, TREE) and few < rows
        label = f"{side}, {few:,} events, one run" if part else side
        ratio = "" if part else f"{each.median / floor:.2f}"
        table.add_row(label, f"{each.median:.2f} s", each.rounds, ratio)
    return table

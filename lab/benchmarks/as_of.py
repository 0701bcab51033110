"""as-of: trailing windows of every row, beside Spark's own frames, DuckDB and Polars.

floor        the shuffle and the sort that any of Spark's sides must do, and nothing else
ours         mt.as_of on Spark; and in process, on an Arrow table
RANGE        Spark's own window functions; from 4.2 also with its segment tree, which is off there
DuckDB       its own RANGE frames, in process
Polars       rolling, where it is installed

Count, sum and max of a double over the last 5 minutes, hour, day and 7 days, of events over 30 days
in one parquet file. DuckDB and Spark's own frames run once, on at most a million events, and RANGE
frames over fifty keys only: elsewhere they take minutes to hours. The set `grain` asks for one
window over one key: 5 minutes, 7 days, and 7 days with grain="1 minute".
"""

from __future__ import annotations

from collections.abc import Callable, Collection
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
SETS = {"fifty keys": 50, "many keys": 1000, "one key": 1, "grain": 1}
PATIENCE = 1_000_000
"""So many events DuckDB and Spark's own frames read at most."""
RANGED = "fifty keys"
"""The set that Spark's RANGE frames are waited for."""
SEGMENT_TREE = "spark.sql.window.segmentTree.enabled"
FLOOR, OURS, RANGE = "shuffle and sort alone", "mt.as_of on Spark", "Spark's RANGE frames"
TREE, IN_PROCESS = "Spark's, segment tree", "mt.as_of in process"
DUCKDB, POLARS = "DuckDB", "Polars"


def run(options: Options, console: Console) -> None:
    """Time all sides on each number of keys and print medians."""
    names = options.choose(SETS, "set")
    spark = start_spark(console)
    console.print(f"{options.rows:,} events, {len(WINDOWS)} windows × {len(AGGREGATES)} aggregates")
    console.print(f"{machine()}, Spark {spark.version}")
    for name in names:
        measure = _measure_grain if name == "grain" else _measure
        console.print(measure(name, options.rows, spark, options))
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
    path = events_file(rows, SETS[name], options.data)
    events, table = spark.read.parquet(str(path)), pq.read_table(path)
    sides: dict[str, Callable[[], int]] = {
        FLOOR: lambda: to_nowhere(_floor(events)),
        OURS: lambda: to_nowhere(_features(events)),
        IN_PROCESS: lambda: int(as_of(table, "ts", WINDOWS, AGGREGATES, "device").num_rows),
    }
    if find_spec("polars"):
        sides[POLARS] = _in_polars(path)
    times = race(sides, options.repeat, name)
    once: dict[str, Callable[[], int]] = {}
    if rows <= PATIENCE:
        once[DUCKDB] = _in_duckdb(path)
        if version_of(spark) >= (4, 2):
            once[TREE] = lambda: _own_frames(events, "true")
        if name == RANGED:
            once[RANGE] = lambda: _own_frames(events, "false")
    times |= race(once, 1, f"{name}, once", warm_up=False)
    return _table(f"{name}: {SETS[name]:,} keys", times, once)


def _measure_grain(name: str, rows: int, spark: SparkSession, options: Options) -> Table:
    """One window over one dense key, by its length and its grain."""
    events = spark.read.parquet(str(events_file(rows, SETS[name], options.data)))

    def ask(window: str, grain: str | None) -> Callable[[], int]:
        return lambda: to_nowhere(
            as_of(events, "ts", [window], AGGREGATES, "device", operator="frames", grain=grain)
        )

    sides = {
        FLOOR: lambda: to_nowhere(_floor(events)),
        "5 minutes": ask("5 minutes", None),
        "7 days": ask("7 days", None),
        "7 days, grain 1 minute": ask("7 days", "1 minute"),
    }
    return _table("grain: one window, one key", race(sides, options.repeat, name), {})


def _features(events: DataFrame) -> DataFrame:
    return as_of(events, "ts", WINDOWS, AGGREGATES, "device", operator="frames")


def _floor(events: DataFrame) -> DataFrame:
    return events.repartition("device").sortWithinPartitions("device", "ts")


def _own_frames(events: DataFrame, tree: str) -> int:
    session = events.sparkSession
    session.conf.set(SEGMENT_TREE, tree)
    try:
        return to_nowhere(as_of(events, "ts", WINDOWS, AGGREGATES, "device", operator="range"))
    finally:
        session.conf.unset(SEGMENT_TREE)


def to_nowhere(rows: DataFrame) -> int:
    """Compute all rows, and keep none."""
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


def _table(title: str, times: dict[str, Times], once: Collection[str]) -> Table:
    table = new_table(title, "<side", "median", "all rounds", "× floor", "× mt.as_of")
    floor, ours = times[FLOOR].median, times.get(OURS)
    for side, each in times.items():
        label = f"{side}, one run" if side in once else side
        against = "" if ours is None else f"{each.median / ours.median:.2f}"
        table.add_row(
            label, f"{each.median:.2f} s", each.rounds, f"{each.median / floor:.2f}", against
        )
    return table

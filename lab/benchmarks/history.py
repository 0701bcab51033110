"""history: a stream that starts from seven days of rows, beside one batch aggregation of them.

batch        mt.aggregate over the table: every window of the seven days
results      history.results(query): those that ended before the stream begins
history      a stream with history, from its start until its first micro-batch is committed
nothing      the same stream with an empty history: what the start of any stream takes

The stream brings one row. Windows of 1 hour, 1 day by the hour and 7 days by the hour; count, sum
and max of a double.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
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
from muntin.api import History, aggregate
from muntin.cli.calibration_cases import cache_folder
from muntin.model.query import query
from muntin.model.windows import hopping, tumbling

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WINDOWS = (tumbling("1 hour"), hopping("1 day", "1 hour"), hopping("7 days", "1 hour"))
AGGREGATES = (count(), sum("value"), max("value"))
QUERY = query("ts", WINDOWS, AGGREGATES, keys="device")
FIRST, SPAN = 1_793_491_200_000_000, 7 * 86_400 * 1_000_000
UNTIL = FIRST + SPAN
"""The first of November 2026 and a week: where the table ends and the stream begins."""
SETS = {"few keys": 100, "many keys": 20_000}
BATCH, RESULTS, HISTORY, NOTHING = "batch", "results", "history", "nothing"


def run(options: Options, console: Console) -> None:
    """Time all sides on each number of keys and print medians."""
    names = options.choose(SETS, "set")
    spark = start_spark(console)
    console.print(f"{options.rows:,} rows of seven days, {len(WINDOWS)} windows")
    console.print(f"{machine()}, Spark {spark.version}")
    for name in names:
        console.print(measure(name, spark, options))
    spark.stop()


def past_file(rows: int, keys: int, folder: Path | None) -> Path:
    """Seeded rows of seven days in order of time, in one parquet file that is made once."""
    path = (folder or cache_folder()) / f"history_{rows}_{keys}.parquet"
    if not path.exists():
        random = np.random.default_rng(1)
        write_rows(path, np.sort(random.integers(FIRST, UNTIL, rows)), keys)
    return path


def write_rows(path: Path, times: np.ndarray[tuple[int], np.dtype[np.int64]], keys: int) -> None:
    """Rows at these times."""
    random = np.random.default_rng(2)
    columns = {
        "ts": pa.array(times).cast(pa.timestamp("us", "UTC")),
        "device": random.integers(0, keys, len(times)),
        "value": random.normal(20, 5, len(times)),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)


def measure(name: str, spark: SparkSession, options: Options) -> Table:
    """All sides on one number of keys."""
    keys, scratch = SETS[name], Path(mkdtemp(prefix="muntin-history-"))
    table = spark.read.parquet(str(past_file(options.rows, keys, options.data)))
    write_rows(scratch / "files" / "0.parquet", np.array([UNTIL], dtype=np.int64), keys)
    stream = spark.readStream.schema(table.schema).parquet(str(scratch / "files"))
    past, empty = (History(rows, "2026-11-08T00:00:00Z") for rows in (table, table.limit(0)))
    sides: dict[str, Callable[[], int]] = {
        BATCH: lambda: _to_nowhere(aggregate(table, queries={"all": QUERY})),
        RESULTS: lambda: _to_nowhere(past.results(QUERY)),
        HISTORY: lambda: _start(stream, past, scratch),
        NOTHING: lambda: _start(stream, empty, scratch),
    }
    try:
        return _table(name, race(sides, options.repeat, name))
    finally:
        rmtree(scratch)


def _start(stream: DataFrame, history: History, scratch: Path) -> int:
    """Seconds count from the call until the stream has ended, after its first micro-batch."""
    results = aggregate(
        stream,
        time="ts",
        keys="device",
        windows=WINDOWS,
        aggregates=AGGREGATES,
        watermark="10 minutes",
        history=history,
    )
    place = mkdtemp(dir=scratch)
    writer = results.writeStream.format("noop").option("checkpointLocation", place)
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    last = query.lastProgress
    assert last is not None, "there was a micro-batch"
    return int(last["stateOperators"][0]["numRowsTotal"])


def _to_nowhere(rows: DataFrame) -> int:
    rows.write.format("noop").mode("overwrite").save()
    return 0


def _table(name: str, times: dict[str, Times]) -> Table:
    table = new_table(f"{name}: seconds", "side", "median", "× batch", "rounds")
    for side, each in times.items():
        ratio = each.median / times[BATCH].median
        table.add_row(side, f"{each.median:.2f}", f"{ratio:.2f}", each.rounds)
    return table

"""userwindows: events a second a core of data windows, in process and on Spark.

In process one thread; on Spark all cores, so the rate is divided by them. Sides of a set run in
turn. Events are those of the batch benchmark, spread over 1,000 keys, each with an event a second:
ten sessions have gaps from 5 seconds to 10 minutes. In the sparse sets a key has an event every ten
seconds, and gaps from a second to 5 minutes make nearly three results of every event.

`by-record` is the paper's operator in plain Python, `many-queries` the same with 1, 10 and 100
queries over one key: discretizer, aggregator and store, each record once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from lab.benchmarks.workload import Events
from lab.cutty.workload import periodic_queries
from lab.registry import Options
from lab.report import new_table
from lab.timing import Times, cores, machine, race, start_spark
from muntin.aggregates import avg, count
from muntin.aggregates import max as largest
from muntin.api import aggregate
from muntin.data_windows import Marks, WindowFunction, evaluate
from muntin.data_windows.array_windows import runs_of
from muntin.data_windows.elements import Batch
from muntin.data_windows.protocol import Columns, Numbers, Record
from muntin.kernels.monoids import Ufuncs
from muntin.kernels.spans import Cuts, spans
from muntin.model.data_windows import DataWindow, count_window, session, threshold, user_window
from muntin.model.query import query
from muntin.model.windows import Window, hopping

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

KEYS = 1000
GAPS = (5, 10, 15, 20, 30, 60, 120, 180, 300, 600)
SMALL_GAPS = (1, 2, 5, 10, 20, 30, 60, 120, 180, 300)
AGGREGATES = [count(), avg("value"), largest("value")]
SPARSE_ROWS = 200_000
"""Events for functions that are asked record by record."""


class Quiet(WindowFunction):
    """A window ends where the value jumps: record by record."""

    columns: ClassVar[tuple[str, ...]] = ("value",)

    def __init__(self) -> None:
        self.last: float | None = None

    def mark(self, time: int, record: Record) -> Marks:
        value, last = record["value"], self.last
        self.last = value
        if last is None:
            return Marks(0, 1)
        return Marks(1, 1) if abs(value - last) > 10 else Marks()


class QuietInBatches(Quiet):
    """The same, from arrays."""

    def marks(self, times: Numbers, columns: Columns) -> Any:
        jumped = np.abs(np.diff(columns["value"], prepend=np.inf)) > 10
        ends = jumped.copy()
        ends[0] = False
        return ends, jumped


@dataclass(frozen=True, slots=True)
class Set:
    """Windows, and how many of the events they are tried on."""

    windows: tuple[DataWindow | Window, ...]
    share: int = 1
    rate: int = 1000


SETS: dict[str, Set] = {
    "sessions": Set(tuple(session(f"{gap} seconds") for gap in GAPS)),
    "sparse-sessions": Set(tuple(session(f"{gap} seconds") for gap in SMALL_GAPS), 10, 100),
    "one-session": Set((session("30 seconds"),)),
    "one-sparse-session": Set((session("30 seconds"),), 4, 100),
    "mixed": Set(
        (session("30 seconds"), count_window(100, 10), hopping("5 minutes", "1 minute")), 4
    ),
    "threshold": Set((threshold("value", 10),), 10),
    "function-in-batches": Set((user_window(QuietInBatches),), 10),
    "function-by-record": Set((user_window(Quiet),), 10),
}


BY_RECORD, MANY = "by-record", "many-queries"
SCALES = (1, 10, 100)
"""How many queries share a key's records."""


def run(options: Options, console: Console) -> None:
    """All sets in process and on Spark, then the paper's operator, a table each."""
    names = options.choose((*SETS, BY_RECORD, MANY), "set")
    on_spark = [name for name in names if name in SETS]
    if on_spark:
        _run_sets(on_spark, options, console)
    if BY_RECORD in names:
        file = Events(rows=SPARSE_ROWS, keys=KEYS, rate=100).file(options.data)
        console.print(_table("the paper's operator", list(_by_record(file))))
    if MANY in names:
        console.print(_table("queries that share a key's records", list(_many(options.repeat))))


def _run_sets(names: list[str], options: Options, console: Console) -> None:
    spark = start_spark(console)
    console.print(f"{machine()}, Spark {spark.version}; {KEYS:,} keys; count, mean and maximum")
    for name in names:
        rows = options.rows // SETS[name].share
        file = Events(rows=rows, keys=KEYS, rate=SETS[name].rate).file(options.data)
        times = race(_sides(name, file, spark), options.repeat, name)
        console.print(_table(name, [(name, side, rows, each) for side, each in times.items()]))
    spark.stop()


def _table(name: str, found: list[tuple[str, str, int, Times]]) -> Table:
    columns = ("events|,", "results|,", "seconds|.2f", "events/s/core|,.0f")
    rows = []
    for windows, side, events, times in found:
        rate = events / times.median / (cores() if side.startswith("Spark") else 1)
        rows.append((windows, side, events, times.rows, times.median, rate))
    title = f"{name}: events a second a core"
    return new_table(title, "<windows", "<side", *columns, rows=rows)


def _sides(name: str, file: Path, spark: SparkSession) -> dict[str, Callable[[], int]]:
    sides: dict[str, Callable[[], int]] = {
        "in process, arrays": partial(_bulk, SETS[name], file),
        "Spark": partial(_on_spark, SETS[name], file, spark),
    }
    if name.startswith("one-"):  # ten of them would take minutes
        sides["Spark's session_window"] = partial(_native, SETS[name], file, spark)
    return sides


def _bulk(given: Set, file: Path) -> int:
    """Sort, find the runs of all windows, and aggregate count, mean and maximum."""
    table = pq.read_table(file)
    table = table.sort_by([("device", "ascending"), ("ts", "ascending")]).combine_chunks()
    time = table.column("ts").chunk(0).view(pa.int64()).to_numpy()
    group = table.column("device").to_numpy()
    value = table.column("value").to_numpy()
    batch = Batch.of_records(group, time, lambda name: table.column(name).chunk(0))
    runs = [runs_of(window, batch) for window in given.windows]
    cuts = Cuts.of([(r.first, r.stop) for r in runs], len(time))
    place = np.zeros(len(time) + 1, dtype=np.int64)
    place[cuts.at] = np.arange(len(cuts.at))
    monoid = Ufuncs((np.add, np.add, np.maximum), (0, 0.0, -np.inf))
    pieces = cuts.reduced((np.ones(len(time), dtype=np.int64), value, value), monoid)
    return sum(len(spans(pieces, place[r.first], place[r.stop], monoid)[0]) for r in runs)


def _on_spark(given: Set, file: Path, spark: SparkSession) -> int:
    events = spark.read.parquet(str(file))
    asked = (given.windows, AGGREGATES, "device")
    return _rows(aggregate(events, "ts", *asked, rate=given.rate, distinct_keys=KEYS))


def _native(given: Set, file: Path, spark: SparkSession) -> int:
    from muntin.engines.spark.own_windows import run_own_windows

    asked = query("ts", given.windows, AGGREGATES, "device")
    return _rows(run_own_windows(spark.read.parquet(str(file)), asked))


def _rows(result: DataFrame) -> int:
    """Compute every row and column, and count."""
    columns = [c for c in result.columns if c not in ("window_id", "window")]
    made = result.selectExpr(*(f"hash(`{c}`) AS h{i}" for i, c in enumerate(columns)))
    total = made.selectExpr("count(1)", *(f"bit_xor(h{i})" for i in range(len(columns))))
    return int(total.collect()[0][0])


def _by_record(file: Path) -> Iterator[tuple[str, str, int, Times]]:
    """The paper's operator, record by record, as plain Python runs it."""
    few = pq.read_table(file)
    micros = few.column("ts").combine_chunks().view(pa.int64())
    records = few.set_column(0, "ts", micros).to_pylist()

    def evaluated(windows: tuple[DataWindow | Window, ...]) -> int:
        return sum(1 for _ in evaluate(records, "ts", windows, AGGREGATES[:2], "device"))

    names = ("one-sparse-session", "sparse-sessions", "function-by-record")
    sides = {name: partial(evaluated, SETS[name].windows) for name in names}
    for name, times in race(sides, 1, warm_up=False).items():
        yield name, "in process, by record", len(records), times


def _many(repeat: int) -> Iterator[tuple[str, str, int, Times]]:
    """1, 10 and 100 queries over the records of one key, about two a second."""
    steps = np.random.default_rng(3).exponential(500_000, SPARSE_ROWS).astype(np.int64)
    records = [{"ts": t, "value": 1.0} for t in np.cumsum(steps).tolist()]
    sets: dict[str, Callable[[int], Sequence[DataWindow | Window]]] = {
        "count windows": lambda n: periodic_queries(n, seed=7),
        "sessions": lambda n: [session(f"{gap + 5} seconds") for gap in range(n)],
        "functions": lambda n: [user_window(Quiet, id=f"{i}") for i in range(n)],
    }

    def evaluated(windows: Sequence[DataWindow | Window], some: int) -> int:
        return sum(1 for _ in evaluate(records[:some], "ts", windows, AGGREGATES[1:2]))

    sides, events = {}, {}
    for kind, windows in sets.items():
        for n in SCALES:
            name = f"{n} {kind}"
            events[name] = SPARSE_ROWS // 10 if kind == "functions" else SPARSE_ROWS
            sides[name] = partial(evaluated, windows(n), events[name])
    for name, times in race(sides, repeat, warm_up=False).items():
        yield name, "in process, by record", events[name], times

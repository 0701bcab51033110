"""One stream on Spark's rate source, watched while it runs.

The events of the rate source carry the time of day at which they were made. A result of the window
[start, end) can be known, at the earliest, when an event of the time end + delay is made: it moves
the watermark to the end of the window. So

    latency of a result   when it was in the hands of this process, less (end + delay)

Everything in between counts: the source hands events over in whole seconds, the micro-batch that
brings the event must end before the watermark moves, and the next one emits the result.

Memory is that of this process and all that it started: driver, JVM and Python workers. Pages that
processes share, as forked workers do, are counted once (proportional set size); where Linux does
not tell that, resident memory is taken.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep, time
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from muntin.aggregates import avg, count, max
from muntin.api import Plan, optimize, progress
from muntin.model.query import query
from muntin.model.windows import Window, hopping, tumbling

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

Tell = Callable[[float, str], None]
"""Told how many seconds have passed, and what is going on."""


@dataclass(frozen=True, slots=True)
class Stream:
    """What is asked of the events; `interval` is seconds between micro-batches, `delay` seconds of
    the watermark."""

    windows: tuple[Window, ...] = (
        tumbling("10 seconds"),
        hopping("30 seconds", "10 seconds"),
        hopping("1 minute", "10 seconds"),
        hopping("2 minutes", "10 seconds"),
    )
    keys: int = 1_000
    interval: float = 2.0
    delay: float = 5.0

    def plan(self, rate: float) -> Plan:
        """The plan that `auto` takes at this rate."""
        aggregates = [count().alias("n"), avg("value").alias("mean"), max("value").alias("most")]
        asked = query("timestamp", self.windows, aggregates, keys=["device"])
        return optimize(asked, rate=rate, distinct_keys=self.keys, engine="stream")

    @property
    def filled(self) -> float:
        """Seconds until the longest window and the delay are full: from then on all is level."""
        return float(np.max([w.range for w in self.windows])) / 1e6 + self.delay


@dataclass(frozen=True, slots=True)
class Moment:
    """What was seen at the end of one micro-batch, so many seconds after the begin."""

    second: float
    batch: int
    events: int
    batch_seconds: float
    state_rows: int
    state_bytes: int
    late_rows: int
    java_bytes: int
    python_bytes: int
    """Of all processes but the JVM: Python's driver and workers."""

    @property
    def memory_bytes(self) -> int:
        """Of all processes together."""
        return self.java_bytes + self.python_bytes


@dataclass(slots=True)
class Seen:
    """Everything that a run left behind: its moments, and the latency of every result.

    `delivered` has, for each micro-batch, pairs of a latency and how many results had it.
    """

    moments: list[Moment] = field(default_factory=list)
    delivered: dict[int, list[tuple[float, int]]] = field(default_factory=dict)

    @property
    def results(self) -> int:
        """How many results there were."""
        return sum(n for some in self.delivered.values() for _, n in some)

    @property
    def warm_up(self) -> float:
        """Seconds that do not count in figures: one minute, and of a short run a quarter."""
        return min(60.0, self.moments[-1].second / 4) if self.moments else 0.0

    def after(self, second: float) -> Seen:
        """What was seen from then on."""
        moments = [m for m in self.moments if m.second >= second]
        return Seen(moments, {m.batch: self.delivered.get(m.batch, []) for m in moments})

    def latency(self, share: float) -> float:
        """The latency that this share of all results did not exceed."""
        return quantile([pair for some in self.delivered.values() for pair in some], share)

    def events_per_second(self) -> float:
        """Events worked off in a second, from the end of the first micro-batch to the last."""
        span = self.moments[-1].second - self.moments[0].second
        return sum(m.events for m in self.moments[1:]) / span if span else 0.0


def quantile(pairs: list[tuple[float, int]], share: float) -> float:
    """The least value that a share of all does not exceed; pairs are a value and how often.

    >>> quantile([(1.0, 98), (7.0, 1), (3.0, 1)], 0.5), quantile([(1.0, 1), (7.0, 1)], 0.99)
    (1.0, 7.0)
    """
    values = np.array(sorted(pairs))
    reached = np.cumsum(values[:, 1])
    return float(values[np.searchsorted(reached, share * reached[-1]), 0])


def watch(
    spark: SparkSession, stream: Stream, rate: int, seconds: float, tell: Tell, seen: Seen
) -> None:
    """Run the stream at a rate, for so many seconds, and note what is seen."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as checkpoint:
        running = _start(spark, stream, rate, checkpoint, seen)
        begun, last = monotonic(), -1
        try:
            while (at := monotonic() - begun) < seconds and running.isActive:
                now = progress(running)
                if now is not None and now.batch != last:
                    last = now.batch
                    state = (now.state_rows, now.state_bytes, now.late_rows)
                    rows = (now.input_rows, now.batch_seconds)
                    seen.moments.append(Moment(at, last, *rows, *state, *memory()))
                tell(at, _words(seen.moments[-1]) if seen.moments else "")
                sleep(0.1)
            failure = running.exception()
        finally:
            running.stop()
    if failure is not None:
        raise failure


def _words(last: Moment) -> str:
    return (
        f"last batch {last.events:,} events in {last.batch_seconds:.1f} s, "
        f"state {last.state_rows:,} rows, memory {last.memory_bytes / 1e6:,.0f} MB"
    )


def _start(
    spark: SparkSession, stream: Stream, rate: int, checkpoint: str, seen: Seen
) -> StreamingQuery:
    events = spark.readStream.format("rate").option("rowsPerSecond", rate).load()
    events = events.selectExpr("*", f"value % {stream.keys} AS device")
    results = stream.plan(rate).apply(events, watermark=f"{stream.delay:g} seconds")

    def note(batch: DataFrame, number: int) -> None:
        ends = pc.struct_field(batch.toArrow()["window"], "end")  # whole rows are here now
        now = time()
        seen.delivered[number] = [
            (now - each["values"].timestamp() - stream.delay, each["counts"])
            for each in pc.value_counts(ends).to_pylist()
        ]

    running: StreamingQuery = (
        results.writeStream.foreachBatch(note)
        .option("checkpointLocation", checkpoint)
        .trigger(processingTime=f"{stream.interval:g} seconds")
        .start()
    )
    return running


PROC = Path("/proc")


def memory() -> tuple[int, int]:
    """Bytes of the JVM and of all others in the process tree, as Linux tells them; 0 elsewhere."""
    used = [0, 0]
    for pid in _tree():
        try:
            name = (PROC / str(pid) / "comm").read_text().strip()
            used[name != "java"] += _used(pid)
        except OSError:
            continue  # it has ended meanwhile
    return used[0], used[1]


def _tree() -> list[int]:
    """This process and its descendants."""
    children: dict[int, list[int]] = {}
    for folder in PROC.glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(folder.name))
    found = [os.getpid()] if PROC.exists() else []
    for pid in found:
        found += children.get(pid, [])
    return found


def _used(pid: int) -> int:
    folder = PROC / str(pid)
    try:
        lines = (folder / "smaps_rollup").read_text().splitlines()
        return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024
    except OSError:
        pages = int((folder / "stat").read_text().rpartition(")")[2].split()[21])
        return pages * os.sysconf("SC_PAGE_SIZE")

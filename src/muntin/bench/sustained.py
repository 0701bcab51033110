"""sustained: one stream for many minutes, at a rate that this machine can hold.

First the rate is found: it is doubled until a micro-batch takes longer than the trigger's interval,
and the run takes three fifths of the last rate that did not. Then the stream runs on Spark's rate
source, whose events carry the time of day, so that

    latency of a result   when it was handed over, less the end of its window and the watermark's
                          delay: the first instant at which it could be known

is measured for every result. Memory (driver, JVM, Python workers), state and throughput are taken
along the way: they should be flat.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep, time
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console

from muntin.aggregates import avg, count, max
from muntin.api import optimize, progress
from muntin.bench.machine import machine
from muntin.bench.options import Options
from muntin.bench.resident import resident_bytes
from muntin.query import Query, query
from muntin.windows import hopping, tumbling

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

INTERVAL = 5.0
"""Seconds between micro-batches."""
DELAY = 5
"""Seconds of the watermark."""
KEYS = 1_000
TRIAL = 40.0
"""Seconds that each rate is tried for."""
FIRST_RATE = 20_000
HIGHEST_RATE = 5_000_000
SHARE = 0.6
"""Part of the highest rate held in a trial that the run takes."""

WINDOWS = (
    tumbling("10 seconds"),
    hopping("30 seconds", "10 seconds"),
    hopping("1 minute", "10 seconds"),
    hopping("5 minutes", "10 seconds"),
)


@dataclass(frozen=True, slots=True)
class Moment:
    """What was seen at one micro-batch, so many seconds after the begin."""

    second: float
    rows: int
    batch_seconds: float
    state_rows: int
    state_bytes: int
    resident: int


@dataclass(slots=True)
class Seen:
    """Everything that a run left behind: moments, and latencies with their number of results."""

    moments: list[Moment] = field(default_factory=list)
    latencies: list[tuple[float, int]] = field(default_factory=list)

    def latency(self, share: float) -> float:
        """The latency that this share of all results did not exceed."""
        values = np.array(sorted(self.latencies))
        reached = np.cumsum(values[:, 1]) / values[:, 1].sum()
        return float(values[np.searchsorted(reached, share), 0])

    def rows_per_second(self) -> float:
        """Events worked off in a second of the whole run."""
        span = self.moments[-1].second - self.moments[0].second
        return sum(m.rows for m in self.moments[1:]) / span if span else 0.0


def question() -> Query:
    """Four windows over the events of the rate source."""
    aggregates = [count().alias("n"), avg("value").alias("mean"), max("value").alias("most")]
    return query("timestamp", WINDOWS, aggregates, keys=["device"])


def bench_sustained(options: Options, console: Console) -> None:
    """Find a rate, hold it, and show that nothing grows."""
    from muntin.bench.sustained_figures import report
    from muntin.spark.session import local_session, quiet_start

    with console.status("starting Spark"), quiet_start():
        spark = local_session("muntin bench sustained")
    try:
        with console.status("finding a rate") as status:
            rate = held_rate(spark, lambda text: status.update(text))
        console.print(f"{rate:,} events a second, {options.minutes:g} minutes, {machine()}")
        with console.status("running") as status:
            seen = run(spark, rate, options.minutes * 60, lambda text: status.update(text))
        report(seen, rate, Path.cwd() if options.data is None else options.data, console)
    finally:
        spark.stop()


def held_rate(spark: SparkSession, tell: object) -> int:
    """The rate that a run takes."""
    assert callable(tell)
    held, rate = FIRST_RATE, FIRST_RATE
    while rate <= HIGHEST_RATE:
        tell(f"trying {rate:,} events a second")
        seen = run(spark, rate, TRIAL, lambda _: None)
        steady = [m.batch_seconds for m in seen.moments if m.rows][2:]
        if not steady or float(np.median(steady)) > INTERVAL * 0.8:
            break
        held, rate = rate, rate * 2
    return int(held * SHARE)


def run(spark: SparkSession, rate: int, seconds: float, tell: object) -> Seen:
    """Run the stream at a rate, for so many seconds, and note what is seen."""
    assert callable(tell)
    seen = Seen()
    with tempfile.TemporaryDirectory(prefix="muntin-sustained-") as checkpoint:
        running = _start(spark, rate, checkpoint, seen)
        begun, last = monotonic(), -1
        try:
            while monotonic() - begun < seconds and running.isActive:
                now = progress(running)
                if now is not None and now.batch != last:
                    last = now.batch
                    at = monotonic() - begun
                    seen.moments.append(
                        Moment(
                            at,
                            now.input_rows,
                            now.batch_seconds,
                            now.state_rows,
                            now.state_bytes,
                            resident_bytes(),
                        )
                    )
                    tell(f"{at:,.0f} of {seconds:,.0f} s, {now.work_rate:,.0f} events/s")
                sleep(0.2)
            failure = running.exception()
        finally:
            running.stop()
    if failure is not None:
        raise failure
    return seen


def _start(spark: SparkSession, rate: int, checkpoint: str, seen: Seen) -> StreamingQuery:
    events = spark.readStream.format("rate").option("rowsPerSecond", rate).load()
    events = events.selectExpr("*", f"value % {KEYS} AS device")
    plan = optimize(question(), rate=float(rate), keys=KEYS)
    results = plan.apply(events, watermark=f"{DELAY} seconds")

    def handed_over(batch: DataFrame, _: int) -> None:
        ends = (
            batch.selectExpr("CAST(window.end AS DOUBLE) AS end").groupBy("end").count().collect()
        )
        now = time()
        seen.latencies += [(now - row["end"] - DELAY, row["count"]) for row in ends]

    running: StreamingQuery = (
        results.writeStream.foreachBatch(handed_over)
        .option("checkpointLocation", checkpoint)
        .trigger(processingTime=f"{INTERVAL:g} seconds")
        .start()
    )
    return running

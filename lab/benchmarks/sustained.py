"""sustained: one stream for many minutes, at a rate that this machine can hold.

First the rate is found, after one trial to warm up: it is doubled as long as micro-batches take at
most four fifths of the time between them, the middle of the last step is tried too, and the run
takes three fifths of the highest rate that was held, which leaves room for what else happens in ten
minutes. Then the stream runs at that rate, and what it does is drawn over time: throughput, latency
of results, batch time, state and memory (driver, JVM, Python workers). From when the longest window
is full all of it should be flat. In the first minute Spark warms up (compiled code, Python workers,
the heap): it is drawn, and does not count in the figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TimeRemainingColumn

from lab.benchmarks.sustained_run import Seen, Stream, Tell, watch
from lab.registry import Options
from lab.timing import machine
from muntin.errors import StrategyError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TRIAL = 30.0
"""Seconds that each rate is tried for."""
FIRST_RATE = 50_000
LOWEST_RATE = 100
HIGHEST_RATE = 10_000_000
BUSY = 0.8
"""A rate is held if micro-batches take at most this part of the time between them."""
SHARE = 0.6
"""Part of the highest rate held in a trial that the run takes."""
HEAP = {"spark.driver.memory": "2g"}
"""A JVM takes what it may before it cleans up: little enough to be reached in a few minutes."""
LINE_EVERY = 30.0
"""Seconds between lines, where there is no terminal."""


def run(options: Options, console: Console) -> None:
    """Find a rate, hold it, and show that nothing grows."""
    from lab.benchmarks.sustained_report import report
    from muntin.engines.spark.session import quiet_start, session

    stream, seen = Stream(), Seen()
    with console.status("starting Spark"), quiet_start():
        spark = session("muntin bench sustained", conf=HEAP)
    try:
        title = f"{machine()}, Spark {spark.version}"
        console.print(title, highlight=False)
        tried = partial(_try, spark, stream, console)
        if not options.rate:
            tried(FIRST_RATE // 4)  # the first stream of a JVM is no measure of the others
        rate = options.rate or held_rate(tried, console)
        plan = stream.plan(rate)
        console.print(
            f"holding {rate:,} events a second of {stream.keys:,} keys, {options.minutes:g} min: "
            f"{', '.join(w.id for w in stream.windows)}; {plan.strategy}, {plan.operator.name}",
            highlight=False,
            soft_wrap=True,
        )
        seconds = options.minutes * 60
        try:
            with display(console, "running", seconds) as tell:
                watch(spark, stream, rate, seconds, tell, seen)
        except KeyboardInterrupt:
            console.print("stopped early")
        report(seen, stream, rate, title, options.data or Path.cwd(), console)
    finally:
        spark.stop()


def _try(spark: SparkSession, stream: Stream, console: Console, rate: int) -> float:
    """The part of the time between micro-batches that they take at this rate."""
    seen = Seen()
    with display(console, f"trying {rate:,} events a second", TRIAL) as tell:
        watch(spark, stream, rate, TRIAL, tell, seen)
    return busy(seen, stream)


def busy(seen: Seen, stream: Stream) -> float:
    """The median part of the interval that a micro-batch takes, without the first two."""
    steady = [m.batch_seconds for m in seen.moments if m.events][2:]
    return float(np.median(steady)) / stream.interval if len(steady) > 2 else float("inf")


def held_rate(tried: Callable[[int], float], console: Console) -> int:
    """The rate that a run takes; `tried` gives how busy a rate keeps the stream, as a part of 1."""

    def held(rate: int) -> bool:
        part = tried(rate)
        behind = "falls behind" if part > 1 else f"{part:.0%} of the time"
        answer = "held" if part <= BUSY else "too much"
        console.print(f"{rate:>12,} events a second: {behind}, {answer}", highlight=False)
        return part <= BUSY

    highest = FIRST_RATE
    while not held(highest):
        if highest == LOWEST_RATE:
            raise StrategyError(
                f"this machine does not hold {LOWEST_RATE} events a second: stop what else runs "
                "on it, or give a --rate"
            )
        highest = max(highest // 4, LOWEST_RATE)
    while 2 * highest <= HIGHEST_RATE and held(2 * highest):
        highest *= 2
    if held(highest * 3 // 2):
        highest = highest * 3 // 2
    return int(highest * SHARE)


@contextmanager
def display(console: Console, title: str, seconds: float) -> Iterator[Tell]:
    """A bar on a terminal, and a line now and then elsewhere."""
    if not console.is_terminal:
        shown = 0.0

        def line(at: float, text: str) -> None:
            nonlocal shown
            if at - shown >= LINE_EVERY:
                shown = at
                console.print(f"{title}: {at:,.0f} of {seconds:,.0f} s, {text}", soft_wrap=True)

        yield line
        return
    columns = ("{task.description}", BarColumn(20), TimeRemainingColumn(), "{task.fields[now]}")
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=seconds, now="")
        yield lambda at, text: bar.update(task, completed=at, now=text)

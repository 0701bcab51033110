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
from dataclasses import asdict
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TimeRemainingColumn

from lab.benchmarks.sustained_run import Moment, Seen, Stream, Tell, quantile, watch
from lab.registry import Options
from lab.report import picture, write_files
from lab.timing import machine
from muntin.errors import StrategyError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
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


LEVELS: tuple[tuple[str, Callable[[Moment], float], str], ...] = (
    ("batch time", lambda m: m.batch_seconds, "s"),
    ("state", lambda m: m.state_rows / 1e3, "thousand rows"),
    ("state", lambda m: m.state_bytes / 1e6, "MB"),
    ("memory", lambda m: m.memory_bytes / 1e6, "MB"),
)
"""What should be flat."""
GREY, DASHED = "grey", (0, (5, 3))


def report(
    seen: Seen, stream: Stream, rate: int, title: str, folder: Path, console: Console
) -> None:
    """Print the figures and leave sustained.csv and sustained.png in the folder."""
    steady = seen.after(seen.warm_up)
    if len(steady.moments) < 2 or not steady.results:
        first = stream.windows[0].range / 1e6 + stream.delay + 2 * stream.interval
        console.print(
            f"too short: results are due after some {first:.0f} s, and Spark warms up before; give "
            "more --minutes"
        )
        return
    for line in figures(seen, stream, rate):
        console.print(line, highlight=False, soft_wrap=True)
    rows = [_csv_row(moment, seen) for moment in seen.moments]
    drawn = partial(_draw, seen, stream, f"{rate:,} events a second, {title}")
    write_files(folder, console, {"sustained.csv": rows}, {"sustained.png": drawn})


def figures(seen: Seen, stream: Stream, rate: int) -> list[str]:
    """What a run comes to, in lines."""
    steady, begin = seen.after(seen.warm_up), seen.warm_up
    worked, late = steady.events_per_second(), sum(m.late_rows for m in steady.moments)
    lines = [
        f"without the first {begin:.0f} s, in which Spark warms up:",
        f"  throughput  {worked:,.0f} events a second, {worked / rate:.1%} of those made",
        f"  results     {steady.results:,}; {late:,} late rows",
        f"  latency     p50 {steady.latency(0.5):.1f} s, p99 {steady.latency(0.99):.1f} s, from "
        "when the event is made that moves the watermark to a window's end",
    ]
    level = seen.after(max(begin, stream.filled)).moments
    if len(level) < 4:
        return [*lines, f"  flat?       not to be told before {1.2 * stream.filled:.0f} s"]
    half = len(level) // 2
    lines.append(f"from {max(begin, stream.filled):.0f} s on, means of the first and second half:")
    for name, value, unit in LEVELS:
        before, after = fmean(map(value, level[:half])), fmean(map(value, level[half:]))
        lines.append(
            f"  {name:<11} {before:,.1f} and {after:,.1f} {unit}: {after / before - 1:+.1%}"
            if before
            else f"  {name:<11} not known here"
        )
    return lines


def _csv_row(moment: Moment, seen: Seen) -> dict[str, object]:
    pairs = seen.delivered.get(moment.batch, [])
    late = [f"{quantile(pairs, p):.3f}" for p in (0.5, 0.99)] if pairs else ["", ""]
    results = {"results": sum(n for _, n in pairs), "latency_p50": late[0], "latency_p99": late[1]}
    return asdict(moment) | {"second": f"{moment.second:.3f}"} | results


def _draw(seen: Seen, stream: Stream, title: str, file: Path) -> None:
    """Throughput, latency, batch time, state and memory."""
    minutes = [m.second / 60 for m in seen.moments]
    with picture(file, (8, 11), 6, dpi=90, sharex=True) as axes:
        _draw_pace(axes[0], seen)
        _draw_latency(axes[1], seen)
        for axis, (name, read, unit) in zip(axes[2:], LEVELS, strict=True):
            axis.plot(minutes, [read(m) for m in seen.moments], lw=1.3, label="all")
            _entitle(axis, f"{name}, {unit}")
        _mark_level(axes[2], stream.interval, "interval")
        axes[5].plot(minutes, [m.java_bytes / 1e6 for m in seen.moments], lw=1.3, label="JVM")
        axes[5].plot(minutes, [m.python_bytes / 1e6 for m in seen.moments], lw=1.3, label="Python")
        axes[5].legend(fontsize=8, ncols=3, loc="lower right", bbox_to_anchor=(1, 0.97))
        for axis in axes:
            _frame(axis, seen, stream)
        axes[-1].set_xlabel("minutes")
        full = f"dotted line: from {stream.filled:.0f} s on the longest window is full"
        heading = f"{title}\ngrey: warm-up, not in the figures; {full}"
        axes[0].figure.suptitle(heading, fontsize=9)


def _draw_pace(axis: Axes, seen: Seen) -> None:
    """Over five micro-batches at a time: when one ends is a matter of chance."""
    seconds = np.array([m.second for m in seen.moments])
    events = np.cumsum([m.events for m in seen.moments])
    last = np.arange(1, len(seconds))
    first = np.maximum(last - 5, 0)
    pace = (events[last] - events[first]) / (seconds[last] - seconds[first])
    axis.plot(seconds[last] / 60, pace / 1e3, lw=1.3)
    _entitle(axis, "events worked off, thousands a second")


def _draw_latency(axis: Axes, seen: Seen) -> None:
    """A dot for the results of each micro-batch, and the figures of the run as lines."""
    due = [m for m in seen.moments if seen.delivered.get(m.batch)]
    values = [quantile(seen.delivered[m.batch], 0.5) for m in due]
    axis.plot([m.second / 60 for m in due], values, ".", ms=5)
    steady = seen.after(seen.warm_up)
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        _mark_level(axis, steady.latency(share), f"{name} {steady.latency(share):.1f}")
    _entitle(axis, "latency of results, s")


def _entitle(axis: Axes, text: str) -> None:
    axis.set_title(text, fontsize=9, loc="left")


def _mark_level(axis: Axes, height: float, text: str) -> None:
    """A level line with a word at its right end."""
    axis.axhline(height, color=GREY, linestyle=DASHED, lw=1)
    across = axis.get_yaxis_transform()
    axis.text(1.005, height, text, fontsize=8, color=GREY, va="center", transform=across)


def _frame(axis: Axes, seen: Seen, stream: Stream) -> None:
    """From zero up, over the whole run, with the warm-up and the filling of windows marked."""
    end = seen.moments[-1].second / 60
    highest = max(float(np.max(np.asarray(each.get_ydata()))) for each in axis.lines)
    axis.set(xlim=(0, end), ylim=(0, 1.15 * highest or 1.0))
    axis.axvspan(0, seen.warm_up / 60, color=GREY, alpha=0.12, lw=0)
    if end * 60 > stream.filled:
        axis.axvline(stream.filled / 60, color=GREY, linestyle=":", lw=1)

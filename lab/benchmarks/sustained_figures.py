"""The figures of a sustained run: a few lines, a CSV file, and the picture of it."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from lab.benchmarks.sustained_picture import draw
from lab.benchmarks.sustained_run import Moment, Seen, Stream, quantile

LEVELS: tuple[tuple[str, Callable[[Moment], float], str], ...] = (
    ("batch time", lambda m: m.batch_seconds, "s"),
    ("state", lambda m: m.state_rows / 1e3, "thousand rows"),
    ("state", lambda m: m.state_bytes / 1e6, "MB"),
    ("memory", lambda m: m.memory.total / 1e6, "MB"),
)
"""What should be flat."""


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
    folder.mkdir(parents=True, exist_ok=True)
    write(seen, folder / "sustained.csv")
    draw(seen, stream, f"{rate:,} events a second, {title}", folder / "sustained.png")
    console.print(f"written: {folder / 'sustained.csv'}, {folder / 'sustained.png'}")


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
        before, after = _mean(level[:half], value), _mean(level[half:], value)
        lines.append(
            f"  {name:<11} {before:,.1f} and {after:,.1f} {unit}: {after / before - 1:+.1%}"
            if before
            else f"  {name:<11} not known here"
        )
    return lines


def _mean(moments: list[Moment], value: Callable[[Moment], float]) -> float:
    return sum(value(m) for m in moments) / len(moments)


def write(seen: Seen, file: Path) -> None:
    """A row for each micro-batch."""
    header = (
        "second,batch,events,batch_seconds,state_rows,state_bytes,late_rows,java_bytes,"
        "python_bytes,results,latency_p50,latency_p99"
    )
    with file.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.writer(opened)
        writer.writerow(header.split(","))
        for m in seen.moments:
            pairs = seen.delivered.get(m.batch, [])
            latencies = [f"{quantile(pairs, p):.3f}" for p in (0.5, 0.99)] if pairs else ["", ""]
            row = (m.second, m.batch, m.events, m.batch_seconds, m.state_rows, m.state_bytes)
            rest = (m.late_rows, m.memory.java, m.memory.python, sum(n for _, n in pairs))
            writer.writerow([f"{row[0]:.3f}", *row[1:], *rest, *latencies])

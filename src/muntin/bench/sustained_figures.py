"""The figures of a sustained run: a table, a CSV file and a picture of what should be flat."""

from __future__ import annotations

import csv
from dataclasses import astuple, fields
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot as plt
from rich.console import Console

from muntin.bench.sustained import Moment, Seen


def report(seen: Seen, rate: int, folder: Path, console: Console) -> None:
    """Print the figures and leave sustained.csv and sustained.png in the folder."""
    if len(seen.moments) < 2 or not seen.latencies:
        console.print("too short: no result was due yet; give more --minutes")
        return
    results = sum(n for _, n in seen.latencies)
    early, late = _halves(seen.moments)
    console.print(f"events worked off     {seen.rows_per_second():,.0f} a second of {rate:,}")
    console.print(f"results               {results:,}")
    console.print(f"latency p50, p99      {seen.latency(0.5):.1f} s, {seen.latency(0.99):.1f} s")
    console.print(f"state, first and second half   {early[0]:,.0f}, {late[0]:,.0f} rows")
    console.print(f"memory, first and second half  {early[1]:,.0f}, {late[1]:,.0f} MB")
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "sustained.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([f.name for f in fields(Moment)])
        writer.writerows(astuple(m) for m in seen.moments)
    draw(seen, folder / "sustained.png")
    console.print(f"written: {folder / 'sustained.csv'}, {folder / 'sustained.png'}")


def _halves(moments: list[Moment]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Mean state rows and memory (MB) of the second and of the last quarter of a run.

    The first quarter fills the state and the JVM's heap.
    """
    span = moments[-1].second

    def means(low: float, high: float) -> tuple[float, float]:
        some = [m for m in moments if low * span <= m.second <= high * span] or moments
        return (
            sum(m.state_rows for m in some) / len(some),
            sum(m.resident for m in some) / len(some) / 1e6,
        )

    return means(0.25, 0.6), means(0.6, 1.0)


def draw(seen: Seen, file: Path) -> None:
    """Throughput, batch time, state and memory over time."""
    seconds = [m.second / 60 for m in seen.moments]
    panels = {
        "events a micro-batch, thousands": [m.rows / 1e3 for m in seen.moments],
        "batch time, s": [m.batch_seconds for m in seen.moments],
        "state, thousand rows": [m.state_rows / 1e3 for m in seen.moments],
        "state, MB": [m.state_bytes / 1e6 for m in seen.moments],
        "memory, MB": [m.resident / 1e6 for m in seen.moments],
    }
    figure, axes = plt.subplots(len(panels), 1, figsize=(8, 9), sharex=True)
    for axis, (title, values) in zip(axes, panels.items(), strict=True):
        axis.plot(seconds, values, linewidth=1)
        axis.set_ylim(bottom=0)
        axis.set_title(title, fontsize=9, loc="left")
        axis.grid(alpha=0.3)
    axes[-1].set_xlabel("minutes")
    figure.tight_layout()
    figure.savefig(file, dpi=100)
    plt.close(figure)

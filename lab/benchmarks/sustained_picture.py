"""The picture of a sustained run: what should be flat over time, one panel below the other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from lab.benchmarks.sustained_run import Moment, Seen, Stream, quantile

GREY, DASHED = "grey", (0, (5, 3))


def draw(seen: Seen, stream: Stream, title: str, file: Path) -> None:
    """Throughput, latency, batch time, state and memory."""
    figure, axes = plt.subplots(6, 1, figsize=(8, 11), sharex=True)
    minutes = [m.second / 60 for m in seen.moments]

    def line(axis: Axes, name: str, value: Callable[[Moment], float], label: str = "") -> None:
        axis.plot(minutes, [value(m) for m in seen.moments], linewidth=1.3, label=label)
        axis.set_title(name, fontsize=9, loc="left")

    _pace(axes[0], seen)
    _latency(axes[1], seen)
    line(axes[2], "time of a micro-batch, s", lambda m: m.batch_seconds)
    axes[2].axhline(stream.interval, color=GREY, linestyle=DASHED, linewidth=1)
    _beside(axes[2], stream.interval, "interval")
    line(axes[3], "state, thousand rows", lambda m: m.state_rows / 1e3)
    line(axes[4], "state, MB, as Spark counts it", lambda m: m.state_bytes / 1e6)
    for label, part in PARTS.items():
        line(axes[5], "memory, MB", part, label)
    above = {"loc": "lower right", "bbox_to_anchor": (1, 0.97), "frameon": False}
    axes[5].legend(fontsize=8, ncols=len(PARTS), **above)
    for axis in axes:
        _frame(axis, seen, stream)
    axes[-1].set_xlabel("minutes")
    full = f"dotted line: from {stream.filled:.0f} s on the longest window is full"
    figure.suptitle(f"{title}\ngrey: warm-up, not in the figures; {full}", fontsize=9)
    figure.tight_layout()
    figure.savefig(file, dpi=90)
    plt.close(figure)


PARTS: dict[str, Callable[[Moment], float]] = {
    "all": lambda m: m.memory.total / 1e6,
    "JVM": lambda m: m.memory.java / 1e6,
    "Python": lambda m: m.memory.python / 1e6,
}


def _pace(axis: Axes, seen: Seen) -> None:
    """Over five micro-batches at a time: when one ends is a matter of chance."""
    pairs = list(zip(seen.moments, seen.moments[1:], strict=False))
    some = [pairs[max(0, i - 4) : i + 1] for i in range(len(pairs))]
    axis.plot(
        [each[-1][1].second / 60 for each in some],
        [
            sum(now.events for _, now in each) / (each[-1][1].second - each[0][0].second) / 1e3
            for each in some
        ],
        linewidth=1.3,
    )
    axis.set_title("events worked off, thousands a second", fontsize=9, loc="left")


def _latency(axis: Axes, seen: Seen) -> None:
    """A dot for the results of each micro-batch, and the figures of the run as lines."""
    due = [m for m in seen.moments if seen.delivered.get(m.batch)]
    values = [quantile(seen.delivered[m.batch], 0.5) for m in due]
    axis.plot([m.second / 60 for m in due], values, ".", markersize=5)
    steady = seen.after(seen.warm_up)
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        axis.axhline(steady.latency(share), color=GREY, linestyle=DASHED, linewidth=1)
        _beside(axis, steady.latency(share), f"{name} {steady.latency(share):.1f}")
    axis.set_title("latency of results, s", fontsize=9, loc="left")


def _beside(axis: Axes, height: float, text: str) -> None:
    """A word at the right end of a level line."""
    axis.annotate(
        text,
        (1.005, height),
        xycoords=("axes fraction", "data"),
        fontsize=8,
        color=GREY,
        va="center",
    )


def _frame(axis: Axes, seen: Seen, stream: Stream) -> None:
    """From zero up, over the whole run, with the warm-up and the filling of windows marked."""
    end = seen.moments[-1].second / 60
    highest = max(float(np.max(np.asarray(each.get_ydata()))) for each in axis.lines)
    axis.set_ylim(0, 1.15 * highest or 1.0)
    axis.set_xlim(0, end)
    axis.axvspan(0, seen.warm_up / 60, color=GREY, alpha=0.12, linewidth=0)
    if end * 60 > stream.filled:
        axis.axvline(stream.filled / 60, color=GREY, linestyle=":", linewidth=1)
    axis.grid(alpha=0.3)

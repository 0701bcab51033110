"""Figures 8a–8h and 9a–9d of the Cutty paper as pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.experiments.cutty_counts import Counted
from muntin.model.data_windows import CountWindow

STYLE = {
    "Naive": ("0.5", "x"),
    "Cutty": ("C0", "o"),
    "Cutty lazy": ("C9", "o"),
    "Cutty coalesced": ("C4", "*"),
    "Pairs+": ("C1", "s"),
    "Pairs": ("C8", "s"),
    "RA": ("C3", "^"),
}


def draw_periodic(found: list[Counted], queries: Sequence[CountWindow], folder: Path) -> None:
    """Figure 8: the workload, calls, partials, throughput, and calls split in two."""
    figure, axes = plt.subplots(2, 4, figsize=(19, 8))
    flat = list(axes.flat)
    flat[0].scatter([q.slide for q in queries], [q.range for q in queries], s=9)
    flat[0].set(title="8a: the windows", xlabel="slide", ylabel="range")
    _lines(flat[1], found, lambda c: c.calls, "8b: reduce calls")
    _lines(flat[2], found, lambda c: c.most_nodes, "8c: partials kept (nodes)")
    fast = [c for c in found if c.technique in ("Cutty", "Pairs+", "RA")]
    _lines(flat[3], fast, lambda c: c.records_a_second, "8d: records a second")
    for axis, letter, technique in zip(flat[4:7], "efg", ("Cutty", "Pairs+", "RA"), strict=True):
        _split(axis, [c for c in found if c.technique == technique], f"8{letter}: {technique}")
    sliced = [c for c in found if c.produced]
    _lines(flat[7], sliced, lambda c: c.produced, "8h: partials produced")
    _finish(figure, flat[1], folder / "cutty_8.png")


def draw_sessions(found: list[Counted], means: list[float], folder: Path) -> None:
    """Figure 9: the sensors, throughput, partials, and calls."""
    figure, axes = plt.subplots(1, 4, figsize=(19, 4.4))
    axes[0].bar(range(1, len(means) + 1), [100 / m for m in means])
    axes[0].set(title="9a: changes of state a second", xlabel="sensor (made up)", yscale="log")
    timed = [c for c in found if c.technique != "Naive"]
    _lines(axes[1], timed, lambda c: c.records_a_second, "9b: records a second")
    _lines(axes[2], timed, lambda c: c.most_nodes, "9c: partials kept (nodes)")
    for technique in ("Cutty", "RA"):
        own = [c for c in found if c.technique == technique]
        color = STYLE[technique][0]
        for part, style in (("update", "-"), ("merge", "--")):
            points = [(c.queries, getattr(c, part)) for c in own]
            axes[3].plot(
                *zip(*points, strict=True),
                style,
                color=color,
                marker=STYLE[technique][1],
                ms=4,
                lw=1,
                label=f"{technique} {part}",
            )
    axes[3].set(title="9d: reduce calls, split", yscale="log", xlabel="queries")
    axes[3].legend(fontsize=7)
    axes[3].grid(alpha=0.3)
    _finish(figure, axes[1], folder / "cutty_9.png")


def _lines(axis: Axes, found: list[Counted], read: Callable[[Counted], float], title: str) -> None:
    for technique in dict.fromkeys(c.technique for c in found):
        color, mark = STYLE[technique]
        points = [(c.queries, read(c)) for c in found if c.technique == technique]
        axis.plot(*zip(*points, strict=True), color=color, marker=mark, ms=4, lw=1, label=technique)
    axis.set(title=title, yscale="log", xlabel="queries")
    axis.grid(alpha=0.3)


def _split(axis: Axes, found: list[Counted], title: str) -> None:
    queries = [c.queries for c in found]
    axis.bar(queries, [c.update for c in found], width=6, label="update", color="C0")
    axis.bar(
        queries,
        [c.merge for c in found],
        width=6,
        label="merge",
        color="C1",
        bottom=[c.update for c in found],
    )
    axis.set(title=f"{title}, reduce calls", xlabel="queries")
    axis.legend(fontsize=8)


def _finish(figure: Figure, with_legend: Axes, path: Path) -> None:
    handles, labels = with_legend.get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=7, frameon=False)
    figure.tight_layout(rect=(0, 0.05 if figure.get_figheight() > 5 else 0.08, 1, 1))
    figure.savefig(path, dpi=80)
    plt.close(figure)

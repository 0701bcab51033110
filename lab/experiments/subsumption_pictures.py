"""Figures 10, 11 and 12 of the subsumption paper as one picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import mean

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from lab.experiments.subsumption_rows import Grouping, Memory, Timing
from lab.experiments.subsumption_workload import CLASSES

COLOURS = {"smooth": "#3178c6", "medium": "#c98a00", "abrupt": "#3a8f4a"}


def draw(
    groups: Sequence[Grouping], memory: Sequence[Memory], time: Sequence[Timing], folder: Path
) -> None:
    """Groups, tuples held, and seconds, side by side."""
    figure, axes = plt.subplots(1, 3, figsize=(14, 4.2))
    _groups(axes[0], groups)
    _memory(axes[1], memory)
    _time(axes[2], time)
    for axis in axes:
        axis.grid(alpha=0.3)
        axis.legend(frameon=False, fontsize=8, ncols=2 if axis is axes[2] else 1)
    figure.subplots_adjust(0.05, 0.13, 0.99, 0.91, wspace=0.22)
    figure.savefig(folder / "subsumption.png", dpi=100)
    plt.close(figure)


def _groups(axis: Axes, rows: Sequence[Grouping]) -> None:
    for kind in CLASSES:
        mine = [r for r in rows if r.kind == kind]
        sizes = list(dict.fromkeys(r.windows for r in mine))
        for name, style in (("greedy", "-o"), ("fewest", "--s")):
            counts = [mean(getattr(r, name) for r in mine if r.windows == s) for s in sizes]
            axis.plot(sizes, counts, style, color=COLOURS[kind], ms=4, label=f"{kind}, {name}")
    axis.set(xlabel="windows", ylabel="groups")
    axis.set_ylim(bottom=0)
    axis.set_title("Figure 10: groups", fontsize=10)


def _memory(axis: Axes, rows: Sequence[Memory]) -> None:
    sizes = [r.windows for r in rows]
    for name, label, style, width in (
        ("apart", "all windows apart", "-o", 1.5),
        ("distinct_apart", "distinct windows apart", "-o", 1.5),
        ("widest", "the widest window of each group", "-", 6),
        ("shared", "stairs", "-o", 1.5),
    ):
        held = [getattr(r, name) for r in rows]
        axis.plot(sizes, held, style, ms=4, lw=width, alpha=0.4 if width > 2 else 1, label=label)
    axis.set(xlabel="windows", ylabel="tuples held", yscale="log")
    axis.set_title("Figure 11: memory, class medium", fontsize=10)


def _time(axis: Axes, rows: Sequence[Timing]) -> None:
    for kind in CLASSES:
        mine = [r for r in rows if r.kind == kind]
        rates = [r.rate for r in mine]
        for name, style in (("apart", ":^"), ("one_by_one", "--s"), ("shared", "-o")):
            label = f"{kind}, {name.replace('_', ' ')}"
            seconds = [getattr(r, name) for r in mine]
            axis.plot(rates, seconds, style, color=COLOURS[kind], ms=4, label=label)
    axis.axhline(2, color="#b03030", lw=1, label="the paper's upper bound")
    axis.set(xlabel="tuples a second", ylabel="seconds a timestamp", xscale="log", yscale="log")
    axis.set_ylim(top=200)  # room for the legend
    axis.set_title(f"Figure 12: SUM over {rows[0].windows:,} windows", fontsize=10)

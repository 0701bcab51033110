"""Predicted against measured seconds of plans on Spark, both axes logarithmic."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

if TYPE_CHECKING:
    from lab.experiments.on_spark import Measured

_MARKS = {"window": ("s", "#1f2933"), "expand": ("^", "#c98a00"), "kernel": ("o", "#3178c6")}

_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)


def draw(found: Sequence[Measured], path: Path) -> None:
    """One mark for each plan, by its operator; auto's choices are ringed."""
    figure, axes = plt.subplots(figsize=(5.2, 4.8))
    low = min(min(m.predicted, m.measured) for m in found) * 0.8
    high = max(max(m.predicted, m.measured) for m in found) * 1.25
    axes.plot([low, high], [low, high], color="#8896a5", linewidth=1)
    axes.fill_between([low, high], [low * 0.8, high * 0.8], [low * 1.2, high * 1.2], alpha=0.12)
    for operator, (mark, colour) in _MARKS.items():
        own = [m for m in found if m.plan.endswith(operator)]
        x, y = [m.measured for m in own], [m.predicted for m in own]
        axes.scatter(x, y, marker=mark, color=colour, s=26, label=operator, zorder=3)
    chosen = [m for m in found if m.auto]
    x, y = [m.measured for m in chosen], [m.predicted for m in chosen]
    axes.scatter(x, y, 110, facecolors="none", edgecolors="#d64545", label="chosen by auto")
    axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high))
    ticks = [t for t in _TICKS if low <= t <= high]
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())
        axis.set_major_locator(FixedLocator(ticks))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_xlabel("measured seconds")
    axes.set_ylabel("predicted seconds")
    axes.set_title("Plans on Spark; the band is ±20 %", fontsize=10)
    axes.legend(frameon=False, fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)

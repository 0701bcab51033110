"""Figures 11 to 15 as pictures: costs on a logarithmic axis, one group of bars a window set."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from lab.experiments.factor_window_rows import TECHNIQUES, Costs, Panel

COLOURS = ("#4d4d4d", "#999999", "#56a0d3", "#f0b35e", "#e07b39", "#2a7f3f")


def draw_figures(costs: Costs, folder: Path) -> None:
    """One file a figure, one axis a panel."""
    for number in dict.fromkeys(panel.figure for panel in costs.panels):
        panels = [panel for panel in costs.panels if panel.figure == number]
        figure, axes = plt.subplots(
            1, len(panels), figsize=(5.4 * len(panels), 3.9), squeeze=False, layout="constrained"
        )
        for axis, panel in zip(axes[0], panels, strict=True):
            _bars(axis, costs, panel)
        axes[0][0].set_ylabel("cost over lcm(R, S), in events")
        handles, labels = axes[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=6, frameon=False)
        figure.savefig(folder / f"factor_windows_{number}.png", dpi=110)
        plt.close(figure)


def _bars(axis: Axes, costs: Costs, panel: Panel) -> None:
    width = 0.8 / len(TECHNIQUES)
    for i, (technique, colour) in enumerate(zip(TECHNIQUES, COLOURS, strict=True)):
        values = costs.of(panel, technique)
        places = [n + 1 + (i - 2.5) * width for n in range(len(values))]
        axis.bar(places, values, width, label=technique, color=colour)
    axis.set_yscale("log")
    axis.set_title(panel.title, fontsize=10)
    axis.set_xlabel("window set")
    axis.set_xticks(range(1, len(values) + 1))
    axis.grid(axis="y", alpha=0.3)
    axis.set_axisbelow(True)

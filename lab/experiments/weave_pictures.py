"""Figures 16 to 21 of the multi-query paper, and the guarantee, as pictures."""

from __future__ import annotations

from pathlib import Path
from statistics import mean

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from lab.experiments.weave_guarantee import Savings
from lab.experiments.weave_runs import OPTIMIZERS, SWEEPS, TECHNIQUES, Run, Sweep
from lab.experiments.weave_scaling import WAYS, Timing

MARKS = "osv^D"


def draw_sweeps(runs: list[Run], folder: Path) -> None:
    """One picture for all five experiments: WeaveShare above, TriWeave below."""
    figure, axes = plt.subplots(2, len(SWEEPS), figsize=(18, 7), sharey="col")
    for row, optimizer in zip(axes, OPTIMIZERS, strict=True):
        for axis, sweep in zip(row, SWEEPS, strict=True):
            mine = [r for r in runs if r.experiment == sweep.number and r.optimizer == optimizer]
            _costs(axis, sweep, mine)
            axis.set_title(f"Figure {sweep.figure}: {optimizer}", fontsize=10)
        row[0].set_ylabel("plan cost, aggregations")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=5, frameon=False)
    figure.subplots_adjust(0.04, 0.13, 0.99, 0.95, wspace=0.22, hspace=0.38)
    figure.savefig(folder / "weave_17_21.png", dpi=100)
    plt.close(figure)


def _costs(axis: Axes, sweep: Sweep, runs: list[Run]) -> None:
    for i, title in enumerate(TECHNIQUES):
        costs = [
            mean(r.cost for r in runs if r.technique == title and r.value == value)
            for value in sweep.values
        ]
        axis.plot(sweep.values, costs, marker=MARKS[i], ms=5, lw=1.2, label=title)
    axis.set_yscale("log")
    if sweep.field != "skew":
        axis.set_xscale("log")
    axis.set_xlabel(sweep.parameter)
    axis.grid(alpha=0.3)


def draw_scaling(timings: list[Timing], folder: Path) -> None:
    """Figure 16: seconds against the number of queries."""
    figure, axis = plt.subplots(figsize=(6.5, 4.2))
    for i, way in enumerate(WAYS):
        points = [(t.queries, t.seconds) for t in timings if t.way == way]
        axis.plot(*zip(*points, strict=True), marker=MARKS[i], ms=5, lw=1.2, label=way)
    axis.set(xscale="log", yscale="log", xlabel="queries", ylabel="seconds to plan")
    axis.set_title("Figure 16: WeaveShare, slides from the factors of 8,648,640", fontsize=10)
    axis.grid(alpha=0.3)
    axis.legend(frameon=False)
    figure.subplots_adjust(0.12, 0.13, 0.97, 0.92)
    figure.savefig(folder / "weave_16.png", dpi=110)
    plt.close(figure)


def draw_guarantee(savings: list[Savings], folder: Path) -> None:
    """How the savings of WeaveShare spread between a quarter and all of the optimum's."""
    figure, axis = plt.subplots(figsize=(6.5, 3.6))
    axis.hist([s.ratio for s in savings], bins=[i / 40 for i in range(41)], color="#56a0d3")
    axis.axvline(0.25, color="#b03030", lw=1.5, label="guaranteed: ¼")
    axis.set(xlim=(0, 1.01), ylim=(0.7, None), yscale="log", ylabel="window sets")
    axis.set_xlabel("savings of weave-share / savings of the optimum")
    axis.legend(frameon=False, loc="upper center")
    axis.grid(axis="y", alpha=0.3)
    figure.subplots_adjust(0.1, 0.15, 0.97, 0.96)
    figure.savefig(folder / "weave_guarantee.png", dpi=110)
    plt.close(figure)

"""Tables, CSV and pictures of the factor-windows experiment, the paper's words beside ours."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from lab.experiments.factor_window_observations import observations
from lab.experiments.factor_window_rows import (
    TECHNIQUES,
    Costs,
    Gain,
    Panel,
    Row,
    geometric_mean,
)


def print_report(rows: Sequence[Row], gains: Sequence[Gain], console: Console) -> None:
    """One table a panel, the observations, and what fewest pieces gain."""
    costs = Costs(rows)
    for panel in costs.panels:
        console.print(f"\n{panel.title}", style="italic", highlight=False)
        console.print(panel_table(costs, panel))
    console.print(summary_table(costs))
    console.print(observation_table(costs))
    console.print(gain_table(gains))


def panel_table(costs: Costs, panel: Panel) -> Table:
    """A technique a row, a window set a column, and the mean cost relative to BL."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("set")
    for number in range(1, len(costs.of(panel, "BL")) + 1):
        table.add_column(str(number), justify="right")
    table.add_column("to BL", justify="right", style="bold")
    for technique in TECHNIQUES:
        cells = (_short(cost) for cost in costs.of(panel, technique))
        table.add_row(technique, *cells, f"{costs.mean([panel], technique, 'BL'):.4f}")
    return table


def summary_table(costs: Costs) -> Table:
    """A panel a row: the mean cost of each technique relative to BL."""
    table = Table(title="\nMean cost relative to BL (geometric)", title_justify="left")
    table.add_column("figure")
    for technique in TECHNIQUES:
        table.add_column(technique, justify="right")
    for panel in costs.panels:
        means = (costs.mean([panel], technique, "BL") for technique in TECHNIQUES)
        table.add_row(panel.title.removeprefix("Figure "), *(f"{mean:.4f}" for mean in means))
    return table


def _short(cost: float) -> str:
    """Three digits and an exponent.

    >>> _short(48_000)
    '4.80e4'
    """
    mantissa, exponent = f"{cost:.2e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def observation_table(costs: Costs) -> Table:
    """Section 5.3, sentence by sentence, with our figures."""
    table = Table(
        title="\nThe paper's observations and ours", title_justify="left", show_lines=True
    )
    table.add_column("the paper (section 5.3)", ratio=1)
    table.add_column("here (geometric means of cost ratios)", ratio=1)
    for said, found in observations(costs):
        table.add_row(said, found)
    return table


def gain_table(gains: Sequence[Gain]) -> Table:
    """Mean costs relative to BL, by the paper's multiplier and by the fewest pieces."""
    names = list(gains[0].costs)
    table = Table(
        title="\nWhat fewest pieces gain over the paper's multiplier (mean cost relative to BL, "
        "η = 100)",
        title_justify="left",
    )
    for name in ("sets", "windows", "aggregate"):
        table.add_column(name)
    for name in names[1:]:
        table.add_column(name, justify="right")
    for kind in dict.fromkeys((g.generator, g.shape, g.aggregate) for g in gains):
        same = [g.costs for g in gains if (g.generator, g.shape, g.aggregate) == kind]
        cells = (geometric_mean(c[name] / c["BL"] for c in same) for name in names[1:])
        table.add_row(*kind, *(f"{cell:.5f}" for cell in cells))
    return table


def write_report(rows: Sequence[Row], gains: Sequence[Gain], folder: Path) -> None:
    """All costs as CSV, and one picture a figure."""
    from lab.experiments.factor_window_pictures import draw_figures

    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "factor_windows.csv").open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["figure", "generator", "shape", "eta", "set", "windows", "technique", "cost"])
        for r in rows:
            p = r.panel
            head = (p.figure, p.generator, p.shape, p.eta)
            out.writerow((*head, r.number, r.windows, r.technique, r.cost))
    with (folder / "fewest_pieces.csv").open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["generator", "shape", "aggregate", *gains[0].costs])
        out.writerows([g.generator, g.shape, g.aggregate, *g.costs.values()] for g in gains)
    draw_figures(Costs(rows), folder)

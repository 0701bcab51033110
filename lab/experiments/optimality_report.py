"""Tables, CSV and picture of the optimality experiment."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import astuple, fields
from pathlib import Path

from rich.console import Console
from rich.table import Table

from lab.experiments.optimality_rows import Gaps, Measured, Timed


def print_report(found: Sequence[Measured], timed: Sequence[Timed], console: Console) -> None:
    """Gaps by kind of problem, then times."""
    console.print(gap_table(found))
    console.print(time_table(timed))


def gap_table(found: Sequence[Measured]) -> Table:
    """One row a generator and kind of pieces, and one for all."""
    table = Table(
        title="\nCost above the true optimum over all trees of windows", title_justify="left"
    )
    for name in ("generator", "windows", "pieces"):
        table.add_column(name)
    for name in ("sets", "steiner optimal", "mean gap", "worst gap", "wcg-fw optimal", "mean gap"):
        table.add_column(name, justify="right")
    kinds = dict.fromkeys((m.generator, m.shape, m.pieces) for m in found)
    for kind in sorted(kinds):
        _add(table, kind, [m for m in found if (m.generator, m.shape, m.pieces) == kind])
    table.add_section()
    for cost in dict.fromkeys(m.cost for m in found):
        _add(table, (f"all, {cost}", "", ""), [m for m in found if m.cost == cost])
    _add(table, ("all", "", ""), found)
    return table


def _add(table: Table, kind: tuple[str, str, str], found: Sequence[Measured]) -> None:
    ours, greedy = Gaps.of([m.gap for m in found]), Gaps.of([m.greedy_gap for m in found])
    table.add_row(
        *kind,
        str(ours.sets),
        str(ours.optimal),
        f"{ours.mean:.4%}",
        f"{ours.worst:.2%}",
        str(greedy.optimal),
        f"{greedy.mean:.1%}",
    )


def time_table(timed: Sequence[Timed]) -> Table:
    """Milliseconds, and costs relative to Algorithm 1."""
    table = Table(
        title="\nProcessor time and cost under the rate cost (slides up to a day, ranges up to 24 "
        "slides)",
        title_justify="left",
    )
    table.add_column("windows", justify="right")
    table.add_column("pieces")
    table.add_column("strategy")
    table.add_column("milliseconds", justify="right")
    table.add_column("cost to wcg", justify="right")
    for each in timed:
        for (name, idempotent), seconds in each.seconds.items():
            ratio = each.costs[name, idempotent] / each.costs["wcg", idempotent]
            kind = "overlapping" if idempotent else "disjoint"
            table.add_row(f"{each.windows:,}", kind, name, f"{1000 * seconds:,.1f}", f"{ratio:.4f}")
    return table


def write_report(found: Sequence[Measured], folder: Path) -> None:
    """All measurements as CSV, and the picture."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "optimality.csv").open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(field.name for field in fields(Measured))
        out.writerows(astuple(m) for m in found)
    _draw(found, folder / "optimality.png")


def _draw(found: Sequence[Measured], path: Path) -> None:
    """Every problem's gap, in order of size, for both strategies."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axis = plt.subplots(figsize=(7.5, 4), layout="constrained")
    for label, gaps, colour in (
        ("wcg-fw", [m.greedy_gap for m in found], "#e07b39"),
        ("steiner", [m.gap for m in found], "#2a7f3f"),
    ):
        axis.plot([100 * max(gap, 0) for gap in sorted(gaps)], label=label, color=colour, lw=2)
    axis.set_yscale("symlog", linthresh=0.1)
    axis.set_ylim(bottom=0)
    axis.set_xlabel("window sets, by gap")
    axis.set_ylabel("cost above the optimum, %")
    axis.grid(alpha=0.3)
    axis.legend(frameon=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)

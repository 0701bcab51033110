"""techniques: the operations and the space of every technique, counted, beside the paper's Table 2.

Prints one table for each column of Table 2 with the paper's formula and what was counted for n from
1 to 4,096, says why the two differ where they do, and writes all counts (CSV) and a picture (PNG).
Section 2.2 of the multi-query paper.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import astuple, fields
from pathlib import Path

from rich.console import Console
from rich.table import Table

from lab.experiments.technique_counts import Counts, count_variant, variants

SIZES = tuple(2**k for k in range(13))
SHOWN = (1, 4, 16, 64, 256, 1024, 4096)

PAPER = {
    "Panes": ("n", "n", "n²", "n"),
    "PanesInv": ("", "", "", ""),
    "FlatFAT": ("log n", "log n", "n·log n", "2n"),
    "BInt": ("log n", "log n", "n·log n", "2n"),
    "FlatFIT": ("3", "n", "3n", "2n"),
    "TwoStacks": ("3", "n", "—", "2n"),
    "DABA": ("5", "8", "—", "2n"),
    "SlickDeque (Inv)": ("2", "2", "2n", "n"),
    "SlickDeque (Non-Inv)": ("< 2", "n", "n", "2 to 2n"),
    "… on its worst input": ("< 2", "n", "n", "2 to 2n"),
}
"""Table 2: single query amortised and worst, max-multi query, space. Panes (Inv) is not in it."""

COLUMNS: dict[str, Callable[[Counts], float | None]] = {
    "Operations per slide, one query, amortised": lambda c: c.amortised,
    "Operations per slide, one query, worst slide": lambda c: c.worst,
    "Operations per slide, queries of all ranges 1 … n": lambda c: c.multi,
    "Space, one query: partials, positions and pointers (mean)": lambda c: c.space,
}

DIFFERENCES = """\
Where the counts differ from the paper's formulas, and why:
  Panes           n - 1 combines join n partials; all ranges 1 … n take n(n - 1)/2, half of n².
  FlatFAT, B-Int  log₂ n exactly for one query. A range is covered by fewer nodes than log₂ n on
                  average (see C(P) in `muntin.cost.omega`), so all ranges take less than
                  n·log n. Where n is no power of two the tree has up to 4n slots (paper: 3n).
  FlatFIT         3 only for one query and large n: a cycle of n + 1 slides takes 3n - 3. With all
                  ranges every position is compressed at every slide, so each answer is one combine
                  away: n - 1, not 3n.
  TwoStacks       keeps n partials, as the back stack holds values and one running aggregate and the
                  front stack aggregates only; the paper stores both for each value (2n). The worst
                  slide is a flip of n - 1 combines, then one for the answer.
  DABA            as the paper says: 5 on average, never more than 8 (4 insert, 3 evict, 1 query).
  SlickDeque      Inv keeps one running aggregate beside the n partials. Non-Inv on random input
                  keeps 2·H_n words (a partial and a position each); all ranges take n comparisons
                  of positions and about H_n steps. Its worst input costs n - 1 in one slide, after
                  which the deque is nearly empty: amortised it stays below 2 there too.
  n = 1           the answer is the only partial: only running aggregates still add and take out."""


def run_techniques(
    console: Console, folder: Path | None = None, sizes: Sequence[int] = SIZES
) -> list[Counts]:
    """Count, print, and write into the folder if one is given."""
    counts = []
    for n in sizes:
        with console.status(f"counting operations: n = {n:,}"):
            counts += [count_variant(variant, n) for variant in variants()]
    for column, (title, read) in enumerate(COLUMNS.items()):
        console.print(_table(title, column, read, counts))
    console.print(f"\n{DIFFERENCES}", markup=False, highlight=False)
    if folder is not None:
        write(counts, folder)
        console.print(f"\nwritten: {folder}/techniques.csv and techniques.png")
    return counts


def _table(
    title: str, column: int, read: Callable[[Counts], float | None], counts: list[Counts]
) -> Table:
    sizes = sorted({c.n for c in counts})
    shown = [n for n in sizes if n in SHOWN] or sizes
    table = Table(title=f"\n{title}", title_justify="left")
    table.add_column("technique")
    table.add_column("Table 2", style="dim")
    for n in shown:
        table.add_column(f"n = {n:,}", justify="right")
    by = {(c.title, c.n): c for c in counts}
    for name in dict.fromkeys(c.title for c in counts):
        paper = PAPER[name][column] or "not in it"
        table.add_row(name, paper, *(_cell(read(by[name, n])) for n in shown))
    return table


def _cell(value: float | None) -> str:
    if value is None:
        return "—"
    return f"{value:,.0f}" if value >= 100 else f"{value:.5g}"


def write(counts: list[Counts], folder: Path) -> None:
    """All counts as CSV, and the picture."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "techniques.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(f.name for f in fields(Counts))
        rows.writerows(astuple(c) for c in counts)
    _draw(counts, folder / "techniques.png")


def _draw(counts: list[Counts], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(12, 8.5), sharex=True)
    names = list(dict.fromkeys(c.title for c in counts))
    marks = "osv^Dx+*Pd"
    for axis, (title, read) in zip(axes.flat, COLUMNS.items(), strict=True):
        for i, name in enumerate(names):
            points = [(c.n, value) for c in counts if c.title == name and (value := read(c))]
            label = f"SlickDeque (Non-Inv) {name}" if name.startswith("…") else name
            if points:
                style = {"marker": marks[i % 10], "color": f"C{i}", "ms": 5, "lw": 1}
                axis.plot(*zip(*points, strict=True), **style, label=label)
        axis.set(title=title, xscale="log", yscale="log")
        axis.set_xscale("log", base=2)
        axis.grid(alpha=0.3)
    for axis in axes[1]:
        axis.set_xlabel("n, values in the window")
    handles, labels = axes[1][1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=5, frameon=False)
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    figure.savefig(path, dpi=110)
    plt.close(figure)

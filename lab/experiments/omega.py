"""omega: the estimates of Ω against counted operations, over random sets of queries.

Two kinds of load. "every slide": ranges in partials, all answered at every edge, as the paper has
them in its derivations. "periodic": windows with slides among the divisors of a number and ranges
up to an overlap times the slide (the paper's testbed, section 5.1), on shared pairs: each answered
where its instances end, with the partials that they have. Techniques run over at least one
composite slide after the window is full. Section 4.1 of the multi-query paper.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from math import lcm
from pathlib import Path
from random import Random
from statistics import mean

import numpy as np
from rich.console import Console
from rich.table import Table

from muntin.aggregates import Aggregate
from muntin.aggregates import max as largest
from muntin.aggregates import sum as total
from muntin.cost.omega import PAPER, Load, counted_omega, instance_partials, load_of, paper_omega
from muntin.incremental import Counting, technique_named
from muntin.model.windows import Window

DIVISORS_OF = 120
OVERLAP = 24
EDGES = 2000

DIFFERENCES = """\
Why the paper's estimates differ from the counts:
  all       each window is charged at every edge, though it is answered only at its own slides: on
            periodic loads everything but Panes and SlickDeque (Inv) is overestimated
  Panes     P partials take P - 1 combines, and an instance rarely has r·E partials exactly
  FlatFAT   the walk that updates the tree is not charged apart, and the query of the longest range
            is, though it reads the root
  FlatFIT   3 for each of many queries is too much: they share shortcuts and fall to 1 each
  SlickDeque (Inv)       windows that have different numbers of partials at different edges need
                         more running aggregates than there are different ranges
  SlickDeque (Non-Inv)   Σ1/i! < 1.72 stands for the length of the deque, which is H_P on average;
                         a traversal ends at the shortest range asked, which the paper ignores"""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One technique on one load: operations per edge, counted and estimated."""

    load: str
    queries: int
    technique: str
    counted: float
    paper: float
    better: float


def every_slide(random: Random, queries: int) -> tuple[Window, ...]:
    """Different ranges up to 256 partials, all answered at every edge."""
    return tuple(Window(r, 1) for r in random.sample(range(1, 257), queries))


def periodic(random: Random, queries: int) -> tuple[Window, ...]:
    """Slides that divide 120; ranges that need not be multiples of them."""
    slides = [d for d in range(2, DIVISORS_OF + 1) if DIVISORS_OF % d == 0]
    chosen: dict[Window, None] = {}
    while len(chosen) < queries:
        slide = random.choice(slides)
        chosen[Window(round(slide * random.uniform(1, OVERLAP)), slide)] = None
    return tuple(chosen)


LOADS = {"every slide": every_slide, "periodic": periodic}


def questions(load: Load) -> list[tuple[int, ...]]:
    """For each edge of one composite slide, the numbers of partials that are asked for there."""
    cuts = load.slices.cuts
    period = lcm(*(c.step for c in cuts), *(w.slide for w in load.windows))
    edges = [t for t in range(period) if load.slices.start_of(t) == t]
    asked: dict[int, set[int]] = {t: set() for t in edges}
    for window, counts in zip(load.windows, instance_partials(load), strict=True):
        base = cuts[0].phase
        first = base + (window.offset - base) % window.slide
        starts = range(first, first + period, window.slide)
        for start, partials in zip(starts, counts, strict=True):
            asked[(start + window.range) % period].add(int(partials))
    return [tuple(sorted(asked[t], reverse=True)) for t in edges]


def count_operations(name: str, load: Load, seed: int) -> float:
    """Operations per edge of a technique that slides over the edges and answers what is asked."""
    invertible = name == "slick-deque-inv"
    aggregate: Aggregate = total("v") if invertible else largest("v")
    counting, random = Counting(aggregate), Random(seed)
    technique = technique_named("slick-deque" if name.startswith("slick") else name)
    asked = questions(load)
    window = technique(counting, ranges={r for ranges in asked for r in ranges})
    full = -(-2 * window.ranges[0] // len(asked))
    rounds = -(-EDGES // len(asked))
    before = 0
    for turn in range(full + rounds):
        if turn == full:
            before = counting.operations + getattr(window, "steps", 0)
        for ranges in asked:
            window.slide(random.randrange(10**9))
            if ranges:
                window.query_all(ranges)
    done: int = counting.operations + getattr(window, "steps", 0) - before
    return done / (rounds * len(asked))


def compare(kind: str, queries: int, seed: int) -> list[Comparison]:
    """All five techniques on one random load."""
    load = load_of(LOADS[kind](Random(seed), queries))
    return [
        Comparison(
            kind,
            queries,
            name,
            count_operations(name, load, seed),
            paper_omega(name, load),
            counted_omega(name, load),
        )
        for name in PAPER
    ]


def run_omega(
    console: Console,
    folder: Path | None = None,
    queries: Sequence[int] = (1, 2, 5, 10, 20),
    sets: int = 4,
) -> list[Comparison]:
    """Compare on `sets` random loads of each size, print the deviations, write them if asked."""
    found = []
    for kind in LOADS:
        for count in queries:
            with console.status(f"counting operations: {kind}, {count} queries"):
                for seed in range(sets):
                    found += compare(kind, count, 1000 * count + seed)
    for kind in LOADS:
        console.print(_table(kind, [c for c in found if c.load == kind]))
    console.print(f"\n{DIFFERENCES}", markup=False, highlight=False)
    if folder is not None:
        write(found, folder)
        console.print(f"\nwritten: {folder}/omega.csv and omega.png")
    return found


def deviation(found: Sequence[Comparison], estimate: str) -> tuple[float, float]:
    """Mean and largest relative deviation of an estimate from the count."""
    each = [abs(getattr(c, estimate) - c.counted) / c.counted for c in found if c.counted]
    return mean(each), float(np.max(each))


def _table(kind: str, found: list[Comparison]) -> Table:
    table = Table(title=f"\nΩ, operations per edge: {kind}", title_justify="left")
    table.add_column("technique")
    for column in ("counted", "paper", "deviation (worst)", "better", "deviation (worst)"):
        table.add_column(column, justify="right")
    for name in PAPER:
        rows = [c for c in found if c.technique == name]
        cells = [f"{mean(c.counted for c in rows):.2f}"]
        for estimate in ("paper", "better"):
            usual, worst = deviation(rows, estimate)
            cells += [
                f"{mean(getattr(c, estimate) for c in rows):.2f}",
                f"{usual:.0%} ({worst:.0%})",
            ]
        table.add_row(name, *cells)
    return table


def write(found: list[Comparison], folder: Path) -> None:
    """All comparisons as CSV, and the picture."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "omega.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(f.name for f in fields(Comparison))
        rows.writerows(astuple(c) for c in found)
    _draw(found, folder / "omega.png")


def _draw(found: list[Comparison], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(10, 9))
    for across, kind in zip(axes, LOADS, strict=True):
        for axis, estimate in zip(across, ("paper", "better"), strict=True):
            for name, mark in zip(PAPER, "osv^D", strict=True):
                points = [c for c in found if c.load == kind and c.technique == name]
                axis.scatter(
                    [c.counted for c in points],
                    [getattr(c, estimate) for c in points],
                    marker=mark, s=24, alpha=0.7, label=name,
                )  # fmt: skip
            axis.axline((1, 1), slope=1, color="grey", lw=1)
            axis.set(xscale="log", yscale="log", title=f"{kind}: {estimate} estimate")
            axis.set(xlabel="Ω counted", ylabel="Ω estimated")
            axis.grid(alpha=0.3)
    axes[0][0].legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)

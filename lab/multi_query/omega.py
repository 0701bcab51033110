"""omega: the estimates of Ω against counted operations, over random sets of queries.

Two kinds of load. "every slide": ranges in partials, all answered at every edge, as the paper has
them in its derivations. "periodic": windows with slides among the divisors of a number and ranges
up to an overlap times the slide (the paper's testbed, section 5.1), on shared pairs: each answered
where its instances end, with the partials that they have. Techniques run over at least one
composite slide after the window is full. Section 4.1 of the multi-query paper.

These are the part "queries"; the part "stream" is what a stream reads (`lab.multi_query.stream`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import lcm
from pathlib import Path
from random import Random
from statistics import mean

from rich.console import Console
from rich.table import Table

from lab.multi_query.stream import compare_reading
from lab.multi_query.techniques import operations_of
from lab.registry import Options
from lab.report import MARKS, new_table, picture, write_files
from muntin.aggregates import Aggregate
from muntin.aggregates import max as largest
from muntin.aggregates import sum as total
from muntin.cost.omega import PAPER, Load, counted_omega, instance_partials, load_of, paper_omega
from muntin.incremental import Counting, Technique, technique_named
from muntin.incremental.protocol import Monoid
from muntin.model.windows import Window
from muntin.plan.slicing import Slices
from muntin.planner.strategies.coverage.divisors import divisors

DIVISORS_OF = 120
OVERLAP = 24
EDGES = 2000


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
    slides = divisors(DIVISORS_OF)[1:]
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
    asked: dict[int, set[int]] = {t: set() for t in edges_of(load.slices, period)}
    for window, counts in zip(load.windows, instance_partials(load), strict=True):
        base = cuts[0].phase
        first = base + (window.offset - base) % window.slide
        starts = range(first, first + period, window.slide)
        for start, partials in zip(starts, counts, strict=True):
            asked[(start + window.range) % period].add(int(partials))
    return [tuple(sorted(ranges, reverse=True)) for ranges in asked.values()]


def edges_of(slices: Slices, period: int) -> list[int]:
    """Where slices begin."""
    return [t for t in range(period) if slices.start_of(t) == t]


def aggregate_of(name: str) -> Aggregate:
    """SlickDeque (Inv) subtracts; all others are run on what cannot be subtracted."""
    return total("v") if name == "slick-deque-inv" else largest("v")


def empty_window(name: str, monoid: Monoid, asked: Iterable[tuple[int, ...]]) -> Technique:
    """A technique, by its name in costs, for all ranges that are asked for."""
    technique = technique_named("slick-deque" if name.startswith("slick") else name)
    return technique(monoid, ranges={r for ranges in asked for r in ranges})


def count_operations(name: str, load: Load, seed: int) -> float:
    """Operations per edge of a technique that slides over the edges and answers what is asked."""
    counting, random = Counting(aggregate_of(name)), Random(seed)
    asked = questions(load)
    window = empty_window(name, counting, asked)
    full = -(-2 * window.ranges[0] // len(asked))
    rounds = -(-EDGES // len(asked))
    before = 0
    for turn in range(full + rounds):
        if turn == full:
            before = operations_of(window, counting)
        for ranges in asked:
            window.slide(random.randrange(10**9))
            if ranges:
                window.query_all(ranges)
    return (operations_of(window, counting) - before) / (rounds * len(asked))


def compare(kind: str, queries: int, seed: int) -> list[Comparison]:
    """All five techniques on one random load."""
    load = load_of(LOADS[kind](Random(seed), queries))
    return [
        Comparison(
            *(kind, queries, name, count_operations(name, load, seed)),
            *(paper_omega(name, load), counted_omega(name, load)),
        )
        for name in PAPER
    ]


def run(
    options: Options, console: Console, queries: Sequence[int] = (1, 2, 5, 10, 20), sets: int = 4
) -> list[Comparison]:
    """The parts asked for, both if none is; what was found of queries."""
    parts = options.choose(("queries", "stream"))
    found = compare_queries(options, console, queries, sets) if "queries" in parts else []
    if "stream" in parts:
        compare_reading(options, console)
    return found


def compare_queries(
    options: Options, console: Console, queries: Sequence[int], sets: int
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
    console.print("\ndocs/techniques.md says why the paper's estimates differ from the counts")
    drawn = {"omega.png": partial(_draw, found)}
    write_files(options.out, console, {"omega.csv": found}, drawn)
    return found


def deviation(found: Sequence[Comparison], estimate: str) -> tuple[float, float]:
    """Mean and largest relative deviation of an estimate from the count."""
    each = [abs(getattr(c, estimate) - c.counted) / c.counted for c in found if c.counted]
    return mean(each), max(each)


def _table(kind: str, found: list[Comparison]) -> Table:
    estimates = ("paper", "better")
    rows = []
    for name in PAPER:
        mine = [c for c in found if c.technique == name]
        cells: list[object] = [name, mean(c.counted for c in mine)]
        for estimate in estimates:
            usual, worst = deviation(mine, estimate)
            cells += [mean(getattr(c, estimate) for c in mine), f"{usual:.0%} ({worst:.0%})"]
        rows.append(cells)
    columns = [column for e in estimates for column in (f"{e}|.2f", "deviation (worst)")]
    title = f"Ω, operations per edge: {kind}"
    return new_table(title, "<technique", "counted|.2f", *columns, rows=rows)


def _draw(found: list[Comparison], path: Path) -> None:
    panels = [(kind, estimate) for kind in LOADS for estimate in ("paper", "better")]
    with picture(path, (10, 9), 2, 2) as axes:
        for axis, (kind, estimate) in zip(axes, panels, strict=True):
            for name, mark in zip(PAPER, MARKS, strict=False):
                points = [c for c in found if c.load == kind and c.technique == name]
                estimates = [getattr(c, estimate) for c in points]
                counted = [c.counted for c in points]
                axis.scatter(counted, estimates, marker=mark, s=24, alpha=0.7, label=name)
            axis.axline((1, 1), slope=1, color="grey", lw=1)
            axis.set(title=f"{kind}: {estimate} estimate", xlabel="Ω counted")
            axis.set(xscale="log", yscale="log", ylabel="Ω estimated")
        axes[0].legend()

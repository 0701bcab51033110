"""techniques: the operations and the space of every technique, counted, beside the paper's Table 2.

A slide is an insert into a full window of n values, which evicts the oldest, and the answer to the
query: one of range n (single), or n of all ranges 1 … n (max-multi). Operations are combines and
inverts; for SlickDeque (Non-Inv) also the comparisons of positions by which a traversal finds the
answers, since it combines nothing there. Space counts partials, positions and pointers held.
Only SlickDeque (Non-Inv) depends on the values: it is run on random ones and on its worst case,
falling values with a peak after every n of them. Section 2.2 of the multi-query paper.

Files: techniques.csv, techniques.png.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from random import Random
from statistics import fmean

from rich.console import Console
from rich.table import Table

from lab.registry import Options
from lab.report import draw_line, group_by, new_table, picture, write_files
from muntin.aggregates import Aggregate
from muntin.aggregates import max as largest
from muntin.aggregates import sum as total
from muntin.incremental import TECHNIQUES, Counting, Technique, space

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

SLIDES = 6
"""A run is so many times n slides long, and a little."""

BUDGET = 300_000
"""Operations after which a run may end early: with all ranges, Panes does n²/2 in one slide."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A technique with an aggregate and an input: one row of the table."""

    title: str
    technique: type[Technique]
    aggregate: Aggregate
    values: Callable[[int], Iterator[int]]


@dataclass(frozen=True, slots=True)
class Counts:
    """What one variant did with windows of n values; None where it cannot serve all ranges."""

    title: str
    n: int
    amortised: float
    worst: int
    multi: float | None
    space: float
    most_space: int


def random_values(n: int) -> Iterator[int]:
    """Values without order."""
    random = Random(n)
    return (random.randrange(10**9) for _ in count())


def falling_with_peaks(n: int) -> Iterator[int]:
    """n - 1 values each smaller than the last, then one that is larger than all before it."""
    return (10**9 + i if i % n == 0 else -i for i in count())


def variants() -> list[Variant]:
    """Every technique found in `muntin.incremental`, SlickDeque for each of its inputs."""
    found = []
    for name, technique in TECHNIQUES.items():
        if name == "slick-deque":
            found += [
                Variant("SlickDeque (Inv)", technique, total("v"), random_values),
                Variant("SlickDeque (Non-Inv)", technique, largest("v"), random_values),
                Variant("… on its worst input", technique, largest("v"), falling_with_peaks),
            ]
        else:
            invertible = technique.refusal(largest("v").function) is not None
            aggregate = total("v") if invertible else largest("v")
            found.append(Variant(technique.__name__, technique, aggregate, random_values))
    return found


def count_variant(variant: Variant, n: int) -> Counts:
    """Slide a full window of n values for several times its length."""
    counting = Counting(variant.aggregate)
    window = variant.technique(counting, ranges=[n])
    values = variant.values(n)
    for _ in range(n):
        window.slide(next(values))
    operations, held, begun = list[int](), list[int](), counting.operations
    while len(operations) < SLIDES * n + 20 and counting.operations - begun < BUDGET:
        before = counting.operations
        window.slide(next(values))
        window.query()
        operations.append(counting.operations - before)
        held.append(space(window))
    multi = _count_multi(variant, n) if variant.technique.several_ranges else None
    each = (_amortised(operations), max(operations), multi, fmean(held), max(held))
    return Counts(variant.title, n, *each)


def _amortised(operations: list[int]) -> float:
    """The mean over whole cycles, from one spike to another: a part of a cycle would mislead."""
    high = 0.9 * max(operations)
    spikes = [i for i, number in enumerate(operations) if number >= high]
    cycles = operations[spikes[0] : spikes[-1]]
    return fmean(cycles if 2 * len(cycles) > len(operations) else operations)


def _count_multi(variant: Variant, n: int) -> float:
    """Operations of a slide that answers all ranges 1 … n, sampled over one turn of the window."""
    counting = Counting(variant.aggregate)
    window = variant.technique(counting, ranges=range(1, n + 1))
    values = variant.values(n)

    def slide_and_ask() -> int:
        before = operations_of(window, counting)
        window.slide(next(values))
        window.query_all()
        return operations_of(window, counting) - before

    for _ in range(n):
        window.slide(next(values))
    slide_and_ask()
    done = [slide_and_ask()]
    samples = sorted((1, BUDGET // (done[0] + 1), 2 * n))[1]
    # running aggregates cost the same at every slide, and are slow to move on; otherwise samples
    # are an odd number of slides apart, to meet even and odd positions of a tree equally often
    apart = 0 if variant.aggregate.function.invertible else n // samples | 1
    for _ in range(samples):
        for _ in range(apart):
            window.slide(next(values))
        slide_and_ask()  # FlatFIT's answers make shortcuts for those of the next slide
        done.append(slide_and_ask())
    return fmean(done[1:])


def operations_of(window: Technique, counting: Counting) -> int:
    """What a technique has done until now; SlickDeque counts the steps of its traversals apart."""
    steps: int = getattr(window, "steps", 0)
    return counting.operations + steps


COLUMNS: dict[str, Callable[[Counts], float | None]] = {
    "Operations per slide, one query, amortised": lambda c: c.amortised,
    "Operations per slide, one query, worst slide": lambda c: c.worst,
    "Operations per slide, queries of all ranges 1 … n": lambda c: c.multi,
    "Space, one query: partials, positions and pointers (mean)": lambda c: c.space,
}


def run(options: Options, console: Console, sizes: Sequence[int] = SIZES) -> list[Counts]:
    """Count, print, and write into the folder if one is given."""
    counts = []
    for n in sizes:
        with console.status(f"counting operations: n = {n:,}"):
            counts += [count_variant(variant, n) for variant in variants()]
    for column, (title, read) in enumerate(COLUMNS.items()):
        console.print(_table(title, column, read, counts))
    console.print("\ndocs/techniques.md says where the counts differ from the formulas, and why")
    drawn = {"techniques.png": partial(_draw, counts)}
    write_files(options.out, console, {"techniques.csv": counts}, drawn)
    return counts


def _table(
    title: str, column: int, read: Callable[[Counts], float | None], counts: list[Counts]
) -> Table:
    sizes = sorted({c.n for c in counts})
    shown = [n for n in sizes if n in SHOWN] or sizes
    rows = [
        (name, PAPER[name][column] or "not in it", *(_cell(read(c)) for c in own if c.n in shown))
        for name, own in group_by(counts, lambda c: c.title).items()
    ]
    names = (f"n = {n:,}" for n in shown)
    table = new_table(title, "<technique", "<Table 2", *names, rows=rows)
    table.columns[1].style = "dim"
    return table


def _cell(value: float | None) -> str | None:
    return None if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.5g}"


def _draw(counts: list[Counts], path: Path) -> None:
    with picture(path, (12, 8.5), 2, 2, legend=5, sharex=True) as axes:
        for axis, (title, read) in zip(axes, COLUMNS.items(), strict=True):
            for i, (name, own) in enumerate(group_by(counts, lambda c: c.title).items()):
                points = [(c.n, value) for c in own if (value := read(c))]
                label = f"SlickDeque (Non-Inv) {name}" if name.startswith("…") else name
                draw_line(axis, points, label, i, lw=1)
            axis.set(title=title, yscale="log")
            axis.set_xscale("log", base=2)
        for axis in axes[2:]:
            axis.set_xlabel("n, values in the window")

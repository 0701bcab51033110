"""techniques: nanoseconds a slide of every technique and bulk kernel, for sum and max of doubles.

Prints, for n = 16, 1,024, 16,384 and 1,048,576, the mean, the latency percentiles, the memory and
the multiple of one NumPy accumulate pass; writes techniques.csv, techniques_multi.csv and the
equivalents of Figures 11–14 of the multi-query paper as pictures. The techniques are plain Python
and pay for the interpreter at every operation: their figures compare with each other, the kernels'
with NumPy.
"""

from __future__ import annotations

import csv
from dataclasses import astuple, fields
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from lab.benchmarks.machine import machine
from lab.benchmarks.options import Options
from lab.benchmarks.technique_times import (
    AGGREGATES,
    Measured,
    slides_a_second,
    techniques_of,
    time_kernels,
    time_technique,
)
from muntin.errors import StrategyError, did_you_mean

SIZES = (16, 1024, 16_384, 1_048_576)
MULTI_SIZES = (4, 16, 64, 256, 1024)
SECONDS = 8.0
"""The longest that one technique of one size is timed; the mean of a whole cycle needs that."""


def bench_techniques(options: Options, console: Console) -> None:
    """Measure, print, and write into the data folder, by default ./results."""
    from lab.benchmarks.technique_figures import draw  # matplotlib is optional

    for name in options.sets:
        if name not in AGGREGATES:
            raise StrategyError(f"unknown set {name!r}: {did_you_mean(name, AGGREGATES)}")
    wanted = options.sets or tuple(AGGREGATES)
    folder = options.data or Path("results")
    folder.mkdir(parents=True, exist_ok=True)
    console.print(f"{machine()}, NumPy {np.__version__}")
    found: list[Measured] = []
    for aggregate in wanted:
        found += measure(aggregate, SIZES, options.rows, options.repeat, SECONDS, console)
        console.print(_table(aggregate, [m for m in found if m.aggregate == aggregate]))
    multi = measure_multi(MULTI_SIZES, 0.5, console)
    write(found, multi, folder)
    draw(found, multi, folder)
    console.print(f"written: {folder}/techniques.csv, techniques_multi.csv and four pictures")


def measure(
    aggregate: str,
    sizes: tuple[int, ...],
    rows: int,
    repeat: int,
    seconds: float,
    console: Console,
) -> list[Measured]:
    """All techniques and kernels for one aggregate."""
    function, found = AGGREGATES[aggregate][0], []
    for n in sizes:
        with console.status(f"{aggregate}, n = {n:,}: kernels"):
            length = rows if rows > 4 * n else 4 * n
            values = np.random.default_rng(2).random(length)
            unit, bulk = time_kernels(aggregate, n, values, repeat + 2)
            found += bulk
        each = values[: 2 * n + 65_536].tolist()  # every value its own object, as in a stream
        del values
        for name, make in techniques_of(function).items():
            with console.status(f"{aggregate}, n = {n:,}: {name}"):
                found.append(time_technique(name, make, aggregate, n, each, seconds, unit))
    return found


def measure_multi(
    sizes: tuple[int, ...], seconds: float, console: Console
) -> list[tuple[str, int, float]]:
    """Slides a second with queries of all ranges, for max (Figure 12)."""
    found = []
    for name, make in techniques_of(AGGREGATES["max"][0]).items():
        if make([1]).several_ranges:
            for n in sizes:
                with console.status(f"all ranges, n = {n:,}: {name}"):
                    found.append((name, n, slides_a_second(make, n, seconds)))
    return found


def _table(aggregate: str, found: list[Measured]) -> Table:
    table = Table(title=f"\n{aggregate} of doubles: nanoseconds a slide", title_justify="left")
    columns = ("n", "technique", "mean", "p50", "p99", "max", "bytes/value", "passes")
    for column in columns:
        table.add_column(column, justify="left" if column == "technique" else "right")
    for i, m in enumerate(found):
        times = [_nanoseconds(t) for t in (m.mean, m.p50, m.p99, m.highest)]
        held = m.bytes / (m.slides if m.what.startswith("kernel") else m.n)
        last = i + 1 == len(found) or found[i + 1].n != m.n
        table.add_row(
            f"{m.n:,}", m.what, *times, f"{held:.3g}", f"{m.passes:,.1f}", end_section=last
        )
    table.caption = (
        "passes: the mean as a multiple of one NumPy accumulate pass; "
        "kernels answer a whole array at once, so a slide has no latency of its own"
    )
    return table


def _nanoseconds(value: float) -> str:
    if value != value:
        return "—"
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def write(found: list[Measured], multi: list[tuple[str, int, float]], folder: Path) -> None:
    """Everything measured, as CSV."""
    with (folder / "techniques.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(f.name for f in fields(Measured))
        rows.writerows(astuple(m) for m in found)
    with (folder / "techniques_multi.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("what", "n", "slides_a_second"))
        rows.writerows(multi)

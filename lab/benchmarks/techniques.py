"""techniques: nanoseconds a slide of every technique and bulk kernel, for sum and max of doubles.

Prints, for n = 16, 1,024, 16,384 and 1,048,576, the mean, the latency percentiles, the memory and
the multiple of one NumPy accumulate pass; writes techniques.csv, techniques_multi.csv and the
equivalents of Figures 11–14 of the multi-query paper as pictures. The techniques are plain Python
and pay for the interpreter at every operation: their figures compare with each other, the kernels'
with NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from lab.benchmarks.technique_times import (
    AGGREGATES,
    Measured,
    Multi,
    slides_a_second,
    techniques_of,
    time_kernels,
    time_technique,
)
from lab.registry import Options
from lab.report import draw_line, group_by, new_table, picture, write_files
from lab.timing import machine

SIZES = (16, 1024, 16_384, 1_048_576)
MULTI_SIZES = (4, 16, 64, 256, 1024)
SECONDS = 8.0
"""The longest that one technique of one size is timed; the mean of a whole cycle needs that."""


def run(options: Options, console: Console) -> None:
    """Measure, print, and write into the data folder, by default ./results."""
    wanted = options.choose(AGGREGATES, "set")
    folder = options.data or Path("results")
    console.print(f"{machine()}, NumPy {np.__version__}")
    found: list[Measured] = []
    for aggregate in wanted:
        found += measure(aggregate, SIZES, options.rows, options.repeat, SECONDS, console)
        console.print(_table(aggregate, [m for m in found if m.aggregate == aggregate]))
    multi = measure_multi(MULTI_SIZES, 0.5, console)
    write(found, multi, folder, console)


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


def measure_multi(sizes: tuple[int, ...], seconds: float, console: Console) -> list[Multi]:
    """Slides a second with queries of all ranges, for max (Figure 12)."""
    found = []
    for name, make in techniques_of(AGGREGATES["max"][0]).items():
        if make([1]).several_ranges:
            for n in sizes:
                with console.status(f"all ranges, n = {n:,}: {name}"):
                    found.append(Multi(name, n, slides_a_second(make, n, seconds)))
    return found


def _table(aggregate: str, found: list[Measured]) -> Table:
    columns = ("n|,", "<technique", "mean", "p50", "p99", "max", "bytes/value|.3g", "passes|,.1f")
    rows = []
    for m in found:
        times = (_nanoseconds(t) for t in (m.mean, m.p50, m.p99, m.highest))
        held = m.bytes / (m.slides if m.what.startswith("kernel") else m.n)
        rows.append((m.n, m.what, *times, held, m.passes))
    title = f"{aggregate} of doubles: nanoseconds a slide"
    table = new_table(title, *columns, rows=rows, group=1)
    table.caption = (
        "passes: the mean as a multiple of one NumPy accumulate pass; "
        "kernels answer a whole array at once, so a slide has no latency of its own"
    )
    return table


def _nanoseconds(value: float | None) -> str | None:
    return None if value is None else f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def write(
    found: Sequence[Measured], multi: Sequence[Multi], folder: Path, console: Console
) -> None:
    """Everything measured as CSV, and Figures 11 to 14."""
    structures = [m for m in found if not m.what.startswith("kernel")]
    pace, memory = "Answers a second, one query", "Memory of one window, bytes"
    write_files(
        folder,
        console,
        {"techniques.csv": found, "techniques_multi.csv": multi},
        {
            "techniques_throughput.png": partial(_draw_lines, found, lambda m: 1e9 / m.mean, pace),
            "techniques_memory.png": partial(_draw_lines, structures, lambda m: m.bytes, memory),
            "techniques_multi.png": partial(_draw_multi, multi),
            "techniques_latency.png": partial(_draw_latency, structures),
        },
    )


def _draw_lines(
    found: Sequence[Measured], read: Callable[[Measured], float], title: str, path: Path
) -> None:
    """Figures 11 and 13: answers a second and bytes held, a panel for each aggregate."""
    panels = group_by(found, lambda m: m.aggregate)
    size = (6 * len(panels), 4.8)
    with picture(path, size, columns=len(panels), legend=5, sharey=True) as axes:
        numbers = {what: i for i, what in enumerate(dict.fromkeys(m.what for m in found))}
        for axis, (aggregate, mine) in zip(axes, panels.items(), strict=True):
            for what, own in group_by(mine, lambda m: m.what).items():
                width = 2.5 if what.startswith("kernel") else 1
                draw_line(axis, [(m.n, read(m)) for m in own], what, numbers[what], lw=width)
            axis.set_xscale("log", base=2)
            axis.set(yscale="log", xlabel="n, values in the window")
            axis.set_title(f"{title}: {aggregate} of doubles")


def _draw_multi(multi: Sequence[Multi], path: Path) -> None:
    """Figure 12: slides a second, a query for every range."""
    with picture(path, (7, 4.8)) as (axis,):
        for i, (what, own) in enumerate(group_by(multi, lambda m: m.what).items()):
            draw_line(axis, [(m.n, m.slides_a_second) for m in own], what, i, lw=1)
        axis.set_xscale("log", base=2)
        axis.set(yscale="log", xlabel="n, values in the window and queries (ranges 1 … n)")
        axis.set(ylabel="slides a second", title="Slides a second with queries of all ranges: max")
        axis.legend()


def _draw_latency(found: Sequence[Measured], path: Path) -> None:
    """Figure 14: boxes from the 25th to the 75th percentile, lines from lowest to highest."""
    n = sorted({m.n for m in found})[-2:][0]
    panels = group_by((m for m in found if m.n == n), lambda m: m.aggregate)
    size = (6 * len(panels), 4.8)
    with picture(path, size, columns=len(panels), grid="y", sharey=True) as axes:
        for axis, (aggregate, rows) in zip(axes, panels.items(), strict=True):
            boxes: list[Any] = [
                {"label": m.what, "whislo": m.lowest, "q1": m.p25, "med": m.p50, "q3": m.p75,
                 "whishi": m.highest, "fliers": []}
                for m in rows
            ]  # fmt: skip
            axis.bxp(boxes, showfliers=False)
            axis.plot(range(1, len(rows) + 1), [m.p99 or 0 for m in rows], "r_", ms=14, label="p99")
            axis.set_yscale("log")
            axis.tick_params(axis="x", rotation=40)
            axis.set_title(f"Latency of a slide: {aggregate} of doubles, n = {n:,}")
        axes[0].set_ylabel("nanoseconds")
        axes[-1].legend()

"""techniques: nanoseconds a slide of every technique and bulk kernel, for sum and max of doubles.

Prints, for n = 16, 1,024, 16,384 and 1,048,576, the mean, the latency percentiles, the memory and
the multiple of one NumPy accumulate pass; writes techniques.csv, techniques_multi.csv and the
equivalents of Figures 11–14 of the multi-query paper as pictures. The techniques are plain Python
and pay for the interpreter at every operation: their figures compare with each other, the kernels'
with NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from lab.benchmarks.technique_times import (
    AGGREGATES,
    Measured,
    slides_a_second,
    techniques_of,
    time_kernels,
    time_technique,
)
from lab.registry import Options
from lab.report import draw_line, new_table, picture, write_csv, write_records
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
    write(found, multi, folder)
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
    columns = ("n", "<technique", "mean", "p50", "p99", "max", "bytes/value", "passes")
    table = new_table(f"{aggregate} of doubles: nanoseconds a slide", *columns)
    for i, m in enumerate(found):
        times = [_nanoseconds(t) for t in (m.mean, m.p50, m.p99, m.highest)]
        held = m.bytes / (m.slides if m.what.startswith("kernel") else m.n)
        last = i + 1 == len(found) or found[i + 1].n != m.n
        cells = (*times, f"{held:.3g}", f"{m.passes:,.1f}")
        table.add_row(f"{m.n:,}", m.what, *cells, end_section=last)
    table.caption = (
        "passes: the mean as a multiple of one NumPy accumulate pass; "
        "kernels answer a whole array at once, so a slide has no latency of its own"
    )
    return table


def _nanoseconds(value: float) -> str:
    if value != value:
        return "—"
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def write(found: Sequence[Measured], multi: Sequence[tuple[str, int, float]], folder: Path) -> None:
    """Everything measured as CSV, and the pictures."""
    write_records(folder / "techniques.csv", found)
    write_csv(folder / "techniques_multi.csv", ("what", "n", "slides_a_second"), multi)
    structures = [m for m in found if not m.what.startswith("kernel")]
    path = folder / "techniques_throughput.png"
    title = "Answers a second, one query"
    _draw_lines(found, lambda m: 1e9 / m.mean, title, "answers a second", path)
    path = folder / "techniques_memory.png"
    _draw_lines(structures, lambda m: m.bytes, "Memory of one window", "bytes", path)
    _draw_multi(multi, folder / "techniques_multi.png")
    _draw_latency(structures, folder / "techniques_latency.png")


def _draw_lines(
    found: Sequence[Measured], read: Callable[[Measured], float], title: str, unit: str, path: Path
) -> None:
    """Figures 11 and 13: answers a second and bytes held, a panel for each aggregate."""
    panels = list(dict.fromkeys(m.aggregate for m in found))
    size = (6 * len(panels), 4.8)
    with picture(path, size, columns=len(panels), legend=5, sharey=True) as axes:
        for axis, aggregate in zip(axes, panels, strict=True):
            for i, what in enumerate(dict.fromkeys(m.what for m in found)):
                own = [m for m in found if (m.what, m.aggregate) == (what, aggregate)]
                width = 2.5 if what.startswith("kernel") else 1
                draw_line(axis, [(m.n, read(m)) for m in own], what, i, lw=width)
            axis.set_xscale("log", base=2)
            axis.set(yscale="log", xlabel="n, values in the window")
            axis.set_title(f"{title}: {aggregate} of doubles")
        axes[0].set_ylabel(unit)


def _draw_multi(multi: Sequence[tuple[str, int, float]], path: Path) -> None:
    """Figure 12: slides a second, a query for every range."""
    with picture(path, (7, 4.8)) as (axis,):
        for i, what in enumerate(dict.fromkeys(row[0] for row in multi)):
            draw_line(axis, [(n, rate) for name, n, rate in multi if name == what], what, i, lw=1)
        axis.set_xscale("log", base=2)
        axis.set(yscale="log", xlabel="n, values in the window and queries (ranges 1 … n)")
        axis.set(ylabel="slides a second", title="Slides a second with queries of all ranges: max")
        axis.legend(frameon=False)


def _draw_latency(found: Sequence[Measured], path: Path) -> None:
    """Figure 14: boxes from the 25th to the 75th percentile, lines from lowest to highest."""
    panels = list(dict.fromkeys(m.aggregate for m in found))
    n = sorted({m.n for m in found})[-2:][0]
    size = (6 * len(panels), 4.8)
    with picture(path, size, columns=len(panels), grid="y", sharey=True) as axes:
        for axis, aggregate in zip(axes, panels, strict=True):
            rows = [m for m in found if m.aggregate == aggregate and m.n == n]
            boxes = [
                {"label": m.what, "whislo": m.lowest, "q1": m.p25, "med": m.p50, "q3": m.p75,
                 "whishi": m.highest, "fliers": []}
                for m in rows
            ]  # fmt: skip
            axis.bxp(boxes, showfliers=False)
            axis.plot(range(1, len(rows) + 1), [m.p99 for m in rows], "r_", ms=14, label="p99")
            axis.set_yscale("log")
            axis.tick_params(axis="x", rotation=40)
            axis.set_title(f"Latency of a slide: {aggregate} of doubles, n = {n:,}")
        axes[0].set_ylabel("nanoseconds")
        axes[-1].legend(frameon=False)

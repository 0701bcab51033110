"""cutty: Figures 8 and 9 and Table 1 of the Cutty paper, counted and timed, with its claims.

Prints the reduce calls (split into update and merge), the partials kept and produced and the
throughput of every technique for 1 to 100 queries, periodic (Figure 8) and not (Figure 9), and
Table 1 beside counted values. Files: cutty.csv, cutty_table1.csv, cutty_8.png, cutty_9.png.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from lab.cutty.run import Counted, Row, count, naive, table_rows
from lab.cutty.workload import (
    SIZES,
    Stream,
    energies,
    periodic,
    periodic_queries,
    sensor_means,
    sessions,
)
from lab.registry import Options
from lab.report import Records, draw_line, group_by, new_table, picture, write_files

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RECORDS = 340_000
"""Twenty times the rows at hand; the widest window is 80,000 records."""

PARTS = ("periodic", "sessions", "table")
PERIODIC = ("Cutty", "Cutty lazy", "Cutty coalesced", "Pairs+", "Pairs", "RA")
NON_PERIODIC = ("Cutty", "Cutty coalesced", "RA")
LOOKS = {
    "Naive": ("0.5", "x"),
    "Cutty": ("C0", "o"),
    "Cutty lazy": ("C9", "o"),
    "Cutty coalesced": ("C4", "*"),
    "Pairs+": ("C1", "s"),
    "Pairs": ("C8", "s"),
    "RA": ("C3", "^"),
}
"""Colour and mark of each technique."""


def run(options: Options, console: Console, records: int = RECORDS) -> list[Counted]:
    """Count, print, and write into the folder if one is given."""
    parts, sizes, seed = options.choose(PARTS), SIZES[: options.sets], options.seed
    eight, nine = list[Counted](), list[Counted]()
    if {"periodic", "sessions"} & set(parts):
        values, said = energies(options.data, records, seed)
        console.print(f"{len(values):,} records: {said}; times are of one thread, plain Python")
    for size in sizes if "periodic" in parts else ():
        stream = periodic(values, periodic_queries(size, seed))
        eight += _count_all("8", PERIODIC, size, stream, console)
    for size in sizes if "sessions" in parts else ():
        nine += _count_all("9", NON_PERIODIC, size, sessions(values, size, seed), console)
    for title, found in (("8: periodic count windows", eight), ("9: sessions", nine)):
        if found:
            console.print(_count_table(f"Figure {title}", found))
            console.print("\n".join(claims(found)), markup=False, highlight=False)
    rows = table_rows() if "table" in parts else []
    if rows:
        console.print(_table_1(rows))
    tables: dict[str, Records] = {"cutty.csv": [*eight, *nine], "cutty_table1.csv": rows}
    drawn = {"cutty_8.png": (_draw_periodic, eight), "cutty_9.png": (_draw_sessions, nine)}
    write_files(
        options.out,
        console,
        {name: records for name, records in tables.items() if records},
        {name: partial(draw, found, seed) for name, (draw, found) in drawn.items() if found},
    )
    return [*eight, *nine]


def _count_all(
    figure: str, techniques: tuple[str, ...], size: int, stream: Stream, console: Console
) -> list[Counted]:
    found = [naive(figure, size, stream)]
    for technique in techniques:
        with console.status(f"Figure {figure}: {size} queries, {technique}"):
            found.append(count(figure, technique, size, stream))
    return found


def _count_table(title: str, found: list[Counted]) -> Table:
    numbers = ("reduce calls", "of these update", "merge", "most partials", "nodes", "produced")
    rows = (
        (c.queries, c.technique, c.calls, c.update, c.merge, c.most_partials, c.most_nodes,
         c.produced, c.records_a_second or None)
        for c in found if c.queries in (1, 10, 50, 100)
    )  # fmt: skip
    columns = (*(f"{name}|," for name in numbers), "records/s|,.0f")
    return new_table(title, "queries", "<technique", *columns, rows=rows, group=1)


def claims(found: list[Counted]) -> list[str]:
    """What the paper says of the largest workload, beside what was counted."""
    largest, least = max(c.queries for c in found), min(c.queries for c in found)
    by = {c.technique: c for c in found if c.queries == largest}
    cutty, ra, speed = by["Cutty"], by["RA"], by["Cutty"].records_a_second
    lines = [f"\nThe paper's claims, and {largest} queries here:"]
    if "Pairs+" in by:
        pairs, lazy = by["Pairs+"], by["Cutty lazy"]
        one = next(c for c in found if (c.technique, c.queries) == ("Cutty", least))
        lines += [
            f"  half the calls of Pairs+          {cutty.calls / pairs.calls:.2f} of them",
            f"    calls beyond one a record       {_beyond(cutty) / _beyond(pairs):.2f} of them",
            f"  half the partials of Pairs+       {cutty.produced / pairs.produced:.2f} of them",
            f"  eager: ten times fewer calls      {lazy.calls / cutty.calls:.1f} times",
            f"  twice the throughput of Pairs+    {speed / pairs.records_a_second:.2f} times",
            f"  5-6 times slower than 1 query     {one.records_a_second / speed:.1f} times",
        ]
    kept = ra.most_partials / cutty.most_partials
    return [
        *lines,
        f"  three orders below RA: calls      {ra.calls / cutty.calls:.1f} times fewer",
        f"    calls beyond one a record       {_beyond(ra) / _beyond(cutty):,.0f} times fewer",
        f"    partials kept                   {kept:,.0f} times fewer",
        f"    throughput                      {speed / ra.records_a_second:.1f} times",
    ]


def _beyond(counted: Counted) -> int:
    """Calls besides the one by which any technique folds a record."""
    return max(counted.calls - counted.records, 1)


def _table_1(rows: list[Row]) -> Table:
    columns = ("space", "counted", "update", "counted", "merge", "counted")
    cells = [(*each[:4], *map(_short, each[4:])) for each in map(astuple, rows)]
    title = "Table 1: the paper's formulas, and counted"
    names = ("<range|,", "<slide", "<technique", "<store", *columns)
    table = new_table(title, *names, rows=cells, group=2)
    for column in table.columns[4::2]:
        column.style = "dim"
    return table


def _short(number: float) -> str:
    return f"{number:,.0f}" if number == int(number) else f"{number:,.3g}"


def _draw_periodic(found: list[Counted], seed: int, path: Path) -> None:
    """Figure 8: the workload, calls, partials, throughput, and calls split in two."""
    queries = periodic_queries(100, seed)
    shown = ("Cutty", "Pairs+", "RA")
    with picture(path, (19, 8), 2, 4, legend=7, dpi=80) as axes:
        axes[0].scatter([q.slide for q in queries], [q.range for q in queries], s=9)
        axes[0].set(title="8a: the windows", xlabel="slide", ylabel="range")
        _lines(axes[1], found, lambda c: c.calls, "8b: reduce calls")
        _lines(axes[2], found, lambda c: c.most_nodes, "8c: partials kept (nodes)")
        fast = [c for c in found if c.technique in shown]
        _lines(axes[3], fast, lambda c: c.records_a_second, "8d: records a second")
        for axis, letter, technique in zip(axes[4:7], "efg", shown, strict=True):
            own = [c for c in found if c.technique == technique]
            x, update, merge = zip(*((c.queries, c.update, c.merge) for c in own), strict=True)
            bars = [axis.bar(x, update, width=6, color="C0")]
            bars.append(axis.bar(x, merge, width=6, color="C1", bottom=update))
            axis.legend(bars, ["update", "merge"], fontsize=8, frameon=True)
            axis.set(title=f"8{letter}: {technique}, reduce calls", xlabel="queries")
        sliced = [c for c in found if c.produced]
        _lines(axes[7], sliced, lambda c: c.produced, "8h: partials produced")


def _draw_sessions(found: list[Counted], seed: int, path: Path) -> None:
    """Figure 9: the sensors, throughput, partials, and calls."""
    means = sensor_means(seed)
    timed = [c for c in found if c.technique != "Naive"]
    with picture(path, (19, 4.4), columns=4, legend=7, dpi=80) as axes:
        axes[0].bar(range(1, len(means) + 1), [100 / m for m in means])
        axes[0].set(title="9a: changes of state a second", xlabel="sensor (made up)", yscale="log")
        _lines(axes[1], timed, lambda c: c.records_a_second, "9b: records a second")
        _lines(axes[2], timed, lambda c: c.most_nodes, "9c: partials kept (nodes)")
        fewer = [c for c in found if c.technique in ("Cutty", "RA")]
        title = "9d: reduce calls: update, and merge (dashed)"
        _lines(axes[3], fewer, lambda c: c.update, title)
        _lines(axes[3], fewer, lambda c: c.merge, title, "--")


def _lines(
    axis: Axes,
    found: Sequence[Counted],
    read: Callable[[Counted], float],
    title: str,
    style: str = "-",
) -> None:
    for technique, own in group_by(found, lambda c: c.technique).items():
        colour, mark = LOOKS[technique]
        points = [(c.queries, read(c)) for c in own]
        label = technique if style == "-" else ""  # one entry a technique in the legend
        look: dict[str, Any] = {"color": colour, "marker": mark, "ms": 4, "lw": 1}
        draw_line(axis, points, label, 0, linestyle=style, **look)
    axis.set(title=title, yscale="log", xlabel="queries")

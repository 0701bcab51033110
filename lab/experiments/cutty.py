"""cutty: Figures 8 and 9 and Table 1 of the Cutty paper, counted and timed, with its claims.

Prints the reduce calls (split into update and merge), the partials kept and produced and the
throughput of every technique for 1 to 100 queries, periodic (Figure 8) and not (Figure 9), and
Table 1 beside counted values; writes them as CSV and as pictures.
"""

from __future__ import annotations

import csv
from dataclasses import astuple, fields
from pathlib import Path

from rich.console import Console
from rich.table import Table

from lab.experiments.cutty_counts import Counted, count, naive
from lab.experiments.cutty_table import Row, table_rows
from lab.experiments.cutty_workload import (
    SIZES,
    energies,
    periodic,
    periodic_queries,
    sensor_means,
    sessions,
)
from lab.experiments.options import Options
from muntin.errors import StrategyError, did_you_mean

RECORDS = 340_000
"""Twenty times the rows at hand; the widest window is 80,000 records."""

PARTS = ("periodic", "sessions", "table")
PERIODIC = ("Cutty", "Cutty lazy", "Cutty coalesced", "Pairs+", "Pairs", "RA")
NON_PERIODIC = ("Cutty", "Cutty coalesced", "RA")


def run_cutty(options: Options, console: Console, records: int = RECORDS) -> list[Counted]:
    """Count, print, and write into the folder if one is given."""
    for part in options.parts:
        if part not in PARTS:
            raise StrategyError(f"unknown part {part!r}: {did_you_mean(part, PARTS)}")
    parts = options.parts or PARTS
    sizes = SIZES[: options.sets] if options.sets else SIZES
    found: list[Counted] = []
    rows: list[Row] = []
    if {"periodic", "sessions"} & set(parts):
        values, said = energies(options.data, records, options.seed)
        console.print(f"{len(values):,} records: {said}; times are of one thread, plain Python")
    if "periodic" in parts:
        found += _counted("8", PERIODIC, sizes, values, options.seed, console)
    if "sessions" in parts:
        found += _counted("9", NON_PERIODIC, sizes, values, options.seed, console)
    for figure in dict.fromkeys(c.figure for c in found):
        _print(figure, [c for c in found if c.figure == figure], console)
    if "table" in parts:
        rows = table_rows()
        console.print(_table_1(rows))
    if options.out is not None:
        write(found, rows, options.seed, options.out)
        console.print(f"\nwritten: {options.out}/cutty.csv, cutty_table1.csv and pictures")
    return found


def _counted(
    figure: str,
    techniques: tuple[str, ...],
    sizes: tuple[int, ...],
    values: list[float],
    seed: int,
    console: Console,
) -> list[Counted]:
    found = []
    for size in sizes:
        if figure == "8":
            stream = periodic(values, periodic_queries(size, seed))
        else:
            stream = sessions(values, size, seed)
        found.append(naive(figure, size, stream))
        for technique in techniques:
            with console.status(f"Figure {figure}: {size} queries, {technique}"):
                found.append(count(figure, technique, size, stream))
    return found


def _print(figure: str, found: list[Counted], console: Console) -> None:
    kind = "periodic count windows" if figure == "8" else "sessions"
    columns = ("reduce calls", "of these update", "merge", "most partials", "nodes", "produced")
    table = Table(title=f"\nFigure {figure}: {kind}", title_justify="left")
    for name in ("queries", "technique", *columns, "records/s"):
        table.add_column(name, justify="left" if name == "technique" else "right")
    shown = [c for c in found if c.queries in (1, 10, 50, 100)]
    for i, c in enumerate(shown):
        numbers = (c.calls, c.update, c.merge, c.most_partials, c.most_nodes, c.produced)
        speed = f"{c.records_a_second:,.0f}" if c.records_a_second else "—"
        last = i + 1 == len(shown) or shown[i + 1].queries != c.queries
        cells = (f"{c.queries}", c.technique, *(f"{n:,}" for n in numbers), speed)
        table.add_row(*cells, end_section=last)
    console.print(table)
    for line in claims(found):
        console.print(line, markup=False, highlight=False)


def claims(found: list[Counted]) -> list[str]:
    """What the paper says of the largest workload, beside what was counted."""
    largest = max(c.queries for c in found)
    by = {c.technique: c for c in found if c.queries == largest}
    one = {c.technique: c for c in found if c.queries == min(c.queries for c in found)}
    cutty, ra = by["Cutty"], by["RA"]
    lines = [f"\nThe paper's claims, and {largest} queries here:"]
    if "Pairs+" in by:
        pairs = by["Pairs+"]
        slower = one["Cutty"].records_a_second / cutty.records_a_second
        lines += [
            f"  half the calls of Pairs+          {cutty.calls / pairs.calls:.2f} of them",
            f"    calls beyond one a record       {_beyond(cutty) / _beyond(pairs):.2f} of them",
            f"  half the partials of Pairs+       {cutty.produced / pairs.produced:.2f} of them",
            f"  eager: ten times fewer calls      {by['Cutty lazy'].calls / cutty.calls:.1f} times",
            f"  twice the throughput of Pairs+    "
            f"{cutty.records_a_second / pairs.records_a_second:.2f} times",
            f"  5-6 times slower than 1 query     {slower:.1f} times",
        ]
    lines += [
        f"  three orders below RA: calls      {ra.calls / cutty.calls:.1f} times fewer",
        f"    calls beyond one a record       {_beyond(ra) / _beyond(cutty):,.0f} times fewer",
        f"    partials kept                   {ra.most_partials / cutty.most_partials:,.0f} times "
        "fewer",
        f"    throughput                      "
        f"{cutty.records_a_second / ra.records_a_second:.1f} times",
    ]
    return lines


def _beyond(counted: Counted) -> int:
    """Calls besides the one by which any technique folds a record."""
    return max(counted.calls - counted.records, 1)


def _table_1(rows: list[Row]) -> Table:
    table = Table(title="\nTable 1: the paper's formulas, and counted", title_justify="left")
    for name in ("range", "slide", "technique", "store"):
        table.add_column(name)
    for name in ("space", "counted", "update", "counted", "merge", "counted"):
        table.add_column(name, justify="right", style="dim" if name != "counted" else None)
    for row in rows:
        pairs = [
            (getattr(row.formula, name), getattr(row.counted, name))
            for name in ("space", "update", "merge")
        ]
        cells = [_number(value) for pair in pairs for value in pair]
        last = (row.technique, row.store) == ("RA", "eager")
        table.add_row(
            f"{row.range:,}", f"{row.slide}", row.technique, row.store, *cells, end_section=last
        )
    return table


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.3g}"


def write(found: list[Counted], rows: list[Row], seed: int, folder: Path) -> None:
    """Everything as CSV, and the pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    if found:
        from lab.experiments.cutty_pictures import draw_periodic, draw_sessions

        with (folder / "cutty.csv").open("w", newline="") as file:
            lines = csv.writer(file)
            lines.writerow([f.name for f in fields(Counted)])
            lines.writerows(astuple(c) for c in found)
        eight = [c for c in found if c.figure == "8"]
        nine = [c for c in found if c.figure == "9"]
        if eight:
            draw_periodic(eight, periodic_queries(100, seed), folder)
        if nine:
            draw_sessions(nine, sensor_means(seed), folder)
    if rows:
        with (folder / "cutty_table1.csv").open("w", newline="") as file:
            lines = csv.writer(file)
            lines.writerow(
                [
                    "range",
                    "slide",
                    "technique",
                    "store",
                    "space",
                    "space counted",
                    "update",
                    "update counted",
                    "merge",
                    "merge counted",
                ]
            )
            for r in rows:
                pairs = zip(astuple(r.formula), astuple(r.counted), strict=True)
                cells = [value for pair in pairs for value in pair]
                lines.writerow([r.range, r.slide, r.technique, r.store, *cells])

"""subsumption: Figures 10, 11 and 12 of the subsumption paper, and the fewest groups beside.

Parts: groups, memory, time. Files: subsumption_groups.csv, subsumption_memory.csv,
subsumption_time.csv, subsumption.png.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, fields
from pathlib import Path
from statistics import mean
from typing import Any

from rich.console import Console
from rich.table import Table

from lab.experiments.options import Options
from lab.experiments.subsumption_rows import (
    Grouping,
    Memory,
    Timing,
    groupings,
    memories,
    timings,
)
from lab.experiments.subsumption_workload import CLASSES, SIZES, traffic
from muntin.errors import StrategyError, did_you_mean

PARTS = ("groups", "memory", "time")
SETS = 10
RATES = (1_000, 10_000, 50_000, 100_000)
MEASURED = "medium"
"""The class of Figure 11."""


def run_subsumption(
    options: Options,
    console: Console,
    sizes: Sequence[int] = SIZES,
    rates: Sequence[int] = RATES,
) -> dict[str, list[Any]]:
    """Compute, print, and write into the folder if one is given."""
    parts = options.parts or PARTS
    for part in parts:
        if part not in PARTS:
            raise StrategyError(f"unknown part {part!r}: {did_you_mean(part, PARTS)}")
    stream = traffic(options.data, options.seed)
    console.print(f"tuples: {stream.origin}", highlight=False)
    found: dict[str, list[Any]] = {}
    if "groups" in parts:
        found["groups"] = list(groupings(sizes, options.sets or SETS, options.seed))
        console.print(_group_table(found["groups"]))
    if "memory" in parts:
        with console.status("feeding stairs"):
            found["memory"] = list(memories(MEASURED, sizes, stream, options.seed))
        console.print(_memory_table(found["memory"]))
    if "time" in parts:
        with console.status("timing"):
            found["time"] = list(timings(max(sizes), rates, stream, options.seed))
        console.print(_time_table(found["time"]))
    if options.out is not None:
        write(options.out, found)
        console.print(f"written to {options.out}: subsumption_*.csv and subsumption.png")
    return found


def _table(title: str, columns: Iterable[str]) -> Table:
    first, *others = columns
    table = Table(title=f"\n{title}", title_justify="left")
    table.add_column(first)
    for column in others:
        table.add_column(column, justify="right")
    return table


def _group_table(rows: Sequence[Grouping]) -> Table:
    columns = ["class", "windows", "distinct", "with state", "greedy", "fewest", "one by one"]
    columns += ["starts aligned", "greedy, ms", "fewest, ms", "one by one, ms"]
    table = _table("Figure 10: groups, means over sets", columns)
    for kind in CLASSES:
        mine = [r for r in rows if r.kind == kind]
        for size in dict.fromkeys(r.windows for r in mine):
            here = [r for r in mine if r.windows == size]
            table.add_row(kind, f"{size:,}", *_cells(here))
        table.add_section()
    return table


def _cells(rows: Sequence[Grouping]) -> list[str]:
    def means(read: Callable[[Grouping], float]) -> float:
        return mean(map(read, rows))

    counts = [means(lambda r: r.distinct), means(lambda r: r.materialised)]
    groups = [means(lambda r: r.greedy), means(lambda r: r.fewest), means(lambda r: r.registered)]
    groups.append(means(lambda r: r.starts_aligned))
    seconds = [means(lambda r: r.greedy_seconds), means(lambda r: r.fewest_seconds)]
    seconds.append(means(lambda r: r.registered_seconds))
    return [
        *(f"{n:,.0f}" for n in counts),
        *(f"{n:.1f}" for n in groups),
        *(f"{1_000 * s:.0f}" for s in seconds),
    ]


def _memory_table(rows: Sequence[Memory]) -> Table:
    columns = ["windows", "groups", "stairs", "of it in buffers", "widest windows alone"]
    columns += ["distinct windows apart", "all windows apart", "saved"]
    table = _table(f"Figure 11: tuples held, class {MEASURED}, mean over timestamps", columns)
    for row in rows:
        held = (row.shared, row.buffered, row.widest, row.distinct_apart, row.apart)
        saved = f"{row.apart / row.shared:,.0f}×"
        table.add_row(f"{row.windows:,}", str(row.groups), *(f"{n:,.0f}" for n in held), saved)
    return table


def _time_table(rows: Sequence[Timing]) -> Table:
    columns = ["class", "tuples/s", "answers", "shared, ms", "tuple by tuple, ms"]
    columns += ["distinct apart, ms", "all apart, ms", "× distinct", "× all"]
    size = rows[0].windows
    table = _table(f"Figure 12: SUM over {size:,} windows, a timestamp (paper: up to 2 s)", columns)
    for row in rows:
        times = (row.shared, row.one_by_one, row.distinct_apart, row.apart)
        factors = (row.distinct_apart / row.shared, row.apart / row.shared)
        table.add_row(
            row.kind,
            f"{row.rate:,}",
            f"{row.answers:,.0f}",
            *(f"{1_000 * s:,.1f}" for s in times),
            *(f"{factor:,.0f}×" for factor in factors),
        )
    return table


def write(folder: Path, found: dict[str, list[Any]]) -> None:
    """All figures as CSV, and a picture if all parts have run."""
    folder.mkdir(parents=True, exist_ok=True)
    for part, rows in found.items():
        with (folder / f"subsumption_{part}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(field.name for field in fields(rows[0]))
            writer.writerows(astuple(row) for row in rows)
    if len(found) == len(PARTS):
        from lab.experiments.subsumption_pictures import draw

        draw(found["groups"], found["memory"], found["time"], folder)

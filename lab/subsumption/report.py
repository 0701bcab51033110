"""subsumption: Figures 10, 11 and 12 of the subsumption paper, and the fewest groups beside.

Parts: groups, memory, time. Files: subsumption_groups.csv, subsumption_memory.csv,
subsumption_time.csv, subsumption.png.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from functools import partial
from pathlib import Path
from statistics import mean

from rich.console import Console
from rich.table import Table

from lab.registry import Options
from lab.report import RED, group_by, new_table, picture, write_files
from lab.subsumption.run import (
    SIZES,
    Grouping,
    Memory,
    Timing,
    groupings,
    memories,
    timings,
    traffic,
)

PARTS = ("groups", "memory", "time")
SETS = 10
RATES = (1_000, 10_000, 50_000, 100_000)
MEASURED = "medium"
"""The class of Figure 11."""
COLOURS = {"smooth": "#3178c6", "medium": "#c98a00", "abrupt": "#3a8f4a"}


@dataclass(slots=True)
class Found:
    """The rows of each part that has run."""

    groups: list[Grouping] = field(default_factory=list)
    memory: list[Memory] = field(default_factory=list)
    time: list[Timing] = field(default_factory=list)


def run(
    options: Options,
    console: Console,
    sizes: Sequence[int] = SIZES,
    rates: Sequence[int] = RATES,
) -> Found:
    """Compute, print, and write into the folder if one is given."""
    parts, found = options.choose(PARTS), Found()
    stream = traffic(options.data, options.seed)
    console.print(f"tuples: {stream.origin}", highlight=False)
    if "groups" in parts:
        found.groups += groupings(sizes, options.sets or SETS, options.seed)
        console.print(_group_table(found.groups))
    if "memory" in parts:
        with console.status("feeding stairs"):
            found.memory += memories(MEASURED, sizes, stream, options.seed)
        console.print(_memory_table(found.memory))
    if "time" in parts:
        with console.status("timing"):
            found.time += timings(max(sizes), rates, stream, options.seed)
        console.print(_time_table(found.time))
    tables = {f"subsumption_{part}.csv": getattr(found, part) for part in parts}
    drawn = {"subsumption.png": partial(_draw, found)} if set(parts) == set(PARTS) else {}
    write_files(options.out, console, tables, drawn)
    return found


def _group_table(rows: Sequence[Grouping]) -> Table:
    counts = ("distinct", "materialised", "greedy", "fewest", "registered", "starts_aligned")
    times = ("greedy_seconds", "fewest_seconds", "registered_seconds")
    means = []
    for kind, here in group_by(rows, lambda r: (r.kind, r.windows)).items():
        cells = [mean(getattr(r, name) for r in here) for name in counts]
        cells += [1_000 * mean(getattr(r, name) for r in here) for name in times]
        means.append((*kind, *cells))
    return new_table(
        "Figure 10: groups, means over sets",
        *("<class", "windows|,", "distinct|,.0f", "with state|,.0f", "greedy|.1f", "fewest|.1f"),
        *("one by one|.1f", "starts aligned|.1f"),
        *("greedy, ms|.0f", "fewest, ms|.0f", "one by one, ms|.0f"),
        rows=means,
        group=1,
    )


def _memory_table(rows: Sequence[Memory]) -> Table:
    return new_table(
        f"Figure 11: tuples held, class {MEASURED}, mean over timestamps",
        *("<windows|,", "groups", "stairs|,.0f", "of it in buffers|,.0f"),
        *("widest windows alone|,.0f", "distinct windows apart|,.0f", "all windows apart|,.0f"),
        "saved",
        rows=((*astuple(row), f"{row.apart / row.shared:,.0f}×") for row in rows),
    )


def _time_table(rows: Sequence[Timing]) -> Table:
    cells = []
    for row in rows:
        times = (row.shared, row.one_by_one, row.distinct_apart, row.apart)
        factors = (f"{apart / row.shared:,.0f}×" for apart in (row.distinct_apart, row.apart))
        cells.append((row.kind, row.rate, row.answers, *(1_000 * s for s in times), *factors))
    return new_table(
        f"Figure 12: SUM over {rows[0].windows:,} windows, a timestamp (paper: up to 2 s)",
        *("<class", "tuples/s|,", "answers|,.0f", "shared, ms|,.1f", "tuple by tuple, ms|,.1f"),
        *("distinct apart, ms|,.1f", "all apart, ms|,.1f", "× distinct", "× all"),
        rows=cells,
    )


def _draw(found: Found, path: Path) -> None:
    """Groups, tuples held, and seconds, side by side."""
    with picture(path, (14, 4.2), columns=3, dpi=100) as (groups, memory, time):
        for kind, colour in COLOURS.items():
            own = [r for r in found.groups if r.kind == kind]
            sizes = list(dict.fromkeys(r.windows for r in own))
            for name, style in (("greedy", "-o"), ("fewest", "--s")):
                counts = [mean(getattr(r, name) for r in own if r.windows == s) for s in sizes]
                groups.plot(sizes, counts, style, color=colour, ms=4, label=f"{kind}, {name}")
            timed = [r for r in found.time if r.kind == kind]
            for name, style in (("apart", ":^"), ("one_by_one", "--s"), ("shared", "-o")):
                label = f"{kind}, {name.replace('_', ' ')}"
                seconds = [getattr(r, name) for r in timed]
                time.plot([r.rate for r in timed], seconds, style, color=colour, ms=4, label=label)
        for name, label, style, width in (
            ("apart", "all windows apart", "-o", 1.5),
            ("distinct_apart", "distinct windows apart", "-o", 1.5),
            ("widest", "the widest window of each group", "-", 6),
            ("shared", "stairs", "-o", 1.5),
        ):
            sizes, alpha = [r.windows for r in found.memory], 0.4 if width > 2 else 1
            held = [getattr(r, name) for r in found.memory]
            memory.plot(sizes, held, style, ms=4, lw=width, alpha=alpha, label=label)
        time.axhline(2, color=RED, lw=1, label="the paper's upper bound")
        groups.set(title="Figure 10: groups", xlabel="windows", ylim=(0, None))
        memory.set(title=f"Figure 11: tuples held, class {MEASURED}", xlabel="windows")
        memory.set(yscale="log")
        time.set(title=f"Figure 12: seconds, SUM over {found.time[0].windows:,} windows")
        time.set(xlabel="tuples a second", xscale="log", yscale="log")
        time.set(ylim=(None, 200))  # room for the legend
        for axis in (groups, memory, time):
            axis.legend(fontsize=8, ncols=2 if axis is time else 1)

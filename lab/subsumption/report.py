"""subsumption: Figures 10, 11 and 12 of the subsumption paper, and the fewest groups beside.

Parts: groups, memory, time. Files: subsumption_groups.csv, subsumption_memory.csv,
subsumption_time.csv, subsumption.png.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean

from rich.console import Console
from rich.table import Table

from lab.registry import Options
from lab.report import RED, group_by, new_table, picture, write_records
from lab.subsumption.run import Grouping, Memory, Timing, groupings, memories, timings
from lab.subsumption.workload import SIZES, traffic

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
    if options.out is not None:
        for part in parts:
            write_records(options.out / f"subsumption_{part}.csv", getattr(found, part))
        if set(parts) == set(PARTS):
            _draw(found, options.out / "subsumption.png")
        console.print(f"written to {options.out}: subsumption_*.csv and subsumption.png")
    return found


def _group_table(rows: Sequence[Grouping]) -> Table:
    table = new_table(
        "Figure 10: groups, means over sets",
        *("<class", "windows", "distinct", "with state", "greedy", "fewest", "one by one"),
        *("starts aligned", "greedy, ms", "fewest, ms", "one by one, ms"),
    )
    formats = {
        **dict.fromkeys(("distinct", "materialised"), (1, ",.0f")),
        **dict.fromkeys(("greedy", "fewest", "registered", "starts_aligned"), (1, ".1f")),
        **dict.fromkeys(("greedy_seconds", "fewest_seconds", "registered_seconds"), (1_000, ".0f")),
    }
    for kind, mine in group_by(rows, lambda r: r.kind).items():
        for size, here in group_by(mine, lambda r: r.windows).items():
            cells = (
                f"{unit * mean(getattr(r, name) for r in here):{digits}}"
                for name, (unit, digits) in formats.items()
            )
            table.add_row(kind, f"{size:,}", *cells)
        table.add_section()
    return table


def _memory_table(rows: Sequence[Memory]) -> Table:
    table = new_table(
        f"Figure 11: tuples held, class {MEASURED}, mean over timestamps",
        *("<windows", "groups", "stairs", "of it in buffers", "widest windows alone"),
        *("distinct windows apart", "all windows apart", "saved"),
    )
    for row in rows:
        held = (row.shared, row.buffered, row.widest, row.distinct_apart, row.apart)
        saved = f"{row.apart / row.shared:,.0f}×"
        table.add_row(f"{row.windows:,}", str(row.groups), *(f"{n:,.0f}" for n in held), saved)
    return table


def _time_table(rows: Sequence[Timing]) -> Table:
    table = new_table(
        f"Figure 12: SUM over {rows[0].windows:,} windows, a timestamp (paper: up to 2 s)",
        *("<class", "tuples/s", "answers", "shared, ms", "tuple by tuple, ms"),
        *("distinct apart, ms", "all apart, ms", "× distinct", "× all"),
    )
    for row in rows:
        times = (row.shared, row.one_by_one, row.distinct_apart, row.apart)
        factors = (row.distinct_apart / row.shared, row.apart / row.shared)
        cells = [f"{1_000 * s:,.1f}" for s in times] + [f"{factor:,.0f}×" for factor in factors]
        table.add_row(row.kind, f"{row.rate:,}", f"{row.answers:,.0f}", *cells)
    return table


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
        groups.set(xlabel="windows", ylabel="groups", ylim=(0, None))
        memory.set(xlabel="windows", ylabel="tuples held", yscale="log")
        time.set(xlabel="tuples a second", ylabel="seconds a timestamp", xscale="log")
        time.set(yscale="log", ylim=(None, 200))  # room for the legend
        groups.set_title("Figure 10: groups", fontsize=10)
        memory.set_title(f"Figure 11: memory, class {MEASURED}", fontsize=10)
        time.set_title(f"Figure 12: SUM over {found.time[0].windows:,} windows", fontsize=10)
        for axis in (groups, memory, time):
            axis.legend(frameon=False, fontsize=8, ncols=2 if axis is time else 1)

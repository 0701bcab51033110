"""weave: experiments 1 to 5 and Figure 16 of the multi-query paper, Theorem 1 of the bound paper.

Prints plan costs of both optimizers for all techniques, the average number of trees, the time to
plan up to a million queries, and how near the plans come to the best division into trees; the
papers' claims stand beside. Files: weave_runs.csv, weave_scaling.csv, weave_savings.csv,
weave_gaps.csv, weave_16.png, weave_17_21.png, weave_guarantee.png.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import astuple, fields
from pathlib import Path
from statistics import mean
from typing import Any

from rich.console import Console
from rich.table import Table

from lab.experiments.options import Options
from lab.experiments.weave_guarantee import Gap, Savings, gaps, savings
from lab.experiments.weave_runs import (
    OPTIMIZERS,
    PAPER_TREES,
    SWEEPS,
    TECHNIQUES,
    Run,
    runs,
)
from lab.experiments.weave_scaling import SIZES, Timing, timings
from lab.experiments.weave_weavability import Weave, weaves

PAPER_SETS = 10
SAVINGS, GAPS = 50, 10
"""Sets held against the optimum for each set of the experiments."""
SLICK = ("SlickDeque (Inv)", "SlickDeque (Non-Inv)")


def run_weave(options: Options, console: Console, sizes: tuple[int, ...] = SIZES) -> list[Run]:
    """Compute, print, and write into the folder if one is given."""
    sets = options.sets or PAPER_SETS
    with console.status("experiments 1 to 5"):
        costs = list(runs(sets, options.seed))
    for optimizer in OPTIMIZERS:
        console.print(_cost_table(optimizer, [r for r in costs if r.optimizer == optimizer]))
    console.print(_factor_table(costs))
    console.print(_tree_table(costs))
    console.print(_beside(costs), highlight=False)
    console.print(_weavability_table(list(weaves(sets, options.seed))))
    with console.status("savings and gaps against the optimum"):
        saved = list(savings(SAVINGS * sets, options.seed))
        gap = list(gaps(GAPS * sets, options.seed))
    _print_guarantee(saved, gap, console)
    with console.status("planning up to a million queries"):
        times = list(timings(options.seed, sizes))
    console.print(_time_table(times))
    if options.out is not None:
        write(options.out, costs, times, saved, gap)
        console.print(f"written to {options.out}: weave_*.csv and weave_*.png")
    return costs


def _table(title: str, columns: Iterable[str]) -> Table:
    first, *others = columns
    table = Table(title=f"\n{title}", title_justify="left")
    table.add_column(first)
    for column in others:
        table.add_column(column, justify="right")
    return table


def _cost_table(optimizer: str, costs: Sequence[Run]) -> Table:
    short = [title.replace("Deque", "") for title in TECHNIQUES]
    table = _table(f"{optimizer}: mean plan cost", ["", "value", *short])
    for sweep in SWEEPS:
        for value in sweep.values:
            here = [r for r in costs if r.experiment == sweep.number and r.value == value]
            cells = [mean(r.cost for r in here if r.technique == t) for t in TECHNIQUES]
            name = f"{sweep.number}: {sweep.parameter}" if value == sweep.values[0] else ""
            table.add_row(name, f"{value:,g}", *(f"{cost:,.4g}" for cost in cells))
        table.add_section()
    return table


def factors(costs: Sequence[Run], experiment: int) -> tuple[float, float]:
    """How many times Panes costs what the better SlickDeque does: the most of the means, of all."""
    keys = {(r.optimizer, r.value) for r in costs if r.experiment == experiment}
    means, singles = [], []
    for optimizer, value in keys:
        here = [
            r
            for r in costs
            if (r.experiment, r.optimizer, r.value) == (experiment, optimizer, value)
        ]
        panes = {r.set: r.cost for r in here if r.technique == "Panes"}
        slick = {s: min(r.cost for r in here if r.set == s and r.technique in SLICK) for s in panes}
        means.append(mean(panes.values()) / mean(slick.values()))
        singles += [panes[s] / slick[s] for s in panes]
    return max(means), max(singles)


def _factor_table(costs: Sequence[Run]) -> Table:
    columns = ["experiment", "the paper's claim", "ours, means", "ours, best set"]
    table = _table("SlickDeque against Panes: how many times cheaper at most", columns)
    for sweep in SWEEPS:
        ours = (f"{factor:,.0f}×" for factor in factors(costs, sweep.number))
        name = f"{sweep.number}: {sweep.parameter}"
        table.add_row(name, f"{sweep.claim:,.0f}×", *ours)
    return table


def _tree_table(costs: Sequence[Run]) -> Table:
    middle = [(1, 100.0)]
    columns = ["technique", "paper", *OPTIMIZERS, *(f"{o}, Q = 100" for o in OPTIMIZERS)]
    table = _table("Average number of trees over all runs", columns)
    for technique in TECHNIQUES:
        mine = [r for r in costs if r.technique == technique]
        every = [mean(r.trees for r in mine if r.optimizer == o) for o in OPTIMIZERS]
        there = [r for r in mine if (r.experiment, r.value) in middle]
        every += [mean(r.trees for r in there if r.optimizer == o) for o in OPTIMIZERS]
        table.add_row(technique, f"{PAPER_TREES[technique]}", *(f"{n:.1f}" for n in every))
    return table


def _weavability_table(found: Sequence[Weave]) -> Table:
    columns = ["trees of", "trees of several slides", "slides in one", "mean weavability"]
    table = _table("Weavability: common edges over all edges, WeaveShare, Q = 100", columns)
    for title in dict.fromkeys(w.technique for w in found):
        mine = [w for w in found if w.technique == title]
        figures = (mean(w.slides for w in mine), mean(w.weavability for w in mine))
        table.add_row(title, f"{len(mine)}", *(f"{figure:.2f}" for figure in figures))
    return table


def _beside(costs: Sequence[Run]) -> str:
    keyed = {(r.experiment, r.value, r.set, r.technique, r.optimizer): r.cost for r in costs}
    pairs = [(c, keyed[*k[:4], "TriWeave"]) for k, c in keyed.items() if k[4] == "WeaveShare"]
    changes = [tri / weave - 1 for weave, tri in pairs]
    near = mean(abs(change) <= 0.05 for change in changes)
    return (
        f"TriWeave's cost against WeaveShare's: {mean(changes):+.1%} on average, within 5 % in "
        f"{near:.0%} of the runs (paper: within 5 %)"
    )


def _print_guarantee(saved: Sequence[Savings], gap: Sequence[Gap], console: Console) -> None:
    within = [s for s in saved if s.within]
    ratios = [s.ratio for s in within]
    worst = min(within, key=lambda s: s.ratio)
    console.print(
        f"\nTheorem 1 over {len(saved)} tumbling sets, of which {len(within)} meet all three "
        f"conditions:\n  savings / savings of the optimum: worst {min(ratios):.3f} (guaranteed "
        f"0.25; slides {worst.slides} at λ = {worst.rate:.3g}), mean {mean(ratios):.4f}, "
        f"optimal in {mean(r > 1 - 1e-9 for r in ratios):.0%}",
        highlight=False,
    )
    columns = ["technique", "weave-share mean", "worst", "weave-plus mean", "worst", "optimal"]
    table = _table("Gap to the best division into trees, eight windows of all kinds", columns)
    for title in (*TECHNIQUES, "all"):
        mine = [g for g in gap if title in (g.technique, "all")]
        greedy, plus = ([g_ / g.best - 1 for g, g_ in pairs] for pairs in _costs_of(mine))
        cells = [mean(greedy), max(greedy), mean(plus), max(plus)]
        exact = mean(x < 1e-9 for x in plus)
        table.add_row(title, *(f"{x:.3%}" for x in cells), f"{exact:.0%}")
    console.print(table)


def _costs_of(gap: Sequence[Gap]) -> tuple[list[tuple[Gap, float]], list[tuple[Gap, float]]]:
    return [(g, g.weave_share) for g in gap], [(g, g.weave_plus) for g in gap]


def _time_table(times: Sequence[Timing]) -> Table:
    ways = list(dict.fromkeys(t.way for t in times))
    columns = ["queries", *(f"{way}, s" for way in ways), "trees"]
    table = _table("WeaveShare: seconds to plan", columns)
    for size in dict.fromkeys(t.queries for t in times):
        here = {t.way: t for t in times if t.queries == size}
        cells = [f"{here[way].seconds:.2f}" if way in here else "—" for way in ways]
        table.add_row(f"{size:,}", *cells, "/".join(sorted({str(t.trees) for t in here.values()})))
    return table


def write(
    folder: Path,
    costs: list[Run],
    times: list[Timing],
    saved: list[Savings],
    gap: list[Gap],
) -> None:
    """All figures as CSV, and the pictures."""
    from lab.experiments.weave_pictures import draw_guarantee, draw_scaling, draw_sweeps

    folder.mkdir(parents=True, exist_ok=True)
    _csv(folder / "weave_runs.csv", costs)
    _csv(folder / "weave_scaling.csv", times)
    _csv(folder / "weave_savings.csv", saved)
    _csv(folder / "weave_gaps.csv", gap)
    draw_sweeps(costs, folder)
    draw_scaling(times, folder)
    draw_guarantee(saved, folder)


def _csv(path: Path, rows: Sequence[Any]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(field.name for field in fields(rows[0]))
        writer.writerows(astuple(row) for row in rows)

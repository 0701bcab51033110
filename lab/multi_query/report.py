"""weave: experiments 1 to 5 and Figure 16 of the multi-query paper, Theorem 1 of the bound paper.

Prints plan costs of both optimizers for all techniques, the average number of trees, the time to
plan up to a million queries, and how near the plans come to the best division into trees; the
papers' claims stand beside. Files: weave_runs.csv, weave_scaling.csv, weave_savings.csv,
weave_gaps.csv, weave_16.png, weave_17_21.png, weave_guarantee.png.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import mean

from rich.console import Console
from rich.table import Table

from lab.multi_query.run import (
    OPTIMIZERS,
    SIZES,
    SWEEPS,
    TECHNIQUES,
    WAYS,
    Run,
    Timing,
    Weave,
    runs,
    timings,
    weaves,
)
from lab.registry import Options
from lab.report import BLUE, RED, draw_line, group_by, new_table, picture, write_files
from lab.weave_bound import Gap, Savings, gaps, savings

PAPER_SETS = 10
SAVINGS, GAPS = 50, 10
"""Sets held against the optimum for each set of the experiments."""
SLICK = ("SlickDeque (Inv)", "SlickDeque (Non-Inv)")
PAPER_TREES = {"Panes": 16.0, "FlatFAT": 15.7, "FlatFIT": 10.3} | dict.fromkeys(SLICK, 4.8)
"""Average number of trees (section 5.2); the paper has one number for both SlickDeques."""


def run(options: Options, console: Console, sizes: tuple[int, ...] = SIZES) -> list[Run]:
    """Compute, print, and write into the folder if one is given."""
    sets = options.sets or PAPER_SETS
    with console.status("experiments 1 to 5"):
        costs = list(runs(sets, options.seed))
    for optimizer, mine in group_by(costs, lambda r: r.optimizer).items():
        console.print(_cost_table(optimizer, mine))
    console.print(_factor_table(costs))
    console.print(_tree_table(costs))
    console.print(_optimizers_compared(costs), highlight=False)
    console.print(_weavability_table(list(weaves(sets, options.seed))))
    with console.status("savings and gaps against the optimum"):
        saved = list(savings(SAVINGS * sets, options.seed))
        gap = list(gaps(GAPS * sets, options.seed))
    console.print(_theorem_1(saved), highlight=False)
    console.print(_gap_table(gap))
    with console.status("planning up to a million queries"):
        times = list(timings(options.seed, sizes))
    console.print(_time_table(times))
    write_files(
        options.out,
        console,
        {
            "weave_runs.csv": costs,
            "weave_scaling.csv": times,
            "weave_savings.csv": saved,
            "weave_gaps.csv": gap,
        },
        {
            "weave_17_21.png": partial(_draw_sweeps, costs),
            "weave_16.png": partial(_draw_scaling, times),
            "weave_guarantee.png": partial(_draw_guarantee, saved),
        },
    )
    return costs


def _cost_table(optimizer: str, costs: Sequence[Run]) -> Table:
    short = [title.replace("Deque", "") for title in TECHNIQUES]
    columns = (f"{title}|,.4g" for title in short)
    rows = []
    for sweep in SWEEPS:
        for value in sweep.values:
            here = [r for r in costs if (r.experiment, r.value) == (sweep.number, value)]
            cells = (mean(r.cost for r in here if r.technique == t) for t in TECHNIQUES)
            rows.append((sweep.title, value, *cells))
    title = f"{optimizer}: mean plan cost"
    return new_table(title, "<", "value|,g", *columns, rows=rows, group=1)


def factors(costs: Sequence[Run], experiment: int) -> tuple[float, float]:
    """How many times Panes costs what the better SlickDeque does: the most of the means, of all."""
    mine = [r for r in costs if r.experiment == experiment]
    means, singles = [], []
    for here in group_by(mine, lambda r: (r.optimizer, r.value)).values():
        panes = {r.set: r.cost for r in here if r.technique == "Panes"}
        slick = {s: min(r.cost for r in here if r.set == s and r.technique in SLICK) for s in panes}
        means.append(mean(panes.values()) / mean(slick.values()))
        singles += [panes[s] / slick[s] for s in panes]
    return max(means), max(singles)


def _factor_table(costs: Sequence[Run]) -> Table:
    title = "SlickDeque against Panes: how many times cheaper at most"
    columns = ("<experiment", "the paper's claim", "ours, means", "ours, best set")
    rows = []
    for sweep in SWEEPS:
        times = (sweep.claim, *factors(costs, sweep.number))
        rows.append((sweep.title, *(f"{n:,.0f}×" for n in times)))
    return new_table(title, *columns, rows=rows)


def _tree_table(costs: Sequence[Run]) -> Table:
    shown = (*(f"{o}|.1f" for o in OPTIMIZERS), *(f"{o}, Q = 100|.1f" for o in OPTIMIZERS))
    rows = []
    for technique in TECHNIQUES:
        mine = [r for r in costs if r.technique == technique]
        middle = [r for r in mine if (r.experiment, r.value) == (1, 100.0)]
        trees = [
            mean(r.trees for r in some if r.optimizer == optimizer)
            for some in (mine, middle)
            for optimizer in OPTIMIZERS
        ]
        rows.append((technique, PAPER_TREES[technique], *trees))
    title = "Average number of trees over all runs"
    return new_table(title, "<technique", "paper", *shown, rows=rows)


def _weavability_table(found: Sequence[Weave]) -> Table:
    title = "Weavability: common edges over all edges, WeaveShare, Q = 100"
    columns = ("trees of several slides", "slides in one|.2f", "mean weavability|.2f")
    rows = (
        (technique, len(mine), mean(w.slides for w in mine), mean(w.weavability for w in mine))
        for technique, mine in group_by(found, lambda w: w.technique).items()
    )
    return new_table(title, "<trees of", *columns, rows=rows)


def _optimizers_compared(costs: Sequence[Run]) -> str:
    keyed = {(r.experiment, r.value, r.set, r.technique, r.optimizer): r.cost for r in costs}
    pairs = [(c, keyed[*k[:4], "TriWeave"]) for k, c in keyed.items() if k[4] == "WeaveShare"]
    changes = [tri / weave - 1 for weave, tri in pairs]
    near = mean(abs(change) <= 0.05 for change in changes)
    return (
        f"TriWeave's cost against WeaveShare's: {mean(changes):+.1%} on average, within 5 % in "
        f"{near:.0%} of the runs (paper: within 5 %)"
    )


def _theorem_1(saved: Sequence[Savings]) -> str:
    within = [s for s in saved if s.within]
    ratios = [s.ratio for s in within]
    worst = min(within, key=lambda s: s.ratio)
    return (
        f"\nTheorem 1 over {len(saved)} tumbling sets, of which {len(within)} meet all three "
        f"conditions:\n  savings / savings of the optimum: worst {min(ratios):.3f} (guaranteed "
        f"0.25; slides {worst.slides} at λ = {worst.rate:.3g}), mean {mean(ratios):.4f}, "
        f"optimal in {mean(r > 1 - 1e-9 for r in ratios):.0%}"
    )


def _gap_table(gap: Sequence[Gap]) -> Table:
    title = "Gap to the best division into trees, eight windows of all kinds"
    gaps = ("weave-share mean|.3%", "worst|.3%", "weave-plus mean|.3%", "worst|.3%", "optimal|.0%")
    rows = []
    for technique in (*TECHNIQUES, "all"):
        mine = [g for g in gap if technique in (g.technique, "all")]
        greedy = [g.weave_share / g.best - 1 for g in mine]
        plus = [g.weave_plus / g.best - 1 for g in mine]
        optimal = mean(x < 1e-9 for x in plus)
        rows.append((technique, mean(greedy), max(greedy), mean(plus), max(plus), optimal))
    return new_table(title, "<technique", *gaps, rows=rows)


def _time_table(times: Sequence[Timing]) -> Table:
    ways = list(dict.fromkeys(t.way for t in times))
    rows = []
    for size, mine in group_by(times, lambda t: t.queries).items():
        seconds = {t.way: t.seconds for t in mine}
        trees = "/".join(sorted({str(t.trees) for t in mine}))
        rows.append((size, *map(seconds.get, ways), trees))
    columns = ("<queries|,", *(f"{way}, s|.2f" for way in ways), "trees")
    return new_table("WeaveShare: seconds to plan", *columns, rows=rows)


def _draw_sweeps(runs: Sequence[Run], path: Path) -> None:
    """One picture for all five experiments: WeaveShare above, TriWeave below."""
    panels = [(optimizer, sweep) for optimizer in OPTIMIZERS for sweep in SWEEPS]
    shape = (len(OPTIMIZERS), len(SWEEPS))
    with picture(path, (18, 7), *shape, legend=5, dpi=100, sharey="col") as axes:
        for axis, (optimizer, sweep) in zip(axes, panels, strict=True):
            mine = [r for r in runs if r.experiment == sweep.number and r.optimizer == optimizer]
            for i, title in enumerate(TECHNIQUES):
                own = [r for r in mine if r.technique == title]
                costs = [(x, mean(r.cost for r in own if r.value == x)) for x in sweep.values]
                draw_line(axis, costs, title, i)
            axis.set(title=f"Figure {sweep.number + 16}: {optimizer}", xlabel=sweep.parameter)
            axis.set(yscale="log", xscale="linear" if sweep.field == "skew" else "log")
        for axis in axes[:: len(SWEEPS)]:
            axis.set_ylabel("plan cost, aggregations")


def _draw_scaling(timings: Sequence[Timing], path: Path) -> None:
    """Figure 16: seconds against the number of queries."""
    with picture(path, (6.5, 4.2)) as (axis,):
        for i, way in enumerate(WAYS):
            draw_line(axis, [(t.queries, t.seconds) for t in timings if t.way == way], way, i)
        axis.set(xscale="log", yscale="log", xlabel="queries", ylabel="seconds to plan")
        axis.set_title("Figure 16: WeaveShare, slides from the factors of 8,648,640")
        axis.legend()


def _draw_guarantee(savings: Sequence[Savings], path: Path) -> None:
    """How the savings of WeaveShare spread between a quarter and all of the optimum's."""
    with picture(path, (6.5, 3.6), grid="y") as (axis,):
        axis.hist([s.ratio for s in savings], bins=[i / 40 for i in range(41)], color=BLUE)
        axis.axvline(0.25, color=RED, lw=1.5, label="guaranteed: ¼")
        axis.set(xlim=(0, 1.01), ylim=(0.7, None), yscale="log", ylabel="window sets")
        axis.set_xlabel("savings of weave-share / savings of the optimum")
        axis.legend(loc="upper center")

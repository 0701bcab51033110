"""The cost of weaving against reality: plans of section 5.3 of the multi-query paper, run.

Q_num = 100, S_max = 1,000, λ = 1 and Z_skew = 0 as in the paper, one plan of WeaveShare and one of
TriWeave for each technique. O_max is smaller than its 10,000, for there windows hold up to ten
million partials, and a technique in Python takes hours to fill them.

    operations   C of Equation 1 against the aggregations counted, for one record
    throughput   1/C against results a second, both divided by the largest of their kind, as in
                 Figures 22 and 23; the deviation is |estimated - measured| / measured

Files: cost_model_in_process.csv and cost_model_in_process.png.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from statistics import mean

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from lab.experiments.debs import readings
from lab.experiments.options import Options
from lab.experiments.plan_runs import counted, plan_run, timed
from lab.experiments.weave_runs import OPTIMIZERS, TECHNIQUES
from lab.experiments.weave_workload import Setting, workload
from muntin.cost import WeaveCost, total
from muntin.planner.strategies import STRATEGIES, Problem

SETTING = Setting(o_max=100)
OVERLAPS = (10, 100)
TURNS = 3
"""Composite slides of 1,000 records in a run for counts."""
WORK = 1_000_000
"""Operations in a run for times, about, but at least as many composite slides as for counts."""
ROUNDS = 3
"""Times are the best of so many runs."""
STRATEGY = {"WeaveShare": "weave-share", "TriWeave": "tri-weave"}
PAPER = {"WeaveShare": 0.31, "TriWeave": 0.14}
"""The mean deviations that the paper reports."""


@dataclass(frozen=True, slots=True)
class Reality:
    """One plan, run: aggregations for a record, and results a second."""

    optimizer: str
    overlap: int
    technique: str
    trees: int
    paper: float
    better: float
    counted: float
    nanoseconds: float
    """For one aggregation, with all that is around it."""
    throughput: float
    added: float
    """Results a second of each tree by itself, added, as the paper measures."""


def run_in_process(options: Options, console: Console) -> list[Reality]:
    """Plan, run, print, and write into the folder if one is given."""
    values, where = readings(options.data)
    console.print(f"on {where}", highlight=False)
    found = []
    for overlap in OVERLAPS:
        setting = replace(SETTING, o_max=overlap)
        with console.status(f"running plans, O_max = {overlap}"):
            found += list(realities(setting, options.seed, values))
    console.print(_operations(found), _throughputs(found), _deviations(found))
    if options.out is not None:
        write(found, options.out)
        console.print(f"written to {options.out}: cost_model_in_process.csv and .png")
    return found


def realities(setting: Setting, seed: int, values: Sequence[int]) -> Iterator[Reality]:
    """Every plan of the setting, run by its technique."""
    windows = workload(setting, seed).windows()
    for optimizer in OPTIMIZERS:
        for title, technique in TECHNIQUES.items():
            model = WeaveCost(technique, setting.rate, unit_of_time=1)
            plan = STRATEGIES[STRATEGY[optimizer]](Problem(windows, False, model))
            run = plan_run(plan, setting.s_max)
            operations = counted(run, technique, values, TURNS)
            turns = max(TURNS, round(WORK / operations / run.period))
            seconds = timed(run, technique, values, turns, ROUNDS)
            results = run.results(turns)
            alone = seconds[-len(run.trees) :]
            shares = [
                sum(turns * run.period / w.slide for w in tree.windows) / taken
                for tree, taken in zip(run.trees, alone, strict=True)
            ]
            yield Reality(
                optimizer,
                setting.o_max,
                title,
                len(run.trees),
                total(model, plan),
                total(replace(model, counted=True), plan),
                operations,
                1e9 * sum(seconds) / (operations * turns * run.period),
                results / sum(seconds),
                sum(shares),
            )


def normalised(found: Sequence[Reality], of: str) -> list[float]:
    """Throughputs over the largest of them; those that are costs are inverted first."""
    read = [getattr(r, of) for r in found]
    each = read if of in ("throughput", "added") else [1 / cost for cost in read]
    return [value / max(each) for value in each]


def deviation(found: Sequence[Reality], estimate: str, measured: str = "throughput") -> float:
    """Mean relative deviation of normalised throughputs."""
    pairs = zip(normalised(found, estimate), normalised(found, measured), strict=True)
    return mean(abs(guess - real) / real for guess, real in pairs)


def _operations(found: Sequence[Reality]) -> Table:
    columns = ("counted", "C", "off", "better", "off")
    table = _table("Aggregations for one record", ("", "O_max", "technique", "trees", *columns))
    for r in found:
        cells = [f"{r.counted:.1f}"]
        for guess in (r.paper, r.better):
            cells += [f"{guess:.1f}", f"{guess / r.counted - 1:+.0%}"]
        _add(table, found, r, [f"{r.trees}", *cells])
    return table


def _throughputs(found: Sequence[Reality]) -> Table:
    columns = ("results/s", "ns/op", "measured", "1/C", "1/better")
    title = "Throughput, and its part of the largest"
    table = _table(title, ("", "O_max", "technique", *columns))
    for overlap, optimizer in dict.fromkeys((r.overlap, r.optimizer) for r in found):
        mine = [r for r in found if (r.overlap, r.optimizer) == (overlap, optimizer)]
        shares = (normalised(mine, of) for of in ("throughput", "paper", "better"))
        for r, *share in zip(mine, *shares, strict=True):
            figures = [f"{r.throughput:,.0f}", f"{r.nanoseconds:.0f}"]
            cells = [*figures, *(f"{each:.3f}" for each in share)]
            _add(table, found, r, cells)
    return table


def _table(title: str, columns: Sequence[str]) -> Table:
    table = Table(title=f"\n{title}", title_justify="left", box=SIMPLE_HEAD, padding=(0, 0, 0, 1))
    for column in columns:
        table.add_column(column, justify="left" if column in ("", "technique") else "right")
    return table


def _add(table: Table, found: Sequence[Reality], r: Reality, cells: Sequence[str]) -> None:
    """A row; optimizer and overlap only where they begin, and a line between them."""
    here = [x for x in found if (x.overlap, x.optimizer) == (r.overlap, r.optimizer)]
    named = (r.optimizer, f"{r.overlap:,}") if r is here[0] else ("", "")
    table.add_row(*named, r.technique, *cells, end_section=r is here[-1])


def _deviations(found: Sequence[Reality]) -> Table:
    columns = ("the paper", "1/C", "1/better", "1/counted", "added 1/C", "1/better")
    table = _table("Mean deviation of normalised throughput", ("", "O_max", *columns))
    for optimizer in OPTIMIZERS:
        for overlap in OVERLAPS:
            mine = [r for r in found if (r.optimizer, r.overlap) == (optimizer, overlap)]
            each = [deviation(mine, of) for of in ("paper", "better", "counted")]
            each += [deviation(mine, of, "added") for of in ("paper", "better")]
            cells = (f"{value:.0%}" for value in (PAPER[optimizer], *each))
            table.add_row(optimizer, f"{overlap:,}", *cells)
    return table


def write(found: Sequence[Reality], folder: Path) -> None:
    """All figures as CSV, and the picture."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "cost_model_in_process.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(field.name for field in fields(Reality))
        rows.writerows(astuple(r) for r in found)
    _draw(found, folder / "cost_model_in_process.png")


def _draw(found: Sequence[Reality], path: Path) -> None:
    """Figures 22 and 23: estimated beside measured throughput, both normalised."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), sharey=True)
    kinds = {"measured": "throughput", "estimated, 1/C": "paper", "estimated, 1/better C": "better"}
    for axis, optimizer in zip(axes, OPTIMIZERS, strict=True):
        mine = [r for r in found if (r.optimizer, r.overlap) == (optimizer, OVERLAPS[-1])]
        for i, (label, of) in enumerate(kinds.items()):
            places = [x + (i - 1) * 0.27 for x in range(len(mine))]
            axis.bar(places, normalised(mine, of), width=0.25, label=label)
        axis.set_xticks(range(len(mine)), [r.technique.replace(" (", "\n(") for r in mine])
        axis.set(yscale="log", title=f"{optimizer}, O_max = {OVERLAPS[-1]}")
        axis.grid(axis="y", alpha=0.3)
    axes[0].set_ylabel("throughput over the largest")
    axes[0].legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)

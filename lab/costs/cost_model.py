"""cost-model: what the cost models predict, beside what is counted and measured.

A part is one engine, `in-process` or `spark` (`lab.costs.spark`). In process, the plans of section
5.3 of the multi-query paper are run by the techniques of `muntin.incremental`.
Q_num = 100, S_max = 1,000, λ = 1 and Z_skew = 0 as in the paper, one plan of WeaveShare and one of
TriWeave for each technique. O_max is smaller than its 10,000, for there windows hold up to ten
million partials, and a technique in Python takes hours to fill them.

    operations   C of Equation 1 against the aggregations counted, for one record
    throughput   1/C against results a second, both divided by the largest of their kind, as in
                 Figures 22 and 23; the deviation is |estimated - measured| / measured

Files: cost_model_in_process.csv and cost_model_in_process.png.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from statistics import mean
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from lab.costs.plan_runs import count_operations, prepare, time_trees
from lab.costs.spark import run_on_spark
from lab.cutty.workload import read_debs
from lab.multi_query.run import OPTIMIZERS, TECHNIQUES
from lab.multi_query.workload import Setting, workload
from lab.registry import Options
from lab.report import group_by, new_table, picture, write_files
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
PAPER = {"WeaveShare": 0.31, "TriWeave": 0.14}
"""The mean deviations that the paper reports."""
GENERATED = 17_000
"""Values where no rows are given: the papers use 33 million rows of DEBS 2012."""


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


def run(options: Options, console: Console) -> None:
    """Run the parts that are named, or all of them."""
    for name in options.choose(PARTS):
        console.rule(name)
        PARTS[name](options, console)


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
    name = "cost_model_in_process"
    drawn = {f"{name}.png": partial(_draw, found)}
    write_files(options.out, console, {f"{name}.csv": found}, drawn)
    return found


PARTS: dict[str, Callable[[Options, Console], object]] = {
    "in-process": run_in_process,
    "spark": run_on_spark,
}
"""In the order in which they run."""


def readings(data: Path | None) -> tuple[Sequence[int], str]:
    """The first energy reading of DEBS 2012, or seeded values in its place; and which in words."""
    if data is None:
        random = Random(1)
        values = [random.randrange(20_000) for _ in range(GENERATED)]
        return values, f"{GENERATED:,} generated values, repeated (--data has the papers' rows)"
    values = read_debs(data, ["mf01"])[0].tolist()
    return values, f"{len(values):,} rows of DEBS 2012 (mf01), repeated"


def realities(setting: Setting, seed: int, values: Sequence[int]) -> Iterator[Reality]:
    """Every plan of the setting, run by its technique."""
    windows = workload(setting, seed).windows()
    for optimizer, strategy in OPTIMIZERS.items():
        for title, technique in TECHNIQUES.items():
            model = WeaveCost(technique, setting.rate, unit_of_time=1)
            plan = STRATEGIES[strategy](Problem(windows, False, model))
            ready = prepare(plan, setting.s_max)
            operations = count_operations(ready, technique, values, TURNS)
            turns = max(TURNS, round(WORK / operations / ready.period))
            seconds = time_trees(ready, technique, values, turns, ROUNDS)
            span = turns * ready.period
            answers = [sum(span / w.slide for w in tree.windows) for tree in ready.trees]
            alone = zip(answers, seconds[-len(ready.trees) :], strict=True)
            yield Reality(
                optimizer,
                setting.o_max,
                title,
                len(ready.trees),
                paper=total(model, plan),
                better=total(replace(model, counted=True), plan),
                counted=operations,
                nanoseconds=1e9 * sum(seconds) / (operations * span),
                throughput=sum(answers) / sum(seconds),
                added=sum(number / taken for number, taken in alone),
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
    columns = ("trees", "counted|.1f", "C|.1f", "off|+.0%", "better|.1f", "off|+.0%")
    guesses = ((r, r.paper / r.counted - 1, r.better / r.counted - 1) for r in found)
    rows = (
        (r.optimizer, r.overlap, r.technique, r.trees, r.counted, r.paper, c, r.better, better)
        for r, c, better in guesses
    )
    return _table("Aggregations for one record", "<technique", *columns, rows=rows)


def _throughputs(found: Sequence[Reality]) -> Table:
    shown = ("results/s|,.0f", "ns/op|.0f", "measured|.3f", "1/C|.3f", "1/better|.3f")
    rows = []
    for mine in group_by(found, lambda r: (r.overlap, r.optimizer)).values():
        shares = (normalised(mine, of) for of in ("throughput", "paper", "better"))
        for r, *share in zip(mine, *shares, strict=True):
            figures = (r.throughput, r.nanoseconds, *share)
            rows.append((r.optimizer, r.overlap, r.technique, *figures))
    return _table("Throughput, and its part of the largest", "<technique", *shown, rows=rows)


def _table(title: str, *columns: str, rows: Iterable[Sequence[object]]) -> Table:
    look: dict[str, Any] = {"box": SIMPLE_HEAD, "padding": (0, 0, 0, 1)}
    return new_table(title, "<", "O_max|,", *columns, rows=rows, group=2, **look)


def _deviations(found: Sequence[Reality]) -> Table:
    columns = ("the paper", "1/C", "1/better", "1/counted", "added 1/C", "1/better")
    rows = []
    for optimizer, overlap in product(OPTIMIZERS, OVERLAPS):
        mine = [r for r in found if (r.optimizer, r.overlap) == (optimizer, overlap)]
        each = [deviation(mine, of) for of in ("paper", "better", "counted")]
        each += [deviation(mine, of, "added") for of in ("paper", "better")]
        rows.append((optimizer, overlap, PAPER[optimizer], *each))
    title = "Mean deviation of normalised throughput"
    return _table(title, *(f"{column}|.0%" for column in columns), rows=rows)


def _draw(found: Sequence[Reality], path: Path) -> None:
    """Figures 22 and 23: estimated beside measured throughput, both normalised."""
    kinds = {"measured": "throughput", "estimated, 1/C": "paper", "estimated, 1/better C": "better"}
    with picture(path, (11, 4.2), columns=2, grid="y", dpi=100, sharey=True) as axes:
        for axis, optimizer in zip(axes, OPTIMIZERS, strict=True):
            mine = [r for r in found if (r.optimizer, r.overlap) == (optimizer, OVERLAPS[-1])]
            for i, (label, of) in enumerate(kinds.items()):
                places = [x + (i - 1) * 0.27 for x in range(len(mine))]
                axis.bar(places, normalised(mine, of), width=0.25, label=label)
            axis.set_xticks(range(len(mine)), [r.technique.replace(" (", "\n(") for r in mine])
            axis.set(yscale="log", title=f"{optimizer}, O_max = {OVERLAPS[-1]}")
        axes[0].set_ylabel("throughput over the largest")
        axes[0].legend()

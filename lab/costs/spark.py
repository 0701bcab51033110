"""Predicted against measured on Spark: sets of windows, each by many strategies and operators.

For every case, those of `muntin calibrate` among them, each plan is predicted, then run: all plans
of a case in turn, five rounds after one to warm up. The fastest round counts, since whatever
disturbs a run makes it slower. Printed are

    deviation          |predicted − measured| / measured, the mean over all plans
    rank correlation   Spearman's, of predicted and measured seconds
    auto               its measured time against the best measured plan of its case

with the constants in use (shipped, or those of `muntin calibrate`). The deviation is also given
with all predictions scaled by one factor to this run: a machine that is busier than it was when its
constants were measured is slower in everything, and the choice of a plan does not depend on that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory

import numpy as np
from rich.console import Console
from rich.table import Table

from lab.benchmarks.workload import SETS
from lab.registry import Options
from lab.report import group_by, new_table, picture, write_files
from lab.timing import machine, race, start_spark
from muntin.aggregates import count
from muntin.aggregates import max as largest
from muntin.aggregates import min as least
from muntin.cli.calibration_cases import CASES, Case, minute_windows, plans_of, runner
from muntin.cost.calibration import current_constants

LONGEST = 2.6
"""Plans predicted to take longer are not run."""
REPEAT = 5
MARKS = {
    "window": ("s", "#1f2933"),
    "expand": ("^", "#c98a00"),
    "kernel": ("o", "#3178c6"),
    "rows": ("D", "#2f9e6e"),
}
NEAR = 1.1
"""How near to the best measured plan `auto` should be."""

HOURS_AND_DAYS = minute_windows((60, 60), (1440, 1440), (1440, 60), (168 * 60, 60))
MINUTES = minute_windows((2, 1), (6, 1), (30, 1))
_CALIBRATED = {case.name: case for case in CASES}
MEASURED_CASES = (
    _CALIBRATED["mixed"],
    Case("keyless", SETS["mixed"], 1_000_000, keyed=False),
    _CALIBRATED["20,000 keys"],
    Case("200,000 keys", SETS["mixed"], 30_000, keys=200_000),
    _CALIBRATED["overlap"],
    _CALIBRATED["single"],
    Case("uneven", SETS["uneven"], 300_000),
    Case("hundred", SETS["hundred"], 100_000),
    _CALIBRATED["ten thousand rows"],
    _CALIBRATED["dashboard"],
    Case("sparse", HOURS_AND_DAYS, 200_000, 300, 1, (count(), largest("value"))),
    Case("extremes", MINUTES, 300_000, 300, aggregates=(least("value"), largest("value"))),
)


@dataclass(frozen=True, slots=True)
class Measured:
    """One plan of one case: seconds predicted and measured, and whether `auto` chose it."""

    case: str
    plan: str
    auto: bool
    predicted: float
    measured: float

    @property
    def deviation(self) -> float:
        """How far the prediction is off, as a part of the measured time."""
        return abs(self.predicted - self.measured) / self.measured


def run_on_spark(options: Options, console: Console) -> list[Measured]:
    """Measure all cases (or as many as `sets` says), print, and write CSV and a picture."""
    from muntin.cli.calibration import warm_up
    from muntin.engines.spark.session import make_table

    spark = start_spark(console, "muntin cost model")
    console.print(f"{machine()}, Spark {spark.version}, constants {current_constants().origin}")
    found: list[Measured] = []
    with TemporaryDirectory() as folder:
        with console.status("warming up"):
            warm_up(spark, folder)
        for case in MEASURED_CASES[: options.sets]:
            events = make_table(spark, folder, case.rows, case.keys, case.rate)
            plans = plans_of(case, LONGEST)
            times = race({n: runner(p, events) for n, p in plans.items()}, REPEAT, case.name)
            chosen = next(iter(plans))
            own = [
                Measured(case.name, n, n == chosen, p.seconds or 0.0, min(times[n].seconds))
                for n, p in plans.items()
            ]
            console.print(plans_table(own))
            found += own
        spark.stop()
    console.print(auto_table(found))
    console.print(summary(found), highlight=False)
    drawn = {"spark_plans.png": partial(draw, found)}
    write_files(options.out, console, {"spark_plans.csv": found}, drawn)
    return found


def plans_table(found: Sequence[Measured]) -> Table:
    """The plans of one case."""
    title = f"{found[0].case}: seconds of each plan (* auto's)"
    columns = ("<plan", "predicted|.2f", "measured|.2f", "deviation|.0%")
    rows = ((m.plan + " *" * m.auto, m.predicted, m.measured, m.deviation) for m in found)
    return new_table(title, *columns, rows=rows)


def auto_table(found: Sequence[Measured]) -> Table:
    """What auto chose in each set, beside the best that was measured."""
    columns = ("<set", "<auto", "seconds|.2f", "<best", "seconds|.2f", "auto / best|.2f")
    rows = (
        (case, auto.plan, auto.measured, best.plan, best.measured, auto.measured / best.measured)
        for case, auto, best in _choices(found)
    )
    return new_table("auto against the best measured plan", *columns, rows=rows)


def summary(found: Sequence[Measured]) -> str:
    """Deviation, rank correlation, and how often auto is near the best."""
    scale = median(m.measured / m.predicted for m in found)
    scaled = mean(abs(m.predicted * scale / m.measured - 1) for m in found)
    ratios = [auto.measured / best.measured for _, auto, best in _choices(found)]
    near = sum(ratio <= NEAR for ratio in ratios)
    return (
        f"\n{len(found)} plans of {len(ratios)} sets\n"
        f"mean deviation {mean(m.deviation for m in found):.1%} "
        f"(scaled to this run by {scale:.2f}: {scaled:.1%})\n"
        f"rank correlation {rank_correlation(found):.3f}\n"
        f"auto within {NEAR - 1:.0%} of the best measured plan in {near} of {len(ratios)} sets, "
        f"{mean(ratios):.2f} times the best in the mean, {max(ratios):.2f} at worst"
    )


def rank_correlation(found: Sequence[Measured]) -> float:
    """Spearman's: the correlation of the ranks.

    >>> plans = [Measured("c", str(i), False, i * i, i) for i in range(1, 9)]
    >>> round(rank_correlation(plans), 3)
    1.0
    """
    sides = np.array([[m.predicted for m in found], [m.measured for m in found]])
    return float(np.corrcoef(*sides.argsort().argsort())[0, 1])


def _choices(found: Sequence[Measured]) -> list[tuple[str, Measured, Measured]]:
    """The case, the plan that auto chose, and the best that was measured."""
    return [
        (case, next(m for m in own if m.auto), min(own, key=lambda m: m.measured))
        for case, own in group_by(found, lambda m: m.case).items()
    ]


def draw(found: Sequence[Measured], path: Path) -> None:
    """One mark for each plan, by its operator; auto's choices are ringed."""
    seconds = [second for m in found for second in (m.predicted, m.measured)]
    low, high = min(seconds) * 0.8, max(seconds) * 1.25
    ticks = [n * 10**k for k in range(-2, 3) for n in (1, 2, 5) if low <= n * 10**k <= high]
    with picture(path, (5.2, 4.8)) as (axis,):
        axis.plot([low, high], [low, high], color="#8896a5", linewidth=1)
        axis.fill_between([low, high], [low * 0.8, high * 0.8], [low * 1.2, high * 1.2], alpha=0.12)
        for operator, own in group_by(found, lambda m: m.plan.rpartition(", ")[2]).items():
            mark, colour = MARKS[operator]
            points = [m.measured for m in own], [m.predicted for m in own]
            axis.scatter(*points, marker=mark, color=colour, s=26, label=operator, zorder=3)
        auto = [m for m in found if m.auto]
        points = [m.measured for m in auto], [m.predicted for m in auto]
        axis.scatter(*points, 110, facecolors="none", edgecolors="#d64545", label="chosen by auto")
        axis.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high))
        for side in (axis.xaxis, axis.yaxis):
            side.set_ticks([], minor=True)
            side.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.set(xlabel="measured seconds", ylabel="predicted seconds")
        axis.set_title("Plans on Spark; the band is ±20 %")
        axis.legend(fontsize=8)

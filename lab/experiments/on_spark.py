"""Predicted against measured on Spark: sets of windows, each by many strategies and operators.

For every case of `cli.calibration_plans` each plan is predicted, then run: all plans of a case
in turn, five rounds after one to warm up. The fastest round counts, since whatever disturbs a run
makes it slower. Printed are

    deviation          |predicted − measured| / measured, the mean over all plans
    rank correlation   Spearman's, of predicted and measured seconds
    auto               its measured time against the best measured plan of its case

with the constants in use (shipped, or those of `muntin calibrate`). The deviation is also given
with all predictions scaled by one factor to this run: a machine that is busier than it was when its
constants were measured is slower in everything, and the choice of a plan does not depend on that.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory

import numpy as np
from rich.console import Console
from rich.table import Table

from lab.benchmarks.machine import machine
from lab.benchmarks.race import race
from lab.experiments.options import Options
from muntin.cli.calibration_plans import CASES, plans_of, runner
from muntin.cost.calibration import current_constants

LONGEST = 2.6
"""Plans predicted to take longer are not run."""
REPEAT = 5
NEAR = 1.1
"""How near to the best measured plan `auto` should be."""


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
    from muntin.engines.spark.session import local_session, make_table, quiet_start

    with console.status("starting Spark"), quiet_start():
        spark = local_session("muntin cost model")
    console.print(f"{machine()}, Spark {spark.version}, constants {current_constants().origin}")
    found: list[Measured] = []
    with TemporaryDirectory() as folder:
        with console.status("warming up"):
            warm_up(spark, folder)
        for case in CASES[: options.sets]:
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
    if options.out is not None:
        write(found, options.out)
        console.print(f"written: {options.out}/spark_plans.csv, spark_plans.png")
    return found


def plans_table(found: Sequence[Measured]) -> Table:
    """The plans of one case."""
    table = Table(title=f"\n{found[0].case}: seconds of each plan (* auto's)", title_justify="left")
    for name in ("plan", "predicted", "measured", "deviation"):
        table.add_column(name, justify="left" if name == "plan" else "right")
    for m in found:
        plan = f"{m.plan} *" if m.auto else m.plan
        seconds = (f"{m.predicted:.2f}", f"{m.measured:.2f}", f"{m.deviation:.0%}")
        table.add_row(plan, *seconds)
    return table


def auto_table(found: Sequence[Measured]) -> Table:
    """What auto chose in each set, beside the best that was measured."""
    table = Table(title="\nauto against the best measured plan", title_justify="left")
    for name in ("set", "auto", "seconds", "best", "seconds", "auto / best"):
        table.add_column(name, justify="left" if name in ("set", "auto", "best") else "right")
    for case, auto, best in _choices(found):
        ratio = f"{auto.measured / best.measured:.2f}"
        times = (f"{auto.measured:.2f}", best.plan, f"{best.measured:.2f}", ratio)
        table.add_row(case, auto.plan, *times)
    return table


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
    sides = [[m.predicted for m in found], [m.measured for m in found]]
    ranks = [np.argsort(np.argsort(np.array(side))) for side in sides]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _choices(found: Sequence[Measured]) -> list[tuple[str, Measured, Measured]]:
    choices = []
    for case in dict.fromkeys(m.case for m in found):
        own = [m for m in found if m.case == case]
        auto = next(m for m in own if m.auto)
        choices.append((case, auto, min(own, key=lambda m: m.measured)))
    return choices


def write(found: Sequence[Measured], folder: Path) -> None:
    """Everything measured as CSV, and the picture."""
    from lab.experiments.on_spark_picture import draw  # matplotlib is optional

    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "spark_plans.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(f.name for f in fields(Measured))
        rows.writerows(astuple(m) for m in found)
    draw(found, folder / "spark_plans.png")

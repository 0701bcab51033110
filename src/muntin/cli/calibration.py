"""calibrate: run some plans on this Spark and fit the constants of the cost model to their times.

The plans are those of a few cases that together use every kind of work, on tables small enough for
a minute or two. Each plan runs once to warm up; the faster of the rounds that follow counts, since
whatever disturbs a run makes it slower.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from statistics import mean
from time import perf_counter
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from muntin.api import Plan
from muntin.cli.calibration_plans import CASES, Case, plans_of, runner
from muntin.cost.calibration import Calibration
from muntin.cost.fitting import fit
from muntin.cost.spark import SHIPPED, Work
from muntin.engines.spark.session import cores_of, make_table
from muntin.physical import Question
from muntin.physical.operators.counted import Counted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

USED = ("mixed", "20,000 keys", "overlap", "single", "ten thousand rows", "dashboard")
"""The cases that are run: together they use every kind of work."""
LONGEST = 1.5
"""Plans that the shipped constants predict to take longer are left out."""
SMALLER = 2
"""Tables have one of so many rows of those that the experiment measures on."""
WARMING = 200_000
"""Rows to warm up with."""


@dataclass(frozen=True, slots=True)
class Run:
    """A plan that was run: its case, its work and its seconds."""

    case: str
    plan: str
    work: Work
    seconds: float


def calibrate(
    spark: SparkSession, folder: str, master: str, console: Console, repeat: int = 3
) -> tuple[Calibration, float]:
    """The constants of this Spark, and the mean deviation of their predictions from these runs."""
    cores = cores_of(spark)
    used = [case for case in CASES if case.name in USED]
    cases = [replace(case, rows=max(case.rows // SMALLER, 10_000)) for case in used]
    plans = [(case, name, plan) for case in cases for name, plan in plans_of(case, LONGEST).items()]
    runs = []
    with _bar(console) as bar:
        task = bar.add_task("warming up", total=len(plans))
        warm_up(spark, folder)
        for case, name, plan in plans:
            bar.update(task, description=f"{case.name}: {name}")
            runs.append(_run(case, name, plan, spark, folder, cores, repeat))
            bar.advance(task)
    found = fit([r.work for r in runs], [r.seconds for r in runs], replace(SHIPPED, cores=cores))
    deviation = mean(abs(found.seconds(r.work) / r.seconds - 1) for r in runs)
    now = datetime.now(UTC).isoformat(timespec="minutes")
    return Calibration(found, now, spark.version, master), deviation


def warm_up(spark: SparkSession, folder: str) -> None:
    """Every kind of plan a few times: a JVM is slow until it has compiled what it runs."""
    case = replace(CASES[0], rows=WARMING)
    events = make_table(spark, folder, case.rows, case.keys, case.rate)
    for plan in list(plans_of(case, LONGEST).values()) * 3:
        runner(plan, events)()


def _run(
    case: Case, name: str, plan: Plan, spark: SparkSession, folder: str, cores: int, repeat: int
) -> Run:
    question = Question(plan.query, case.statistics, replace(SHIPPED, cores=cores))
    assert isinstance(plan.operator, Counted), "batch operators count their work"
    work = plan.operator.total_work(plan.choice.physical, question)
    run = runner(plan, make_table(spark, folder, case.rows, case.keys, case.rate))
    run()
    return Run(case.name, name, work, min(_timed(run) for _ in range(repeat)))


def _timed(run: Callable[[], int]) -> float:
    begun = perf_counter()
    run()
    return perf_counter() - begun


def _bar(console: Console) -> Progress:
    return Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
        transient=True,
        console=console,
    )

"""calibrate: run some plans on this Spark and fit the constants of the cost model to their times.

The plans are those of `calibration_cases`, on tables small enough for a minute or two. Each plan
runs once to warm up; the faster of the rounds that follow counts, since whatever disturbs a run
makes it slower.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from statistics import mean
from time import perf_counter
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from muntin.api import Plan
from muntin.cli.calibration_cases import CASES, Case, plans_of, runner
from muntin.cost.calibration import Calibration, fit
from muntin.cost.spark import SHIPPED, Work
from muntin.engines.spark.session import cores_of, make_table
from muntin.physical import Question
from muntin.physical.operators.counted import Counted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LONGEST = 1.5
"""Plans that the shipped constants predict to take longer are left out."""
SMALLER = 2
"""Tables have one of so many rows of each case."""
WARMING = 200_000
"""Rows to warm up with."""


def calibrate(
    spark: SparkSession, folder: str, master: str, console: Console, repeat: int = 3
) -> tuple[Calibration, float]:
    """The constants of this Spark, and the mean deviation of their predictions from these runs."""
    cores = cores_of(spark)
    cases = [replace(case, rows=max(case.rows // SMALLER, 10_000)) for case in CASES]
    plans = [(case, name, plan) for case in cases for name, plan in plans_of(case, LONGEST).items()]
    works, seconds = [], []
    columns = (MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(BarColumn(), *columns, transient=True, console=console) as bar:
        task = bar.add_task("warming up", total=len(plans))
        warm_up(spark, folder)
        for case, name, plan in plans:
            bar.update(task, description=f"{case.name}: {name}")
            works.append(_work(case, plan, cores))
            run = runner(plan, make_table(spark, folder, case.rows, case.keys, case.rate))
            run()
            seconds.append(min(_timed(run) for _ in range(repeat)))
            bar.advance(task)
    found = fit(works, seconds, replace(SHIPPED, cores=cores))
    deviation = mean(abs(found.seconds(w) / s - 1) for w, s in zip(works, seconds, strict=True))
    now = datetime.now(UTC).isoformat(timespec="minutes")
    return Calibration(found, now, spark.version, master), deviation


def warm_up(spark: SparkSession, folder: str) -> None:
    """Every kind of plan a few times: a JVM is slow until it has compiled what it runs."""
    case = replace(CASES[0], rows=WARMING)
    events = make_table(spark, folder, case.rows, case.keys, case.rate)
    for plan in list(plans_of(case, LONGEST).values()) * 3:
        runner(plan, events)()


def _work(case: Case, plan: Plan, cores: int) -> Work:
    question = Question(plan.query, case.statistics, replace(SHIPPED, cores=cores))
    assert isinstance(plan.operator, Counted), "batch operators count their work"
    return plan.operator.total_work(plan.choice.physical, question)


def _timed(run: Callable[[], int]) -> float:
    begun = perf_counter()
    run()
    return perf_counter() - begun

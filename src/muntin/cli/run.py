"""muntin run and muntin verify: a job from a file, with a view of what it does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from muntin.api import verify
from muntin.api.as_of import AsOfPlan
from muntin.api.job_features import plan_features
from muntin.api.optimize import plan_job
from muntin.cli.live import watch
from muntin.cli.rows import show_rows
from muntin.errors import QueryError
from muntin.jobs import Job, hide, read_job, report_errors
from muntin.jobs.job import ENDLESS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JobFile = Annotated[Path, typer.Argument(help="The job, a TOML file: see docs/jobs.md.")]
Master = Annotated[str | None, typer.Option(help="Run on this cluster, not on the file's.")]
Remote = Annotated[str | None, typer.Option(help="Run on this Spark Connect server.")]


def run(job_file: JobFile, master: Master = None, remote: Remote = None) -> None:
    """Run a job: a table to the end, a stream until Ctrl-C or, available-now, until it is done."""
    job = read_job(job_file)
    console = Console()
    with report_errors(job, master, remote):
        plan = None if job.as_of else plan_job(job)
        with open_session(job, master, remote, console) as spark:
            from muntin.engines.spark.job import (
                compute_results,
                read_rows,
                start,
                translate_failures,
                write,
            )

            with translate_failures(job, "the job cannot be run"):
                if plan is None:
                    results = _features(job, spark).run()
                else:
                    results = compute_results(plan.apply, read_rows(spark, job), job)
                show = partial(show_rows, console=console, most=int(job.sink.rows))
                if job.source.streaming:
                    watch(start(results, job, show), job.file.name, console)
                else:
                    _batch(partial(write, results, job, show), job, spark, console)


def verify_job(job_file: JobFile, master: Master = None, remote: Remote = None) -> None:
    """Compare every row of a job's results with Spark's own window() queries or RANGE frames.

    Nothing is written. Of a stream of files, the files that are there are compared as a table.
    """
    job = read_job(job_file)
    for name in ("source", "events") if job.events else ("source",):
        if (kind := job.input(name).format) in ENDLESS:
            raise QueryError(
                f"{job.file}: {name}.format = {kind!r} never ends, and verify compares "
                "whole results: verify the same query on a table of past rows"
            )
    console = Console()
    with report_errors(job, master, remote), open_session(job, master, remote, console) as spark:
        from muntin.engines.spark.job import read_rows, translate_failures

        with (
            console.status("comparing all rows"),
            translate_failures(job, "the job cannot be verified"),
        ):
            table = job.as_table()
            rows = read_rows(spark, table)
            outcome = verify(rows, _features(table, spark) if job.as_of else plan_job(table))
        console.print(f"{outcome!r}", markup=False, highlight=False)
    if not outcome.equal:
        raise typer.Exit(1)


def _features(job: Job, spark: SparkSession) -> AsOfPlan:
    """The features of a job, bound to its tables or streams."""
    from muntin.engines.spark.job import read_history, read_rows

    rows = read_rows(spark, job)
    events = read_rows(spark, job, "events") if job.events else None
    history = read_history(rows if events is None else events, job)
    return plan_features(job, rows, events, history)


@contextmanager
def open_session(
    job: Job, master: str | None, remote: str | None, console: Console
) -> Iterator[SparkSession]:
    """The session of a job, stopped in the end."""
    if master and remote:
        raise QueryError("give --master or --remote, not both")
    from muntin.engines.spark.job import open_session, translate_failures
    from muntin.engines.spark.session import quiet_start

    with (
        console.status("starting Spark"),
        translate_failures(job, "Spark cannot be started"),
        quiet_start(lambda log: hide(log, job, master, remote)),
    ):
        spark = open_session(job, master, remote)
    try:
        yield spark
    finally:
        spark.stop()


def _batch(write: Callable[[], None], job: Job, spark: SparkSession, console: Console) -> None:
    """Write the results of a table, with a bar of the tasks that are done."""
    from muntin.engines.spark.progress import task_counter

    failed: list[BaseException] = []

    def work() -> None:
        try:
            write()
        except BaseException as error:
            failed.append(error)

    name = TextColumn("{task.description}", markup=False)
    columns = (name, BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        shown, count = bar.add_task(job.file.name, total=None), task_counter(spark)
        worker = Thread(target=work, name=job.file.name)
        worker.start()
        while worker.is_alive():
            done, known = count()
            bar.update(shown, completed=done, total=known or None)
            worker.join(0.2)
    if failed:
        raise failed[0]
    if job.sink.format != "console":
        where = "sink.path" if job.sink.path else job.sink.format
        typer.echo(f"{job.file.name}: done, results are in {where}")

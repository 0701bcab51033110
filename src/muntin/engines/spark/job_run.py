"""Run a job: open its session and source, apply the plan, hand the results to its sink."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from muntin.engines.spark.faults import first_line, of_spark, unlogged
from muntin.engines.spark.session import session
from muntin.errors import QueryError
from muntin.jobs import Job
from muntin.state.control import Control


@contextmanager
def failing(job: Job, what: str) -> Iterator[None]:
    """What Spark raises in the block is told in a line, with the file and what was to be done."""
    try:
        with unlogged():
            yield
    except Exception as error:
        if not of_spark(error):
            raise
        raise QueryError(f"{job.file}: {what}: {first_line(error)}") from None


def session_of(job: Job, master: str | None = None, remote: str | None = None) -> SparkSession:
    """The job's session; what the command line says wins over the file."""
    if master is None and remote is None:
        master, remote = job.spark.master, job.spark.remote
    return session(f"muntin {job.file.name}", master, remote, job.spark.conf)


def results_of(rows: DataFrame, plan: Any, job: Job) -> DataFrame:
    """The plan's results over the job's rows, batch or streaming."""
    asked = job.query
    if not job.source.streaming:
        result: DataFrame = plan.apply(rows, layout=asked.layout, empty=asked.empty)
        return result
    control = Control(job.place(asked.control), grain=asked.grain) if asked.control else None
    stream: DataFrame = plan.apply(
        rows,
        watermark=asked.watermark,
        output=asked.output,
        operator=asked.operator,
        control=control,
    )
    return stream

"""The plan that a job runs by, and what a running stream is doing."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from muntin.api.optimize import optimize
from muntin.api.plan import Plan
from muntin.jobs import Job
from muntin.jobs.job_query import query_of
from muntin.model.choices import Operator, Strategy

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

    from muntin.engines.spark.progress import Progress


def plan_of(job: Job) -> Plan:
    """The plan for a job's query, by its strategy and under its rate."""
    asked = job.query
    return optimize(
        query_of(job),
        cast(Strategy, asked.strategy),  # a word of the user's: optimize checks it
        rate=asked.rate,
        distinct_keys=asked.distinct_keys,
        operator="controlled" if asked.control else cast(Operator | None, asked.operator),
        engine="stream" if job.source.streaming else "spark",
    )


def progress(query: StreamingQuery) -> Progress | None:
    """The last micro-batch of a stream: rates, results of each window, watermark, state, late rows.

    None before the first micro-batch has ended.
    """
    from muntin.engines.spark.progress import progress as of_spark

    return of_spark(query)

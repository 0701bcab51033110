"""The features of a job, [as_of]: bound to its tables, or told without them."""

from __future__ import annotations

from muntin.api.as_of import AsOfPlan, plan_as_of
from muntin.jobs import Job
from muntin.jobs.job_query import parse_as_of
from muntin.model.history import HistoryTable
from muntin.physical.operators.frames import (
    CONTROLLED_ROWS,
    FRAMES,
    describe,
    describe_history,
    describe_stream,
)
from muntin.state.control import Control


def plan_features(
    job: Job, rows: object, events: object, history: HistoryTable | None = None
) -> AsOfPlan:
    """What mt.as_of would run on the rows of a job, and on its events if it has others."""
    asked = job.as_of
    assert asked is not None, "windows of the clock are planned by plan_job"
    stream: dict[str, object] = {"watermark": asked.watermark, "output": asked.output}
    stream |= {"buckets": None, "future": asked.future, "history": history}
    if asked.control is not None and job.source.streaming:
        stream["control"] = Control(job.place(asked.control))
    return plan_as_of(rows, parse_as_of(job), events, asked.operator, **stream)


def explain_features(job: Job) -> str:
    """What a job asks as of each row, as far as it is known without its tables."""
    asked, own = parse_as_of(job), job.as_of
    assert own is not None, "windows of the clock are planned by plan_job"
    if job.source.streaming:
        lines = describe_stream(asked, own.output == "arrival")
        lines += [CONTROLLED_ROWS] if own.control is not None else []
        if job.history.until is not None:
            lines.append(describe_history(asked, HistoryTable(None, job.history.until).instant))
    else:
        operator = own.operator
        if operator == "auto":
            operator = f"{FRAMES.name}, or Spark's own RANGE frames if these promise to be faster"
        lines = [f"as of {asked.time}: {operator}, on Spark", ""]
    lines += describe(asked, None)
    lines.append(f"aggregates: {', '.join(a.name for a in asked.aggregates)}")
    lines.append(f"of the same {', '.join(asked.keys)}" if asked.keys else "over all rows")
    return "\n".join(lines)

"""How many tasks of the running jobs are done: what a progress bar shows.

Classic Spark is asked through its status tracker, Spark Connect tells a handler.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.sql import SparkSession

Tasks = tuple[int, int]
"""Tasks done, and all that are known so far."""


def task_counter(spark: SparkSession) -> Callable[[], Tasks]:
    """A function that says how far the session's jobs are."""
    if hasattr(spark, "registerProgressHandler") and "connect" in type(spark).__module__:
        return _told(spark)
    tracker = spark.sparkContext.statusTracker()

    def asked() -> Tasks:
        stages = [tracker.getStageInfo(s) for s in tracker.getActiveStageIds()]
        known = [s for s in stages if s is not None]
        return sum(s.numCompletedTasks for s in known), sum(s.numTasks for s in known)

    return asked


def _told(spark: SparkSession) -> Callable[[], Tasks]:
    last: list[Tasks] = [(0, 0)]

    def handler(stages: Any, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
        last.append(
            (
                sum(s.num_completed_tasks for s in stages or ()),
                sum(s.num_tasks for s in stages or ()),
            )
        )

    spark.registerProgressHandler(handler)  # type: ignore[arg-type]  # it is called by keyword
    return lambda: last[-1]

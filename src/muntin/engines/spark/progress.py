"""How far what runs is: the last micro-batch of a stream as one value, and the tasks of jobs.

Spark reports each micro-batch. Results per window come from an observation that the plan puts on
its result (`observe_results`), or, where windows come and go, from their operator.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from muntin.engines.spark.session_facts import is_connect
from muntin.state.corrected import REVISION
from muntin.state.missed import MISSED

if TYPE_CHECKING:
    from pyspark.sql.connect.shell.progress import StageInfo

OBSERVATION = "muntin results"
_made = count(1)
"""A query may hold several plans, and no two metrics of one name."""

MOST_WINDOWS = 64
"""Windows counted one by one; of more, only all results together."""

Tasks = tuple[int, int]
"""Tasks done, and all that are known so far."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The last micro-batch of a stream.

    `input_rate` is how many rows arrive in a second, `work_rate` how many were worked off;
    `results` are rows per second of each window; `lag` is how far the watermark is behind the
    newest event, that of the batch or, where the batch has only late rows, of those before; None
    if that is not known. Late rows of the bucketed operator are
    pieces: rows of a key that fell into one slice count once. `future_rows` were left out because
    they were too far ahead of the clock, `revisions` counts results that came again, corrected. Of
    a stream that starts from history, `before_until` are rows of the stream before it,
    `after_until` rows of the table from there on, in the batch that read it: neither are taken.
    """

    batch: int
    input_rows: int
    input_rate: float
    work_rate: float
    batch_seconds: float
    results: dict[str, float] = field(default_factory=dict)
    watermark: datetime | None = None
    lag: timedelta | None = None
    state_rows: int = 0
    state_bytes: int = 0
    late_rows: int = 0
    future_rows: int = 0
    revisions: int = 0
    before_until: int = 0
    after_until: int = 0
    active: bool = True


def observe_results(
    results: DataFrame, windows: list[str], beside: tuple[str, ...] = ()
) -> DataFrame:
    """The same results, counted by window as they pass, and those that came again.

    `beside` are the columns that the stream has besides keys and aggregates. Late rows do not
    count.
    """
    is_result = F.col(MISSED).isNull() if MISSED in beside else F.lit(True)
    counts = [F.count_if(is_result).alias("results")]
    if len(windows) <= MOST_WINDOWS:
        counts += [
            F.count_if((F.col("window_id") == id) & is_result).alias(f"window {i}: {id}")
            for i, id in enumerate(windows)
        ]
    if REVISION in beside:
        counts.append(F.count_if(F.col(REVISION) > 0).alias("revisions"))
    return results.observe(f"{OBSERVATION} {next(_made)}", *counts)


def progress(query: StreamingQuery) -> Progress | None:
    """The last micro-batch of a query; None before the first one has ended.

    Batches without rows that only move the watermark count too.
    """
    last: Any = query.lastProgress
    if last is None:
        return None
    seconds = last["durationMs"].get("triggerExecution", 0) / 1000
    events = last["eventTime"] or {}
    watermark, newest = _instant(events.get("watermark")), _instant(events.get("max"))
    if newest and watermark and newest < watermark:
        newest = _newest_before(query)
    operators = last["stateOperators"] or []
    metrics = _metrics(last)
    return Progress(
        batch=int(last["batchId"]),
        input_rows=int(_figure(last, "numInputRows")),
        input_rate=float(_figure(last, "inputRowsPerSecond") or 0.0),
        work_rate=float(_figure(last, "processedRowsPerSecond") or 0.0),
        batch_seconds=seconds,
        results=_results(metrics, seconds),
        watermark=watermark,
        lag=newest - watermark if newest and watermark and newest >= watermark else None,
        state_rows=sum(o["numRowsTotal"] for o in operators),
        state_bytes=sum(o["memoryUsedBytes"] for o in operators),
        late_rows=sum(o["numRowsDroppedByWatermark"] for o in operators)
        + sum(m.get("dropped") or 0 for m in metrics.values()),
        revisions=sum(m.get("revisions") or 0 for m in metrics.values()),
        future_rows=sum(m.get("future") or 0 for m in metrics.values()),
        before_until=sum(m.get("before_until") or 0 for m in metrics.values()),
        after_until=sum(m.get("after_until") or 0 for m in metrics.values()),
        active=query.isActive,
    )


def _newest_before(query: StreamingQuery) -> datetime | None:
    """The newest event of the micro-batches that Spark still tells of."""
    events: list[Any] = [each["eventTime"] or {} for each in query.recentProgress]
    found = [newest for each in events if (newest := _instant(each.get("max")))]
    return max(found, default=None)


def _metrics(last: Any) -> dict[str, dict[str, Any]]:
    """What the plans of a query observed, by the name of the observation."""
    observed = last["observedMetrics"] or {}
    return {name: row.asDict() for name, row in observed.items() if name.startswith("muntin")}


def _figure(last: Any, name: str) -> Any:
    """A sum over the sources, which on Spark Connect is an attribute and no value of the key."""
    own = getattr(last, name, None)
    return last[name] if own is None else own


def _results(metrics: dict[str, dict[str, Any]], seconds: float) -> dict[str, float]:
    rows: Counter[str] = Counter()
    for name, counts in metrics.items():
        if name.startswith(OBSERVATION):
            windows = {k.split(": ", 1)[1]: n for k, n in counts.items() if k.startswith("window ")}
            rows.update(windows or {"all windows": counts["results"]})
        for text in json.loads(counts.get("windows") or "[]"):
            rows.update(json.loads(text))
    return {id: n / seconds if seconds else 0.0 for id, n in rows.items()}


def _instant(text: str | None) -> datetime | None:
    """An instant as Spark writes it; before the first watermark there is 1970."""
    if text is None:
        return None
    instant = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return None if instant.timestamp() == 0 else instant


def task_counter(spark: SparkSession) -> Callable[[], Tasks]:
    """A function that says how far the session's jobs are: what a progress bar shows.

    Classic Spark is asked through its status tracker; Spark Connect calls a handler.
    """
    if is_connect(spark):
        return _progress_of_connect(spark)
    tracker = spark.sparkContext.statusTracker()

    def count() -> Tasks:
        stages = [tracker.getStageInfo(s) for s in tracker.getActiveStageIds()]
        known = [s for s in stages if s is not None]
        return sum(s.numCompletedTasks for s in known), sum(s.numTasks for s in known)

    return count


def _progress_of_connect(spark: SparkSession) -> Callable[[], Tasks]:
    last: Tasks = (0, 0)

    def handle(stages: Iterable[StageInfo] | None, **rest: object) -> None:
        nonlocal last
        known = list(stages or ())
        last = sum(s.num_completed_tasks for s in known), sum(s.num_tasks for s in known)

    spark.registerProgressHandler(handle)  # type: ignore[arg-type]  # it is called by keyword
    return lambda: last

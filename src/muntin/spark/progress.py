"""What a running stream is doing, as one value: rates, watermark, state, late rows.

Spark reports each micro-batch; results per window come from an observation that the plan puts on
its result (`observed`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

OBSERVATION = "muntin"
MOST_WINDOWS = 64
"""Windows counted one by one; of more, only all results together."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The last micro-batch of a stream.

    `results` are rows per second of each window; `lag` is how far the watermark is behind the
    newest event of the batch. Numbers that Spark did not report are None.
    """

    batch: int
    input_rows: int
    input_rate: float
    batch_seconds: float
    results: dict[str, float] = field(default_factory=dict)
    watermark: datetime | None = None
    lag: timedelta | None = None
    state_rows: int = 0
    state_bytes: int = 0
    late_rows: int = 0
    active: bool = True


def observed(results: DataFrame, windows: list[str]) -> DataFrame:
    """The same results, counted by window as they pass."""
    counts = [F.count(F.lit(1)).alias("results")]
    if len(windows) <= MOST_WINDOWS:
        counts += [
            F.count_if(F.col("window_id") == id).alias(f"window {i}: {id}")
            for i, id in enumerate(windows)
        ]
    return results.observe(OBSERVATION, *counts)


def progress(query: StreamingQuery) -> Progress | None:
    """The last micro-batch of a query; None before the first one has ended.

    Batches without rows that only move the watermark count too.
    """
    last = query.lastProgress
    return None if last is None else _read(last, query.isActive)


def _read(last: Any, active: bool) -> Progress:
    durations = last["durationMs"]
    seconds = durations.get("triggerExecution", 0) / 1000
    events = last["eventTime"] or {}
    watermark, newest = _instant(events.get("watermark")), _instant(events.get("max"))
    operators = last["stateOperators"] or []
    return Progress(
        batch=int(last["batchId"]),
        input_rows=int(last["numInputRows"]),
        input_rate=float(last["inputRowsPerSecond"] or 0.0),
        batch_seconds=seconds,
        results=_results(last, seconds),
        watermark=watermark,
        lag=newest - watermark if newest and watermark else None,
        state_rows=sum(o["numRowsTotal"] for o in operators),
        state_bytes=sum(o["memoryUsedBytes"] for o in operators),
        late_rows=sum(o["numRowsDroppedByWatermark"] for o in operators),
        active=active,
    )


def _results(last: Any, seconds: float) -> dict[str, float]:
    row = (last["observedMetrics"] or {}).get(OBSERVATION)
    if row is None:
        return {}
    counts = row.asDict()
    windows = {k.split(": ", 1)[1]: n for k, n in counts.items() if k.startswith("window ")}
    found = windows or {"all windows": counts["results"]}
    return {id: n / seconds if seconds else 0.0 for id, n in found.items()}


def _instant(text: str | None) -> datetime | None:
    """An instant as Spark writes it; before the first watermark there is 1970."""
    if text is None:
        return None
    instant = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return None if instant.timestamp() == 0 else instant

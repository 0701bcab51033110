"""mt.progress reads what Spark reports, on Spark Connect too."""

from types import SimpleNamespace
from typing import Any

from pyspark.sql.streaming.listener import StreamingQueryProgress

import muntin as mt

SOURCE: dict[str, Any] = {
    "description": "files",
    "startOffset": "0",
    "endOffset": "1",
    "latestOffset": "1",
    "numInputRows": 40,
    "inputRowsPerSecond": 20.0,
    "processedRowsPerSecond": 80.0,
    "metrics": {},
}


def test_on_connect_the_rows_of_a_batch_are_those_of_its_sources() -> None:
    """There the report has no sums of its own."""
    report: dict[str, Any] = {
        "id": "00000000-0000-0000-0000-000000000001",
        "runId": "00000000-0000-0000-0000-000000000002",
        "name": None,
        "timestamp": "2026-01-01T00:00:00.000Z",
        "batchId": 3,
        "batchDuration": 500,
        "durationMs": {"triggerExecution": 500},
        "eventTime": {"watermark": "2026-01-01T00:00:00.000Z", "max": "2026-01-01T00:05:00.000Z"},
        "stateOperators": [],
        "sources": [SOURCE, SOURCE],
        "sink": {"description": "memory", "numOutputRows": 1, "metrics": {}},
        "observedMetrics": {"muntin results 1": {"results": 5, "window 0: hour": 5}},
    }
    query: Any = SimpleNamespace(
        lastProgress=StreamingQueryProgress.fromJson(report), isActive=True
    )
    found = mt.progress(query)
    assert found is not None
    assert (found.batch, found.input_rows, found.input_rate, found.work_rate) == (3, 80, 40, 160)
    assert found.results == {"hour": 10.0}
    assert found.lag is not None
    assert found.lag.total_seconds() == 300


def test_before_the_first_batch_there_is_nothing() -> None:
    query: Any = SimpleNamespace(lastProgress=None, isActive=True)
    assert mt.progress(query) is None

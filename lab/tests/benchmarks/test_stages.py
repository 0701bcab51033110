"""What a run is cut into by what Spark tells of it."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lab.benchmarks.batch import MINUTES
from lab.benchmarks.stages import (
    CPU,
    Run,
    batch_of,
    batches,
    logged,
    parts_of,
    stages_of,
    table_rows,
)
from lab.registry import Options


def completed(begun: int, ended: int, cpu: int) -> dict[str, object]:
    info = {"Submission Time": begun, "Completion Time": ended}
    counted = [{"Name": CPU, "Value": cpu}, {"Name": "rows", "Value": "900000000"}, {"ID": 3}]
    return {"Event": "SparkListenerStageCompleted", "Stage Info": {**info, "Accumulables": counted}}


EVENTS: list[dict[str, Any]] = [
    {"Event": "SparkListenerApplicationStart"},
    completed(1_000_520, 1_000_600, 50_000_000),
    completed(1_000_200, 1_000_500, 400_000_000),
    completed(2_000_000, 2_000_100, 1),
]


def test_a_run_is_cut_where_its_stages_begin_and_end() -> None:
    run = Run("mixed", "ours", 1000.0, 1000.63, {"the call": 0.15})
    parts = parts_of(run, list(stages_of(EVENTS)))
    assert {name: round(seconds, 3) for name, (seconds, _) in parts.items()} == {
        "the call": 0.15,
        "until stage 1": 0.05,
        "stage 1": 0.3,
        "stage 2": 0.08,
        "else": 0.05,
        "in all": 0.63,
    }
    assert parts["stage 1"][1] == pytest.approx(0.4)
    *some, (whole, _) = parts.values()
    assert sum(seconds for seconds, _ in some) == pytest.approx(whole)


def test_rows_are_medians_of_all_rounds_of_a_side() -> None:
    runs = [Run("mixed", "ours", 10 * n, 10 * n + 4, {"the call": n}) for n in (1, 2, 4)]
    runs.append(Run("mixed", "floor", 60, 62, {"the call": 1}))
    found = {(side, part): seconds for _, side, part, seconds, _ in table_rows(runs, [])}
    assert found["ours", "the call"] == 2
    assert found["floor", "the call"] == 1
    assert found["ours", "in all"] == 4


def test_a_batch_of_a_stream_is_planned_and_logged_before_its_stages() -> None:
    took = {"queryPlanning": 20, "latestOffset": 10, "getBatch": 1, "walCommit": 30}
    progress = {
        "timestamp": "1970-01-01T00:16:40.000Z",
        "durationMs": {**took, "addBatch": 500, "commitOffsets": 40, "triggerExecution": 650},
    }
    run = batch_of(progress, "mixed-100", "auto")
    assert (run.begun, run.ended) == (1000.0, 1000.65)
    assert run.before == pytest.approx({"planning": 0.02, "log and offsets": 0.041})
    parts = parts_of(run, list(stages_of(EVENTS)))
    assert parts["else"][0] == pytest.approx(0.07)


def test_only_the_files_of_events_are_read(tmp_path: Path) -> None:
    log = tmp_path / "eventlog_v2_local-1"
    log.mkdir()
    (log / "events_1_local-1").write_text("".join(f"{json.dumps(each)}\n" for each in EVENTS))
    (log / "appstatus_local-1").touch()
    (log / ".events_1_local-1.crc").write_bytes(b"crc\0")
    assert list(logged(tmp_path)) == EVENTS


def test_rounds_to_warm_up_do_not_count(spark: SparkSession, tmp_path: Path) -> None:
    runs = list(batches("mixed", spark, Options(rows=2_000, repeat=2, data=tmp_path)))
    assert [run.side for run in runs] == ["auto", MINUTES] * 2
    for before, run in pairwise(runs):
        assert before.ended <= run.begun
    for run in runs:
        assert 0 < run.before["the call"] < run.ended - run.begun

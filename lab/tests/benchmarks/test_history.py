"""The benchmark of streams that start from history runs."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from lab.benchmarks import history
from lab.registry import Options


@pytest.mark.long
def test_every_side_runs(
    streams: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "SETS", {"few keys": 3})
    console = Console(record=True, width=120)
    console.print(history.measure("few keys", streams, Options(data=tmp_path, rows=500, repeat=1)))
    printed = console.export_text()
    for side in (history.BATCH, history.RESULTS, history.HISTORY, history.NOTHING):
        assert side in printed

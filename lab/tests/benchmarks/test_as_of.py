"""The benchmark of trailing windows runs, and its sides compute the same."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from lab.benchmarks import as_of
from lab.registry import Options


@pytest.mark.long
def test_every_side_runs(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(as_of, "SETS", {"fifty keys": 3, "grain": 1})
    options = Options(data=tmp_path, repeat=1)
    console = Console(record=True, width=120)
    console.print(as_of._measure("fifty keys", 500, spark, options))
    console.print(as_of._measure_grain("grain", 500, spark, options))
    printed = console.export_text()
    for side in (
        as_of.FLOOR,
        as_of.OURS,
        as_of.IN_PROCESS,
        as_of.DUCKDB,
        as_of.RANGE,
        "7 days, grain",
    ):
        assert side in printed

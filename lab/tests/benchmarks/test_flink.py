"""The Flink benchmark: its files hold the same events, and it says where Flink is absent."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from lab.benchmarks import flink
from lab.benchmarks.stream import BATCHES, slice_files
from lab.benchmarks.workload import Events


def test_csv_files_hold_the_same_events(tmp_path: Path) -> None:
    folder = slice_files(Events(rows=80, keys=3), tmp_path)
    made = sorted(flink.csv_files(folder).glob("*.csv"))
    assert len(made) == BATCHES
    names = csv.ReadOptions(column_names=["ts", "device", "value"])
    for own, file in zip(sorted(folder.glob("*.parquet")), made, strict=True):
        given, read = pq.read_table(own), csv.read_csv(file, names)
        assert read.column("device").to_pylist() == given.column("device").to_pylist()
        assert read.column("value").to_pylist() == given.column("value").to_pylist()
        times = read.column("ts").cast("timestamp[us]").cast("int64")
        assert times.to_pylist() == given.column("ts").cast("int64").to_pylist()
        assert own.stat().st_mtime == file.stat().st_mtime


@pytest.mark.parametrize("python", ["", "/nowhere/python", "/bin/false"])
def test_says_that_flink_is_absent(
    python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(flink.PYTHON, python)
    said = flink.run_flink("mixed", tmp_path, tmp_path, 1)
    assert isinstance(said, str)
    assert said.startswith("Flink is absent")

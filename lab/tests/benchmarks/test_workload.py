"""The events of the benchmarks are seeded, and made once."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lab.benchmarks.workload import Events


def test_events_are_seeded_and_made_once(tmp_path: Path) -> None:
    events = Events(rows=5_000, keys=7)
    path = events.file(tmp_path)
    made = path.stat().st_mtime_ns
    assert events.file(tmp_path).stat().st_mtime_ns == made
    table = pq.read_table(path)
    assert table.num_rows == 5_000
    assert pa.compute.count_distinct(table["device"]).as_py() == 7
    span = (table["ts"][-1].as_py() - table["ts"][0].as_py()).total_seconds()
    assert span == pytest.approx(50, abs=1)
    assert pq.read_table(events.file(tmp_path / "again")).equals(table)

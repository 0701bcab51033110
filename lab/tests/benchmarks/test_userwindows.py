"""The user-windows benchmark: its sides count the same results."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

import muntin as mt
from lab.benchmarks.userwindows import SETS, _bulk, run
from lab.benchmarks.workload import Events
from lab.registry import Options
from muntin.data_windows import evaluate
from muntin.errors import StrategyError


@pytest.mark.parametrize("name", sorted(SETS))
def test_arrays_and_records_give_as_many_windows(name: str, tmp_path: Path) -> None:
    file = Events(rows=1_500, keys=20).file(tmp_path)
    table = pq.read_table(file)
    micros = table.column("ts").combine_chunks().view(pa.int64())
    records = table.set_column(0, "ts", micros).to_pylist()
    rows = list(evaluate(records, "ts", SETS[name].windows, [mt.count()], "device"))
    assert _bulk(SETS[name], file) == len(rows) > 0


def test_an_unknown_set_is_refused() -> None:
    with pytest.raises(StrategyError, match="unknown set 'session'"):
        run(Options(parts=("session",)), Console())

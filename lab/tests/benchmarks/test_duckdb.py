"""Both sides of the DuckDB race agree, and the command prints them."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer import Typer
from typer.testing import CliRunner

from lab.benchmarks.duckdb import KNOWN, naive, polars_rows
from lab.benchmarks.workload import Events, query_of
from muntin.cli.lab import bench
from muntin.engines.duckdb import connect
from muntin_testing.running import in_process
from muntin_testing.two_engines import assert_same, by_instance, planned


@pytest.mark.parametrize("name", KNOWN)
def test_naive_and_rewritten_rows_agree(name: str, tmp_path: Path) -> None:
    table = pq.read_table(Events(rows=300, keys=3, rate=1).file(tmp_path))
    query = query_of(name)
    connection = connect()
    connection.register("events", table)
    theirs = connection.sql(naive(query, "events")).to_arrow_table()
    ours = in_process(planned(query), query, table)
    found, expected = (by_instance(t.to_pylist(), ("device",)) for t in (ours, theirs))
    assert_same(found, expected, name)


@pytest.mark.parametrize("name", KNOWN)
def test_rows_of_polars_agree(name: str, tmp_path: Path) -> None:
    pytest.importorskip("polars")
    table = pq.read_table(Events(rows=300, keys=3, rate=1).file(tmp_path))
    query = query_of(name)
    theirs = {
        (row["window_id"], row["device"], row["ts"]): (row["low"], row["high"])
        for row in polars_rows(table, query).to_dicts()
    }
    ours = {
        (row["window_id"], row["device"], row["window"]["start"]): (row["low"], row["high"])
        for row in in_process(planned(query), query, table).to_pylist()
    }
    assert len(ours) > 50
    assert theirs == ours


def test_the_command(tmp_path: Path) -> None:
    app = Typer()
    app.command()(bench)
    options = ["duckdb", "--rows", "3000", "--repeat", "1", "--data", str(tmp_path)]
    result = CliRunner().invoke(app, options)
    assert result.exit_code == 0, result.output
    assert "mixed" in result.output
    assert "naive, sample" in result.output
    assert "floor" in result.output

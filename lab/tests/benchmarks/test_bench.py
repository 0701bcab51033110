"""Benchmarks: seeded data made once, sides in turn, and both sides of the DuckDB race agree."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer import Typer
from typer.testing import CliRunner

from lab.benchmarks import BENCHMARKS, benchmark_named
from lab.benchmarks.duckdb import KNOWN, naive
from lab.benchmarks.events import Events
from lab.benchmarks.race import race
from muntin.cli.bench import bench
from muntin.cli.window_sets import query_of
from muntin.engines.duckdb import connect
from muntin.errors import StrategyError
from muntin_testing.running import in_process
from muntin_testing.two_engines import assert_same, by_instance, planned


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


def test_sides_run_in_turn_and_each_begins_a_round() -> None:
    log: list[str] = []

    def side(name: str) -> Callable[[], int]:
        def run() -> int:
            log.append(name)
            return ord(name)

        return run

    race({"a": side("a"), "b": side("b")}, repeat=2)
    assert log == ["a", "b", "b", "a", "a", "b"]


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


def test_the_command(tmp_path: Path) -> None:
    app = Typer()
    app.command()(bench)
    options = ["duckdb", "--rows", "3000", "--repeat", "1", "--data", str(tmp_path)]
    result = CliRunner().invoke(app, options)
    assert result.exit_code == 0, result.output
    assert "mixed" in result.output
    assert "naive, sample" in result.output


def test_unknown_names() -> None:
    assert "duckdb" in BENCHMARKS
    with pytest.raises(StrategyError, match="unknown benchmark 'duckbd': did you mean 'duckdb'"):
        benchmark_named("duckbd")


def test_planning_prints_seconds_and_steps() -> None:
    app = Typer()
    app.command()(bench)
    options = ["planning", "--rows", "20", "--repeat", "1", "--set", "giants"]
    result = CliRunner().invoke(app, options)
    assert result.exit_code == 0, result.output
    assert "giants" in result.output
    assert "left out or refused" in result.output

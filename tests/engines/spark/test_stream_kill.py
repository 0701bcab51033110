"""Killed with -9 in the middle of a stream and started again: no row lost, none twice."""

import json
import os
import signal
import time
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import psycopg
import pytest
from deltalake import DeltaTable
from psycopg.rows import dict_row
from pyspark.sql import DataFrame, Row, SparkSession

import muntin as mt
from muntin_testing.kill_query import DSN, FEATURES, QUERY, RECORDS, SCHEMA, features, run
from muntin_testing.oracle import differences, rows_of_window
from muntin_testing.postgres_server import PostgresServer
from muntin_testing.processes import PATIENCE, started
from muntin_testing.streams import written

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).with_name("stream_run.py")
START = datetime(2024, 1, 1)
OPERATORS = ("native", "bucketed", "records", *FEATURES)
ALL = [f"{name}-{sink}" for name in OPERATORS for sink in ("file", "each")]
"""Every operator into every sink of Spark's."""
SINKS = ["native-postgres", "native-delta", "bucketed-postgres", "records-delta"]
"""Operators into sinks of ours."""


def files(spark: SparkSession, count: int, folder: Path) -> None:
    """Rows out of order within the watermark, and a last one that lets all windows end."""
    random = Random(count)
    batches = [
        [
            (
                START + timedelta(seconds=8 * batch + random.uniform(-4, 8)),
                random.choice(["a", "b", "c", None]),
                random.randrange(1000),
            )
            for _ in range(12)
        ]
        for batch in range(count)
    ]
    batches.append([(START + timedelta(days=1), "end", 0)])
    written(spark, batches, SCHEMA, folder / "files")


def committed(folder: Path) -> int:
    """How many batches all sinks together have committed."""
    return sum(1 for log in folder.glob("checkpoints/*/commits/*") if log.name.isdigit())


def killed(folder: Path, names: list[str], random: Random) -> None:
    """Run until a few more batches are committed, and a moment longer, then kill -9."""
    before, more = committed(folder), random.randrange(1, len(names) + 1)
    process = started(SCRIPT, folder, *names)
    limit = time.monotonic() + PATIENCE
    while committed(folder) < before + more:
        assert process.poll() is None, (folder / "log").read_text()[-3000:]
        assert time.monotonic() < limit, "no batch was committed"
        time.sleep(0.02)
    time.sleep(random.uniform(0, 0.6))
    assert process.poll() is None, "it ended before it could be killed: more files are needed"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def survives(spark: SparkSession, folder: Path, names: list[str], kills: int) -> None:
    files(spark, 2 * kills + 1, folder)
    random = Random(f"{kills} kills")
    for _ in range(kills):
        killed(folder, names, random)
    run(spark, folder, names)
    table = (
        spark.read.schema(SCHEMA).parquet(str(folder / "files")).where("k IS NULL OR k <> 'end'")
    )
    for name in names:
        operator = name.partition("-")[0]
        found = [row for row in results(spark, folder, name) if row["k"] != "end"]
        if operator in FEATURES:
            expected = [r for r in undisturbed(spark, folder, name, table) if r["k"] != "end"]
            assert Counter(map(tuple, found)) == Counter(map(tuple, expected)), name
        else:
            records = operator == "records"
            judge = mt.optimize(RECORDS).apply(table) if records else rows_of_window(table, QUERY)
            expected = judge.collect()
            assert differences(found, expected, 1) == [], name
        assert len(expected) > 8 * kills
        print(f"{name}: {len(expected)} rows equal after {kills} kills")


def undisturbed(spark: SparkSession, folder: Path, name: str, table: DataFrame) -> list[Row]:
    """The features of a batch; on arrival they depend on batches, so of a stream that nobody kills.

    It has the batches of the one that was killed. Usually that is one file each, but Spark notes a
    file as taken before it notes the batch: killed between the two, it has two files in the next.
    """
    operator = name.partition("-")[0]
    if operator != "arrival":
        return features(table, operator).collect()
    alone, read = folder / f"undisturbed-{name}", spark.read.schema(SCHEMA)
    batches = [
        [tuple(row) for row in read.parquet(*paths).collect()]
        for paths in taken(folder / "checkpoints" / name)
    ]
    written(spark, batches, SCHEMA, alone / "files")
    run(spark, alone, ["arrival-file"])
    return results(spark, alone, "arrival-file")


def taken(checkpoint: Path) -> list[list[str]]:
    """The files of every batch that had any, in order, as the checkpoint of a query tells."""
    paths: dict[int, str] = {}
    for log in (checkpoint / "sources" / "0").iterdir():
        if not log.name.startswith("."):  # that of a checksum
            for line in log.read_text().splitlines()[1:]:
                entry = json.loads(line)
                paths[entry["batchId"]] = entry["path"]
    offsets = [log for log in (checkpoint / "offsets").iterdir() if log.name.isdigit()]
    last, found = -1, []
    for log in sorted(offsets, key=lambda each: int(each.name)):
        newest = json.loads(log.read_text().splitlines()[-1])["logOffset"]
        own = [paths[number] for number in range(last + 1, newest + 1)]
        last = newest
        if own:
            found.append(own)
    assert sum(map(len, found)) == len(paths), "each file is in one batch"
    return found


def results(spark: SparkSession, folder: Path, name: str) -> list[Row]:
    """What a query has left behind."""
    target = folder / "out" / name
    if name.endswith("-postgres"):
        with psycopg.connect(os.environ[DSN], row_factory=dict_row) as connection:
            rows = connection.execute(f'SELECT * FROM "{name}"'.encode()).fetchall()
    elif name.endswith("-delta"):
        rows = DeltaTable(str(target)).to_pyarrow_table().to_pylist()
    else:
        return spark.read.parquet(str(target)).drop("batch").collect()
    return [as_result(row) for row in rows]


def as_result(row: dict[str, Any]) -> Row:
    """A row of a sink as a result: its window is a struct again."""
    start, end = (row.pop(f"window_{b}").replace(tzinfo=None) for b in ("start", "end"))
    return Row(window_id=row.pop("window_id"), window=Row(start=start, end=end), **row)


def test_a_kill(streams: SparkSession, tmp_path: Path) -> None:
    """One, by default; what goes on is the session of the tests."""
    survives(streams, tmp_path, ["native-file", "bucketed-each", "as_of-file"], 1)


@pytest.fixture
def dsn(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """The server, for this process and those that it starts."""
    monkeypatch.setenv(DSN, postgres.dsn)
    for name in SINKS:
        postgres.query(f'DROP TABLE IF EXISTS "{name}"')
    return postgres.dsn


@pytest.mark.long
@pytest.mark.usefixtures("dsn")
def test_two_kills_into_sinks(streams: SparkSession, tmp_path: Path) -> None:
    survives(streams, tmp_path, SINKS[:2], 2)


@pytest.mark.long
@pytest.mark.usefixtures("dsn")
def test_twenty_kills_into_sinks(streams: SparkSession, tmp_path: Path) -> None:
    survives(streams, tmp_path, SINKS, 20)


@pytest.mark.long
def test_a_kill_of_two_streams_and_of_rows_served_at_once(
    streams: SparkSession, tmp_path: Path
) -> None:
    survives(streams, tmp_path, ["labels-each", "arrival-each"], 1)


@pytest.mark.long
def test_a_kill_before_a_batch_is_noted_puts_two_files_into_one(
    streams: SparkSession, tmp_path: Path
) -> None:
    """As the log of a source with one file more than the batches leaves it behind."""
    checkpoint, name = tmp_path / "checkpoints" / "arrival-each", "arrival-each"
    files(streams, 3, tmp_path)
    run(streams, tmp_path, [name])
    for folder, first in (("offsets", 2), ("commits", 2), ("sources/0", 3)):
        for log in (checkpoint / folder).iterdir():
            if int(log.name.strip(".").partition(".")[0]) >= first:
                log.unlink()
    run(streams, tmp_path, [name])
    assert [len(paths) for paths in taken(checkpoint)] == [1, 1, 2]
    table = streams.read.schema(SCHEMA).parquet(str(tmp_path / "files"))
    found = results(streams, tmp_path, name)
    expected = undisturbed(streams, tmp_path, name, table)
    assert Counter(map(tuple, found)) == Counter(map(tuple, expected))
    assert len(found) == 37


@pytest.mark.long
def test_twenty_kills(streams: SparkSession, tmp_path: Path) -> None:
    survives(streams, tmp_path, ALL, 20)

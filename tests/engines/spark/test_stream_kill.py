"""Killed with -9 in the middle of a stream and started again: no row lost, none twice."""

import os
import signal
import time
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

import muntin as mt
from muntin_testing.kill_query import QUERY, RECORDS, SCHEMA, run
from muntin_testing.oracle import differences, rows_of_window
from muntin_testing.processes import PATIENCE, started
from muntin_testing.streams import written

SCRIPT = Path(__file__).with_name("stream_run.py")
START = datetime(2024, 1, 1)
ALL = [f"{name}-{sink}" for name in ("native", "bucketed", "records") for sink in ("file", "each")]
"""Every operator into every sink."""


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
        records = name.startswith("records")
        judge = mt.optimize(RECORDS).apply(table) if records else rows_of_window(table, QUERY)
        expected = judge.collect()
        assert len(expected) > 8 * kills
        rows = spark.read.parquet(str(folder / "out" / name))
        found = rows.drop("batch").where("k IS NULL OR k <> 'end'").collect()
        assert differences(found, expected, 1) == [], name


def test_a_kill(streams: SparkSession, tmp_path: Path) -> None:
    """One, by default; what goes on is the session of the tests."""
    survives(streams, tmp_path, ["native-file", "bucketed-each"], 1)


@pytest.mark.long
def test_twenty_kills(streams: SparkSession, tmp_path: Path) -> None:
    survives(streams, tmp_path, ALL, 20)

"""Killed with -9 while the history is being taken in: the next start takes it in again, once."""

import os
import signal
import time
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from muntin_testing.history_query import QUERY, SCHEMA, UNTIL, run
from muntin_testing.oracle import differences, rows_of_window
from muntin_testing.processes import PATIENCE, started
from muntin_testing.streams import written

SCRIPT = Path(__file__).with_name("history_run.py")


def rows(random: Random, since: int, until: int, count: int) -> list[tuple[Any, ...]]:
    """Rows between two seconds before and after `until`."""
    return [
        (UNTIL + timedelta(seconds=random.uniform(since, until)), random.choice("abc"), i)
        for i in range(count)
    ]


def kill_in_first_batch(folder: Path, wait: float) -> None:
    """Kill it some time after it began with its first micro-batch, and before that has ended."""
    process = started(SCRIPT, folder)
    limit = time.monotonic() + PATIENCE
    while not (folder / "checkpoint" / "offsets" / "0").exists():
        assert process.poll() is None, (folder / "log").read_text()[-3000:]
        assert time.monotonic() < limit, "no batch was begun"
        time.sleep(0.01)
    time.sleep(wait)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not (folder / "checkpoint" / "commits" / "0").exists(), "it was killed too late"


def survives(spark: SparkSession, folder: Path, kills: int) -> None:
    random = Random(kills)
    past = rows(random, -120, 20, 2_000)
    batches = [rows(random, -20, 60, 50), rows(random, 0, 120, 50)]
    end = (UNTIL + timedelta(days=1), "end", 0)
    spark.createDataFrame(past, SCHEMA).write.parquet(str(folder / "past"))
    written(spark, [*batches, [end]], SCHEMA, folder / "files")
    for _ in range(kills):
        kill_in_first_batch(folder, random.uniform(0, 0.8))
    run(spark, folder)
    taken = [row for row in past if row[0] < UNTIL]
    taken += [row for batch in batches for row in batch if row[0] >= UNTIL]
    union = spark.createDataFrame(taken, SCHEMA)
    expected = rows_of_window(union, QUERY).where(F.col("window.end") > F.lit(UNTIL)).collect()
    found = spark.read.parquet(str(folder / "out")).where("k <> 'end'").collect()
    assert len(expected) > 20
    assert differences(found, expected, 1) == []
    print(f"{len(expected)} rows equal after {kills} kills")


@pytest.mark.slow
def test_a_kill(streams: SparkSession, tmp_path: Path) -> None:
    survives(streams, tmp_path, 1)


@pytest.mark.long
def test_twenty_kills(streams: SparkSession, tmp_path: Path) -> None:
    survives(streams, tmp_path, 20)

"""Streams of rows with trailing windows: scripts, which rows are late, and how results compare."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

import muntin as mt
from muntin.model.choices import Closed
from muntin_testing.values import same

START, MOMENT = datetime(2024, 1, 1), timedelta(microseconds=1)
SCHEMA = "ts timestamp, k string, n int, v int, x double, note struct<a: int, b: array<string>>"
DELAY = 20
CLOSED: tuple[Closed, ...] = ("left", "right", "both", "none")
WINDOWS = [
    "5 seconds",
    "1 minute",
    mt.trailing("20 seconds", delay="7 seconds", id="delayed"),
    mt.trailing(rows=3),
]
MERGED = [
    mt.count(),
    mt.sum("v").filter("n % 3 > 0").alias("total"),
    mt.max("x").alias("most"),
    mt.stddev_pop("v").alias("spread"),
    mt.max_by("k", "n").alias("at"),
]
VALUES = [mt.count_distinct("v").alias("values"), mt.median("x").alias("median")]
Batches = list[list[tuple[Any, ...]]]


def batches(count: int, seed: int = 1, late: int = 0) -> Batches:
    """Rows of several keys around a clock that goes on; the last lets time pass."""
    random, found, n = Random(seed), [], 0
    for i in range(count):
        rows: list[tuple[Any, ...]] = []
        for _ in range(30):
            n += 1
            time = START + timedelta(seconds=20 * i + random.randrange(20))
            time += random.choice([0, 0, n]) * MOMENT
            time -= timedelta(seconds=random.choice([0] * 9 + [late]))
            known = None if random.random() < 0.05 else time
            key = random.choice([None, "a", "b", "c", f"only {i}"])
            values = (random.choice([None, 1, 5, -3]), random.choice([None, 2.5, 1.5]))
            rows.append((known, key, n, *values, (n, [str(n), None])))
        found.append(rows)
    return [*found, [(START + timedelta(days=1), "end", 10**6, 1, 1.0, None)]]


def admitted(script: Batches, pauses: Sequence[int] = ()) -> Batches:
    """The rows that are not late."""
    return judged([script], [DELAY], pauses)[0]


def judged(
    scripts: Sequence[Batches], delays: Sequence[int], pauses: Sequence[int] = ()
) -> list[Batches]:
    """The rows of streams of one query that are not late.

    A batch is judged by the watermark of the one before, which is the least of all streams. After a
    pause, at the end of a run, the watermark has caught up with all rows before it.
    """
    last = watermark = START - timedelta(days=9)
    own, found = [watermark] * len(scripts), []
    for number, batch in enumerate(zip(*scripts, strict=True)):
        if number in pauses:
            last = watermark
        found.append([[r for r in rows if r[0] is None or r[0] > last] for rows in batch])
        last = watermark
        for i, (rows, delay) in enumerate(zip(batch, delays, strict=True)):
            times = [row[0] for row in rows if row[0] is not None]
            newest = max(t.replace(microsecond=t.microsecond // 1000 * 1000) for t in times)
            own[i] = max(own[i], newest - timedelta(seconds=delay))
        watermark = min(own)
    return [list(each) for each in zip(*found, strict=True)]


def as_pairs(found: DataFrame) -> DataFrame:
    """Sides differ in columns: a row as its number and everything as one text."""
    return found.select("n", F.to_json(F.struct("*"), {"ignoreNullFields": "false"}))


def compare(found: Sequence[Row], wanted: DataFrame) -> int:
    """Both have the same rows, once; how many there are. Floats may differ in the last digits."""
    ours = {row[0]: json.loads(row[1]) for row in found}
    theirs = {row[0]: json.loads(row[1]) for row in as_pairs(wanted).collect()}
    assert len(ours) == len(found)
    assert ours.keys() == theirs.keys()
    for n, row in ours.items():
        wrong = [c for c in row if not same(row[c], theirs[n][c], 1e-9)]
        assert not wrong, f"row {n}: {[(c, row[c], theirs[n][c]) for c in wrong]}"
    return len(ours)


def run(rows: DataFrame, checkpoint: Path) -> tuple[list[list[Row]], StreamingQuery]:
    """What every batch gave until all files were read, and the query."""
    found: list[list[Row]] = []
    query = (
        rows.writeStream.foreachBatch(lambda batch, _: found.append(batch.collect()))
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return found, query

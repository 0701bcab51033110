"""Every stream operator on everyday queries: each batch appends the rows of brute force."""

from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from conformance.cases import Case, cases_of
from conformance.census import KINDS, traits
from conformance.comparison import EPOCH, by_place, differences
from conformance.everyday import Question, length, question
from conformance.oracle import Row, Rows, appended, expected
from conformance.selection import SEED, many
from conformance.spark_runners import STREAM, Runner, by_spark_itself
from muntin_testing.streams import Side, played, streamed, written

SCHEMA = "ts timestamp, k string, part int, n bigint, x double, o bigint, s string"
SECOND = 1_000_000
BATCHES = 4
TELLING = (
    "slices → slices",
    "slices → open slice",
    "tumbling ← hopping",
    "hopping ← hopping, disjoint",
    "window ← hopping, overlapping",
    "window ← window and slices",
)
"""The kinds of edges that operators are most likely to get wrong."""
QUICK = ("slices → slices", "window ← window and slices")
"""Of which `make test` streams these, and `make test-slow` the others."""


def arriving(asked: Question) -> tuple[list[list[Row]], int]:
    """The rows in about the order of their times, some of them late, and the delay allowed."""
    random = Random(asked.seed)
    rows = sorted(asked.rows, key=lambda row: (row["ts"] is not None, row["ts"]))
    batches: list[list[Row]] = [[] for _ in range(BATCHES)]
    for i, row in enumerate(rows):
        late = random.choice([0, 0, 0, 0, 1, 2])
        batches[min(i * BATCHES // len(rows) + late, BATCHES - 1)].append(row)
    slide = min(length(slide) for _, slide, _ in asked.windows)
    return batches, random.choice([0, slide // 2, 3 * slide]) // SECOND * SECOND


def streamable(seed: str, kind: str) -> tuple[list[Case], list[list[Row]], int]:
    """Plans with this kind of edge, and batches of which several give rows and some are late."""
    for turn in range(1_000):
        asked = question(f"{seed}/{kind}/{turn}", most_rows=30)
        if len(asked.rows) < 3 * BATCHES:
            continue
        cases = [c for c in cases_of(asked) if kind in traits(c.plan, c.query)]
        batches, delay = arriving(asked)
        found = appended(asked.asked(), batches, delay)
        if cases and sum(map(bool, found)) >= 3 and _late(asked, found) >= 3:
            return cases[:2], batches, delay
    raise AssertionError(f"no question of {seed} has an edge {kind}")


def _late(asked: Question, found: list[Rows]) -> int:
    """How many rows that a batch would have are missing or others on the stream."""
    complete = expected(asked.asked(), asked.rows)
    last = max(place[2] for rows in found for place in rows)
    streamed = {place: values for rows in found for place, values in rows.items()}
    return sum(streamed.get(p) != v for p, v in complete.items() if p[2] <= last)


def as_tuple(row: Row) -> tuple[Any, ...]:
    """The row for Spark, which wants instants."""
    time = row["ts"]
    instant = None if time is None else EPOCH + timedelta(microseconds=time)
    return (instant, *list(row.values())[1:])


def as_side(runner: Runner, case: Case) -> Side:
    """What a runner makes of a stream."""

    def run(stream: DataFrame) -> DataFrame:
        rows = runner(case, stream)
        assert rows is not None, "every operator of streams runs every plan"
        return rows

    return run


@pytest.mark.parametrize(
    "kind",
    [
        kind if kind in QUICK else pytest.param(kind, marks=pytest.mark.slow)
        for kind in many(TELLING, KINDS)
    ],
)
def test_every_batch_appends_the_rows_of_brute_force(
    streams: SparkSession, tmp_path: Path, kind: str
) -> None:
    for number in range(many(1, 4)):
        cases, batches, delay = streamable(f"{SEED}/stream/{number}", kind)
        assert_appends(streams, cases, batches, delay, tmp_path / str(number))


def assert_appends(
    spark: SparkSession, cases: list[Case], batches: list[list[Row]], delay: int, folder: Path
) -> None:
    """Every case by every operator, and Spark itself, in one stream: each batch is the oracle's."""
    asked = cases[0].question
    files = written(spark, [list(map(as_tuple, b)) for b in batches], SCHEMA, folder / "files")
    stream = streamed(spark, files, SCHEMA).withWatermark("ts", f"{delay // SECOND} seconds")
    sides = {"spark itself": as_side(by_spark_itself, cases[0])}
    for case in cases:
        for name, runner in STREAM.items():
            sides[f"{case.strategy} by {name}"] = as_side(runner, case)
    found = played(stream, sides, "append", folder / "checkpoint")
    columns = ["window_id", "window", *asked.keys, *(f"a{i}" for i, _ in enumerate(asked.calls))]
    theirs = appended(asked.asked(), batches, delay)
    assert len(found) <= len(theirs)
    for batch, rows in enumerate(theirs):
        given = found[batch] if batch < len(found) else {}
        for side in sides:
            own = [dict(zip(columns, row, strict=True)) for row in given.get(side, ())]
            wrong = differences(by_place(own, asked.keys, side), rows)
            place = f"{asked.seed}, batch {batch}, {side}"
            assert not wrong, "\n".join([f"{place}: {len(wrong)} differ", *wrong[:8]])

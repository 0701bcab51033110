"""Labels and events as two streams: the features of Spark's own joins over what was not late."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, Row, SparkSession

import muntin as mt
from muntin.model.choices import Closed
from muntin_testing.streams import Side, played, streamed, written
from muntin_testing.trailing_streams import (
    DELAY,
    MERGED,
    SCHEMA,
    START,
    VALUES,
    WINDOWS,
    Batches,
    as_pairs,
    batches,
    compare,
    judged,
    run,
)

pytestmark = pytest.mark.slow

LABELS = "asked timestamp, k string, n int, note struct<a: int, b: array<string>>"
BOTH = [DELAY + 7, DELAY]
"""How late labels and events may be, in seconds."""


def labels(events: Batches, late: int) -> Batches:
    """Labels beside events, many at the instant of one; the last lets time pass."""
    random, found, n = Random(len(events)), [], 0
    for number, rows in enumerate(events[:-1]):
        own: list[tuple[Any, ...]] = []
        for row in rows:
            n += 1
            time = START + timedelta(seconds=20 * number + random.randrange(20))
            time = row[0] if row[0] and random.random() < 0.5 else time
            time -= timedelta(seconds=random.choice([0] * 9 + [late]))
            known = None if random.random() < 0.05 else time
            key = random.choice([None, "a", "b", "never", row[1]])
            own.append((known, key, n, (n, [str(n), None])))
        found.append(own)
    return [*found, [(START + timedelta(days=1), "end", 10**6, None)]]


def asked(rows: DataFrame, events: DataFrame, closed: Closed, **more: Any) -> DataFrame:
    """Windows that end anywhere; every second kind also asks for what is computed from values."""
    values = closed in ("right", "both")
    windows: list[Any] = [*WINDOWS[1:], *([] if values else [mt.lifetime("9 seconds", id="late")])]
    options: Any = {
        "aggregates": [*MERGED[:3], *(VALUES if values else [])],
        "keys": "k",
        "where": "v IS NULL OR v > -3",
        "order_by": "n",
        "buckets": 3,
        "operator": "frames",
    }
    found: DataFrame = mt.as_of(
        rows, "asked", windows, closed=closed, events=events, events_time="ts", **options | more
    )
    return found


def streams_of(spark: SparkSession, folder: Path, *scripts: Batches) -> tuple[DataFrame, DataFrame]:
    """Labels and events as streams, one file of each a micro-batch."""
    found = [
        streamed(spark, written(spark, script, schema, folder / schema[:2]), schema)
        for script, schema in zip(scripts, (LABELS, SCHEMA), strict=True)
    ]
    return found[0], found[1]


def tables_of(
    spark: SparkSession, scripts: Sequence[Batches], pauses: Sequence[int] = ()
) -> tuple[DataFrame, DataFrame]:
    """Labels and events that are not late, as tables."""
    kept = [
        spark.createDataFrame([row for rows in script for row in rows], schema)
        for script, schema in zip(judged(scripts, BOTH, pauses), (LABELS, SCHEMA), strict=True)
    ]
    return kept[0], kept[1]


@pytest.mark.parametrize(
    "kinds", [("left",), pytest.param(("right", "both", "none"), marks=pytest.mark.long)]
)
def test_restarted_streams_have_the_features_of_a_batch(
    streams: SparkSession, tmp_path: Path, kinds: tuple[Closed, ...]
) -> None:
    """Each stream has a watermark of its own, and the lesser of both decides."""
    events, checkpoint = batches(2, seed=3, late=90), tmp_path / "checkpoint"
    script = labels(events, 90)
    found: dict[str, list[Row]] = {closed: [] for closed in kinds}

    def side(closed: Closed) -> Side:
        def ask(rows: DataFrame) -> DataFrame:
            own = rows.withWatermark("asked", f"{BOTH[0]} seconds")
            return as_pairs(asked(own, happened, closed, watermark=f"{BOTH[1]} seconds"))

        return ask

    sides: dict[str, Side] = {closed: side(closed) for closed in kinds}
    for until in (1, None):
        rows, happened = streams_of(streams, tmp_path, script[:until], events[:until])
        for batch in played(rows, sides, "append", checkpoint):
            for closed, own in batch.items():
                found[closed] += own
    kept, known = tables_of(streams, [script, events], [1])
    assert kept.count() < sum(map(len, script)), "some labels are late"
    assert known.count() < sum(map(len, events)), "some events are late"
    for closed in kinds:
        wanted = asked(kept, known, closed, operator="range").where("n < 1000000")
        assert compare(found[closed], wanted) == kept.count() - 1, "the last lets time pass"


@pytest.mark.slow
def test_on_arrival_labels_have_what_has_arrived(streams: SparkSession, tmp_path: Path) -> None:
    """Late rows of both are counted, and other events do not go on from the state."""
    events, checkpoint = batches(3, seed=5, late=90), tmp_path / "checkpoint"
    script = labels(events, 90)
    given: Any = {"time": "asked", "windows": ["5 seconds", "1 minute"], "keys": "k"}
    given["aggregates"] = [mt.count(), mt.sum("v").alias("total")]
    options: Any = {"output": "arrival", "buckets": 3, "watermark": f"{DELAY} seconds"}
    rows, happened = streams_of(streams, tmp_path, script, events)
    live = mt.as_of(rows, **given, events=happened, events_time="ts", **options)
    found, query = run(live, checkpoint)
    fresh, known = judged([script, events], [DELAY, DELAY])
    arrived: list[tuple[Any, ...]] = []
    for each, own, new in zip(found, fresh, known, strict=False):
        arrived += new
        asking = pa.table({"asked": [r[0] for r in own], "k": [r[1] for r in own]})
        asking = asking.append_column("n", pa.array([r[2] for r in own]))
        table = pa.table({"ts": [r[0] for r in arrived], "k": [r[1] for r in arrived]})
        table = table.append_column("v", pa.array([r[3] for r in arrived], pa.int64()))
        wanted = mt.as_of(asking, **given, events=table, events_time="ts").to_pylist()
        theirs = {row["n"]: row for row in wanted}
        assert sorted(row["n"] for row in each) == sorted(theirs)
        for row in each:
            names = [name for name in row.asDict() if "__" in name]
            assert [row[name] for name in names] == [theirs[row["n"]][name] for name in names]
    metrics = [m for p in query.recentProgress for m in p["observedMetrics"].values()]
    late = sum(map(len, [*script, *events])) - sum(map(len, [*fresh, *known]))
    assert sum(m["dropped"] or 0 for m in metrics if "dropped" in m) == late > 0
    later = [[(START + timedelta(days=2), *script[0][0][1:])]]
    rows, happened = streams_of(streams, tmp_path, script + later, events)
    moved = happened.withColumnRenamed("ts", "at")
    other = mt.as_of(rows, **given, events=moved, events_time="at", **options)
    said = "for the events another stream, by ts, and the query has another stream, by at"
    with pytest.raises(StreamingQueryException, match=said):
        run(other, checkpoint)


def test_what_two_streams_cannot_be_asked(streams: SparkSession, tmp_path: Path) -> None:
    events = batches(1)
    rows, happened = streams_of(streams, tmp_path, labels(events, 0), events)
    table = streams.createDataFrame(events[0], SCHEMA)
    for said, one, other, watermark in (
        ("rows are a stream and events a table: give events as", rows, table, "1 second"),
        ("rows are a table and events a stream, which has no end", table, happened, "1 second"),
        ("that of the rows has none: give watermark=", rows, happened, None),
        (
            "that of the events has none: give watermark=",
            rows.withWatermark("asked", "1 second"),
            happened,
            None,
        ),
        (
            "time 'asked' already has one",
            rows.withWatermark("asked", "1 second"),
            happened.withWatermark("ts", "1 second"),
            "1 second",
        ),
    ):
        given: Any = {"events": other, "events_time": "ts", "watermark": watermark}
        time = "ts" if one is table else "asked"
        with pytest.raises(mt.MuntinError, match=said):
            mt.as_of(one, time, ["1 minute"], [mt.count()], "k", **given)


def test_explain_says_that_two_streams_meet(streams: SparkSession, tmp_path: Path) -> None:
    events = batches(1)
    rows, happened = streams_of(streams, tmp_path, labels(events, 0), events)
    given: Any = {"events": happened, "events_time": "ts", "watermark": "1 minute"}
    plan = mt.explain(rows, "asked", ["1 hour"], [mt.count()], "k", **given)
    assert plan.explain().splitlines()[:5] == [
        "as of asked: frames, on two streams of Spark",
        "",
        "rows and events meet in one state; the watermark is that of both together",
        "rows wait until the watermark has passed them, then come out once; NumPy on each bucket "
        "of keys",
        "the state keeps the events of the last 1 hour",
    ]

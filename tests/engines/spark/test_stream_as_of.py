"""Trailing windows on a stream: the features of a batch over the rows that were not late."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

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
    admitted,
    as_pairs,
    batches,
    compare,
    run,
)


def asked(rows: DataFrame, closed: Closed, **more: Any) -> DataFrame:
    """Windows that end anywhere; every second kind also asks for what is computed from values."""
    values = closed in ("left", "both")
    windows: list[Any] = [
        *WINDOWS,
        *([] if values else [mt.lifetime(), mt.lifetime("9 seconds", id="late")]),
    ]
    options: Any = {
        "aggregates": [*MERGED, *(VALUES if values else [])],
        "keys": "k",
        "where": "v IS NULL OR v > -5",
        "order_by": "n",
        "watermark": f"{DELAY} seconds",
        "buckets": 3,
        "operator": "frames",
    }
    found: DataFrame = mt.as_of(rows, "ts", windows, closed=closed, **options | more)
    return found


def side(closed: Closed) -> Side:
    return lambda rows: as_pairs(asked(rows, closed))


@pytest.mark.parametrize(
    "kinds",
    [
        pytest.param(("left", "right"), marks=pytest.mark.slow),
        pytest.param(("both", "none"), marks=pytest.mark.long),
    ],
)
def test_a_restarted_stream_has_the_features_of_a_batch(
    streams: SparkSession, tmp_path: Path, kinds: tuple[Closed, ...]
) -> None:
    script, checkpoint = batches(4, seed=3, late=70), tmp_path / "checkpoint"
    sides: dict[str, Side] = {closed: side(closed) for closed in kinds}
    found: dict[str, list[Row]] = {closed: [] for closed in kinds}
    for part in (script[:2], script):
        files = written(streams, part, SCHEMA, tmp_path / "files")
        for batch in played(streamed(streams, files, SCHEMA), sides, "append", checkpoint):
            for closed, rows in batch.items():
                found[closed] += rows
    kept = [row for rows in admitted(script, [2]) for row in rows]
    assert len(kept) < sum(map(len, script)), "some are late"
    table = streams.createDataFrame(kept, SCHEMA)
    for closed in kinds:
        wanted = asked(table, closed).where("n < 1000000")
        assert compare(found[closed], wanted) == len(kept) - 1, "the last lets time pass"


@pytest.mark.slow
def test_on_arrival_rows_have_what_has_arrived(streams: SparkSession, tmp_path: Path) -> None:
    """Late rows are counted, the state shrinks, and no other question goes on from it."""
    script, checkpoint = batches(3, seed=5, late=70), tmp_path / "checkpoint"
    windows, aggregates = ["5 seconds", "1 minute"], [mt.count(), mt.sum("v").alias("total")]
    given: Any = {"time": "ts", "windows": windows, "aggregates": aggregates, "keys": "k"}
    options: Any = {"watermark": f"{DELAY} seconds", "output": "arrival", "buckets": 3}
    files = written(streams, script, SCHEMA, tmp_path / "files")
    stream = streamed(streams, files, SCHEMA)
    found, query = run(mt.as_of(stream, **given, **options), checkpoint)
    known: list[tuple[Any, ...]] = []
    fresh = admitted(script)
    for rows, own in zip(found, fresh, strict=False):
        known += own
        table = pa.table({"ts": [r[0] for r in known], "k": [r[1] for r in known]})
        table = table.append_column("v", pa.array([r[3] for r in known], pa.int64()))
        table = table.append_column("n", pa.array([r[2] for r in known]))
        wanted = {row["n"]: row for row in mt.as_of(table, **given).to_pylist()}
        assert sorted(row["n"] for row in rows) == sorted(r[2] for r in own)
        for row in rows:
            names = [name for name in row.asDict() if "__" in name]
            assert [row[name] for name in names] == [wanted[row["n"]][name] for name in names]
    reports = query.recentProgress
    metrics = [m for p in reports for m in p["observedMetrics"].values()]
    late = sum(map(len, script)) - sum(map(len, fresh))
    assert sum(m["dropped"] or 0 for m in metrics if "dropped" in m) == late > 0
    sizes = [p["stateOperators"][0]["numRowsTotal"] for p in reports]
    assert sizes[-1] < max(sizes)
    last = mt.progress(query)
    assert last is not None
    assert last.state_rows == sizes[-1]
    later = [(START + timedelta(days=2), *script[0][0][1:])]
    files = written(streams, [*script, later], SCHEMA, tmp_path / "files")
    others = mt.as_of(
        streamed(streams, files, SCHEMA), **given | {"windows": ["6 seconds"]}, **options
    )
    said = (
        r"for the windows events in \[t - 5 seconds, t\); .*and the query has events in \[t - 6 s"
    )
    with pytest.raises(StreamingQueryException, match=said):
        run(others, checkpoint)


def test_what_cannot_run_is_refused_with_a_sentence(streams: SparkSession, tmp_path: Path) -> None:
    files = written(streams, batches(1), SCHEMA, tmp_path / "files")
    stream = streamed(streams, files, SCHEMA)
    last = mt.custom("last", lambda v: v, lambda a, b: b, lambda v: v, None, result="int")("v")
    share = mt.ratio(mt.count_distinct("v"), mt.count()).alias("share")
    for said, more in (
        ("this stream has none: give watermark=", {"watermark": None}),
        ("operator 'range' is for batches", {"operator": "range"}),
        ("output 'update' is unknown|unknown output 'update'", {"output": "update"}),
        ("buckets 0 must be a whole number", {"buckets": 0}),
        ("last.* is written in Python", {"aggregates": [last]}),
        (
            "share cannot run on a stream: only Spark's own frames",
            {"aggregates": [mt.count(), share]},
        ),
        ("over window 'lifetime' cannot run on a stream", {"windows": [mt.lifetime()]}),
        ("array<string> is grouped and compared only by Spark", {"keys": "words"}),
    ):
        given = {"time": "ts", "windows": ["1 minute"], "aggregates": VALUES}
        options: Any = {**given, "watermark": "1 second", **more}
        with pytest.raises(mt.MuntinError, match=said):
            mt.as_of(stream.withColumn("words", F.col("note.b")), **options)


def test_explain_says_what_runs_and_what_is_kept(streams: SparkSession, tmp_path: Path) -> None:
    files = written(streams, batches(1), SCHEMA, tmp_path / "files")
    stream = streamed(streams, files, SCHEMA)
    windows: list[Any] = [*WINDOWS, mt.lifetime()]
    plan = mt.explain(stream, "ts", windows, [mt.count()], "k", watermark="1 minute")
    assert plan.explain().splitlines()[:4] == [
        "as of ts: frames, on a stream of Spark",
        "",
        "rows wait until the watermark has passed them, then come out once; NumPy on each bucket "
        "of keys",
        "the state keeps the events of the last 1 minute, the last 3 events of each key, one "
        "partial of each key",
    ]
    with pytest.raises(mt.MuntinError, match="give it the plan of a batch of the same rows"):
        mt.verify(stream, plan)
    served = mt.explain(
        stream, "ts", ["1 hour"], [mt.count()], "k", watermark="1 minute", output="arrival"
    )
    assert "rows come out as they arrive" in repr(served)


@pytest.mark.slow
def test_features_can_be_aggregated_in_the_same_query(
    streams: SparkSession, tmp_path: Path
) -> None:
    """The time of the rows is still the event time of the stream."""
    files = written(streams, batches(2), SCHEMA, tmp_path / "files")
    options: Any = {"watermark": "1 second", "buckets": 1}
    rows = mt.as_of(
        streamed(streams, files, SCHEMA), "ts", ["5 seconds"], [mt.count()], "k", **options
    )
    sums = rows.groupBy(F.window("ts", "10 seconds")).agg(F.sum("count__5_seconds").alias("n"))
    found, _ = run(sums, tmp_path / "checkpoint")
    assert [len(each) for each in found][-1] > 0
    assert sum(len(each) for each in found) == 4

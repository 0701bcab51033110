"""Streams that start from history: their rows are those of one stream over both sides.

The judge is Spark's own window() on a second stream in the same query, whose first file also has
the table's rows before `until`: the same batches, the same watermark, late rows and all.
"""

import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.errors import ColumnError, QueryError, StrategyError
from muntin_testing.oracle import differences, rows_of_window
from muntin_testing.streams import Batches, Side, played, script, streamed, written

START = datetime(2024, 1, 1)
UNTIL = START + timedelta(seconds=127)
"""At no edge of the windows."""
SCHEMA = "ts timestamp, k string, part int, x double, n bigint"
WINDOWS = [
    mt.tumbling("10 seconds"),
    mt.hopping("30 seconds", "10 seconds"),
    mt.hopping("65 seconds", "20 seconds", "5 seconds"),
]
AGGREGATES = [
    mt.sum("n").alias("total"),
    mt.count().alias("rows"),
    mt.min("x").alias("low"),
    mt.avg("n").alias("mean"),
    mt.max_by("k", "n").alias("at"),
    mt.stddev_pop("n").filter("part = 1").alias("spread"),
]
QUERY = mt.query("ts", WINDOWS, AGGREGATES, keys=["k", "part"])
END = (START + timedelta(hours=2), "end", 1, 1.0, 1)

Rows = list[tuple[Any, ...]]


def some_rows(seed: int, since: int, until: int, count: int, *keys: str | None) -> Rows:
    """Rows between two seconds after the start, among them null keys, values and NaN."""
    random = Random(seed)
    return [
        (
            START + timedelta(milliseconds=random.randrange(since * 1000, until * 1000)),
            random.choice(keys),
            random.choice([None, 1, 2]),
            random.choice([None, float("nan"), 1.5, 9.0]),
            1000 * i + random.choice([0, 1]) if random.random() < 0.9 else None,
        )
        for i in range(count)
    ]


PAST = some_rows(1, 0, 150, 300, None, "a", "old")
"""The table goes on after `until`, and its key "old" has no row in the stream."""
BATCHES = [
    some_rows(2, 100, 140, 60, None, "a", "new"),
    some_rows(3, 100, 240, 60, "a"),
    some_rows(4, 120, 240, 60, "a", "late"),
    [END],
]


def history(spark: SparkSession, rows: Rows = PAST, until: datetime = UNTIL) -> mt.History:
    return mt.History(spark.createDataFrame(rows, SCHEMA), until=until.replace(tzinfo=UTC))


def ours(stream: DataFrame, past: mt.History, query: mt.Query = QUERY, **more: Any) -> DataFrame:
    options: dict[str, Any] = {"watermark": "20 seconds", "history": past} | more
    strategy = options.pop("strategy", "shared-pairs")
    rows: DataFrame = mt.optimize(query, strategy).apply(stream, **options)
    return rows


def both_played(
    spark: SparkSession,
    folder: Path,
    past: Rows,
    batches: Sequence[Rows],
    sides: Mapping[str, Side],
    output: str = "append",
    until: datetime = UNTIL,
    judged: mt.Query = QUERY,
    watermark: str = "20 seconds",
    schema: str = SCHEMA,
) -> Batches:
    """What each side gave on the stream, and Spark's own windows on both sides together."""
    rest = [[row for row in batch if row[0] and row[0] >= until] for batch in batches]
    rest[0] = [*(row for row in past if row[0] and row[0] < until), *rest[0]]
    whole = streamed(spark, written(spark, rest, schema, folder / "whole"), schema)
    stream = streamed(spark, written(spark, batches, schema, folder / "files"), schema)
    own = rows_of_window(whole.withWatermark(judged.time, watermark), judged)
    judge = own.where(F.col("window.end") > F.lit(until))
    return played(stream, {"spark": lambda _: judge, **sides}, output, folder / "checkpoint")


def assert_sparks_own(found: Batches, keys: int = 2) -> None:
    for number, batch in enumerate(found):
        for side in batch:
            wrong = differences(batch[side], batch["spark"], keys)
            assert wrong == [], (number, side, wrong[:5])


@pytest.mark.parametrize("name", ["controlled", pytest.param("wcg", marks=pytest.mark.long)])
def test_rows_are_those_of_one_stream(streams: SparkSession, tmp_path: Path, name: str) -> None:
    """By two plans, with more buckets than partitions, and with windows that may come and go."""
    past, control = history(streams), mt.Control(tmp_path / "control", grain="1 second")
    sides: dict[str, Side] = {
        "controlled": lambda stream: ours(stream, past, control=control, buckets=3),
        "wcg": lambda stream: ours(stream, past, strategy="wcg"),
    }
    found = both_played(streams, tmp_path, PAST, BATCHES, {name: sides[name]})
    assert_sparks_own(found)
    rows = [row for batch in found for row in batch[name]]
    assert {row[2] for row in rows} >= {None, "a", "old", "new"}
    assert min(row[1]["end"] for row in rows) > UNTIL
    assert any(row[1]["start"] < UNTIL for row in rows)


@pytest.mark.long
def test_update_mode_tells_of_the_history_first(streams: SparkSession, tmp_path: Path) -> None:
    """An empty history tells nothing: beside it, Spark's own windows from `until` on."""
    past, empty = history(streams), history(streams, [])
    sides = {
        "ours": lambda stream: ours(stream, past, output="update"),
        "empty": lambda stream: ours(stream, empty, output="update"),
        "alone": lambda stream: rows_of_window(
            stream.withWatermark("ts", "20 seconds").where(F.col("ts") >= F.lit(UNTIL)), QUERY
        ),
    }
    found = both_played(streams, tmp_path, PAST, BATCHES[:2], sides, "update")
    for number, batch in enumerate(found):
        assert differences(batch["empty"], batch["alone"], 2) == [], number
        assert differences(batch["ours"], batch["spark"], 2) == [], number


def run_to_the_end(rows: DataFrame, folder: Path) -> tuple[list[Row], Any]:
    """All rows of a query, and the query."""
    found: list[Row] = []

    def keep(batch: DataFrame, number: int) -> None:
        found.extend(batch.collect())

    query = (
        rows.writeStream.foreachBatch(keep)
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return found, query


def test_results_fill_the_gap(streams: SparkSession, tmp_path: Path) -> None:
    """Both together are all windows of both sides; what is not taken is counted."""
    past = history(streams)
    files = written(streams, BATCHES, SCHEMA, tmp_path / "files")
    after, query = run_to_the_end(
        ours(streamed(streams, files, SCHEMA), past, watermark="200 seconds"), tmp_path
    )
    before = past.results(QUERY).collect()
    counted = [row for batch in BATCHES for row in batch if row[0] >= UNTIL]
    taken = [row for row in PAST if row[0] < UNTIL]
    union = streams.createDataFrame([*taken, *counted], SCHEMA).where("k IS NULL OR k <> 'end'")
    expected = rows_of_window(union, QUERY).collect()
    found = [row for row in [*before, *after] if row["k"] != "end"]
    assert differences(found, expected, 2) == []
    assert len(before) > 20
    skipped = sum(row[0] < UNTIL for batch in BATCHES for row in batch)
    metrics = [
        row.asDict()
        for each in query.recentProgress
        for name, row in each["observedMetrics"].items()
        if name.startswith("muntin history")
    ]
    assert sum(m.get("before_until") or 0 for m in metrics) == skipped > 0
    assert sum(m.get("after_until") or 0 for m in metrics) == len(PAST) - len(taken) > 0


def test_sessions_and_counts_go_on(streams: SparkSession, tmp_path: Path) -> None:
    """Windows that the data decides: with the history's, all that a batch of both sides gives."""
    windows = [mt.session("3 seconds"), mt.count_window(7, 3), mt.threshold("n", 30_000)]
    asked = mt.query("ts", [*windows, WINDOWS[1]], AGGREGATES[:2], keys="k", order_by="n")
    past = history(streams)
    files = written(streams, BATCHES, SCHEMA, tmp_path / "files")
    stream = streamed(streams, files, SCHEMA)
    after, _ = run_to_the_end(
        ours(stream, past, asked, watermark="200 seconds", strategy="auto"), tmp_path
    )
    before = past.results(asked).collect()
    taken = [row for row in PAST if row[0] < UNTIL]
    taken += [row for batch in BATCHES for row in batch if row[0] >= UNTIL]
    union = streams.createDataFrame(taken, SCHEMA)
    expected = mt.optimize(asked).apply(union).where("k IS NULL OR k <> 'end'").collect()
    found = [row for row in [*before, *after] if row["k"] != "end"]
    assert differences(found, expected, 1) == []
    assert {row["window_id"] for row in before} == {row["window_id"] for row in after}
    timed = [row for row in after if row["window_id"] != windows[2].id]  # a later record ends that
    assert all(row["window"]["end"] > UNTIL for row in timed)


@pytest.mark.long
def test_distinct_items_of_both_sides(streams: SparkSession, tmp_path: Path) -> None:
    past = history(streams)
    files = written(streams, BATCHES, SCHEMA, tmp_path / "files")
    stream = streamed(streams, files, SCHEMA)
    asked: Any = {"time": "ts", "items": "part", "windows": WINDOWS, "keys": "k"}
    stated: Any = {"layout": "long", "watermark": "200 seconds", "history": past}
    found, _ = run_to_the_end(mt.distinct(stream, **asked, **stated), tmp_path)
    taken = [row for row in PAST if row[0] < UNTIL]
    taken += [row for batch in BATCHES for row in batch if row[0] >= UNTIL]
    whole = mt.distinct(streams.createDataFrame(taken, SCHEMA), **asked, layout="long")
    expected = whole.where(F.col("window.end") > F.lit(UNTIL)).where("k IS NULL OR k <> 'end'")
    own = [row for row in found if row["k"] != "end"]
    assert len(own) > 20
    assert differences(own, expected.collect(), 2) == []
    with pytest.raises(StrategyError, match="layout='nested' cannot start from history"):
        mt.distinct(stream, **asked, watermark="1 minute", history=past)


def test_rows_reach_events_of_the_history(streams: SparkSession, tmp_path: Path) -> None:
    """Features of rows from `until` on are those of a batch over both sides."""
    past = history(streams)
    files = written(streams, BATCHES, SCHEMA, tmp_path / "files")
    stream = streamed(streams, files, SCHEMA)
    windows = ["30 seconds", mt.trailing("1 minute", delay="5 seconds"), mt.trailing(rows=4)]
    asked: Any = {"time": "ts", "windows": [*windows, mt.lifetime()], "keys": "k"}
    asked |= {"aggregates": AGGREGATES[:3], "order_by": ["n", "part", "x"]}
    rows = mt.as_of(stream, **asked, watermark="200 seconds", history=past, buckets=3)
    found, query = run_to_the_end(rows, tmp_path)
    before = [row for row in PAST if row[0] < UNTIL]
    after = [row for batch in BATCHES for row in batch if row[0] >= UNTIL]
    both = mt.as_of(streams.createDataFrame([*before, *after], SCHEMA), **asked)
    expected = both.where(F.col("ts") >= F.lit(UNTIL)).where("k IS NULL OR k <> 'end'").collect()
    own = [row for row in found if row["k"] != "end"]
    assert sorted(map(repr, own)) == sorted(map(repr, expected))
    assert sum(row["total__lifetime"] is not None for row in own) > 20
    assert "the table until 2024-01-01T00:02:07Z" in str(
        mt.explain(stream, **asked, watermark="1 minute", history=past)
    )
    skipped = sum(row[0] < UNTIL for batch in BATCHES for row in batch)
    counted = [each["observedMetrics"] for each in query.recentProgress]
    totals = [row.asDict().get("before_until") or 0 for each in counted for row in each.values()]
    assert sum(totals) == skipped


def test_a_restart_needs_no_table(streams: SparkSession, tmp_path: Path) -> None:
    """Neither its rows nor its files; another instant and a new checkpoint are refused."""
    place = str(tmp_path / "past")
    streams.createDataFrame(PAST, SCHEMA).write.parquet(place)
    past = mt.History(streams.read.parquet(place), until=UNTIL.replace(tzinfo=UTC))
    written(streams, BATCHES[:1], SCHEMA, tmp_path / "files")
    stream = streamed(streams, tmp_path / "files", SCHEMA)
    first, _ = run_to_the_end(ours(stream, past), tmp_path)
    written(streams, BATCHES, SCHEMA, tmp_path / "files")
    later = past.until + timedelta(seconds=1)
    with pytest.raises(StreamingQueryException, match="started from history until 2024-01-01T00"):
        run_to_the_end(ours(stream, mt.History(None, later)), tmp_path)
    shutil.rmtree(place)
    for each in (past, mt.History(None, past.until)):
        shutil.copytree(tmp_path / "checkpoint", tmp_path / str(id(each)) / "checkpoint")
        second, _ = run_to_the_end(ours(stream, each), tmp_path / str(id(each)))
        counted = [row for batch in BATCHES for row in batch if row[0] >= UNTIL]
        union = streams.createDataFrame([r for r in PAST if r[0] < UNTIL] + counted, SCHEMA)
        judge = rows_of_window(union, QUERY).where(F.col("window.end") > F.lit(UNTIL))
        late = {row[:4] for row in differences_of_late(first + second, judge.collect())}
        assert not late
    with pytest.raises(StreamingQueryException, match=r"History\(None, ...\) brings none"):
        run_to_the_end(ours(stream, mt.History(None, past.until)), tmp_path / "new")


def differences_of_late(found: list[Row], expected: list[Row]) -> list[Any]:
    """Differences but for keys that have late rows or end the stream."""
    some = ("end", "late", "a")
    return differences(
        [row for row in found if row["k"] not in some],
        [row for row in expected if row["k"] not in some],
        2,
    )


def test_explain_shows_the_history(streams: SparkSession, tmp_path: Path) -> None:
    files = written(streams, BATCHES[:1], SCHEMA, tmp_path)
    asked: Any = {"time": "ts", "windows": WINDOWS, "aggregates": AGGREGATES, "keys": "k"}
    stream, past = streamed(streams, files, SCHEMA), history(streams)
    text = str(mt.explain(stream, **asked, watermark="1 minute", history=past))
    assert "by bucketed" in text
    assert "the table's rows from 2024-01-01T00:01:05Z until 2024-01-01T00:02:07Z into" in text


def test_what_cannot_be_is_refused(streams: SparkSession, tmp_path: Path) -> None:
    files = written(streams, BATCHES[:1], SCHEMA, tmp_path)
    stream, until = streamed(streams, files, SCHEMA), UNTIL.replace(tzinfo=UTC)
    table = streams.createDataFrame(PAST, SCHEMA)

    def refused(kind: type[Exception], match: str, past: Any, **more: Any) -> None:
        with pytest.raises(kind, match=match):
            ours(more.pop("data", stream), past, **more)

    past = mt.History(table, until)
    refused(StrategyError, "must be mt.History", table)
    refused(ColumnError, "must be a Spark DataFrame", mt.History(PAST, until))
    refused(StrategyError, "must be finished", mt.History(stream, until))
    refused(StrategyError, "cannot start from history", past, operator="native")
    refused(StrategyError, "leave out one", past, started_with=WINDOWS)
    refused(StrategyError, "put both tables together with union", past, data=table)
    cast = table.withColumn("part", F.col("part").cast("bigint"))
    other = "key 'part' is bigint in the history and int in the stream: cast one"
    refused(ColumnError, other, mt.History(cast, until))
    cast = table.withColumn("x", F.col("x").cast("float"))
    refused(ColumnError, "input 'x' is float in the history", mt.History(cast, until))
    cast = table.withColumn("ts", F.col("ts").cast("timestamp_ntz"))
    refused(ColumnError, "time 'ts' is timestamp_ntz in", mt.History(cast, until))
    refused(ColumnError, "^history: .*'k'", mt.History(table.drop("k"), until))
    with pytest.raises(QueryError, match="this history has no table"):
        mt.History(None, until).results(QUERY)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(12))
def test_random_streams(streams: SparkSession, tmp_path: Path, seed: int) -> None:
    """Any aggregates, keys and windows, a history that overlaps, late rows."""
    drawn, random = script(f"history/{seed}"), Random(seed)
    times = sorted(row[0] for batch in drawn.batches for row in batch if row[0])
    until = max(random.choice(times), datetime(1970, 1, 1)).replace(tzinfo=None)
    past = [*drawn.batches[0], *drawn.batches[1]]
    batches = drawn.batches[1:]
    given = mt.History(streams.createDataFrame(past, drawn.schema), until.replace(tzinfo=UTC))
    names = ["shared-pairs", "auto", "wcg-fw"]
    sides = {
        name: lambda stream, name=name: ours(
            stream, given, drawn.query, watermark=drawn.watermark, strategy=name
        )
        for name in names[: 1 + seed % 3]
    }
    found = both_played(
        streams,
        tmp_path,
        past,
        batches,
        sides,
        until=until,
        judged=drawn.query,
        watermark=drawn.watermark,
        schema=drawn.schema,
    )
    assert_sparks_own(found, len(drawn.query.keys))

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

pytestmark = pytest.mark.slow

START = datetime(2024, 1, 1)
UNTIL = START + timedelta(seconds=127)
"""Where the last of the windows has an edge, and the others have none."""
SCHEMA = "ts timestamp, k string, part int, x double, n bigint"
WINDOWS = [
    mt.tumbling("10 seconds"),
    mt.hopping("30 seconds", "10 seconds"),
    mt.hopping("65 seconds", "20 seconds", "2 seconds"),
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


AT_UNTIL: Rows = [
    (UNTIL + timedelta(microseconds=n), key, 1, 1.5, n) for n in (-1, 0) for key in ("a", "edge")
]
"""On both sides: the table's count up to that instant, the stream's from there on."""
PAST = [*some_rows(1, 0, 150, 300, None, "a", "old"), *AT_UNTIL]
"""The table goes on after `until`, and its key "old" has no row in the stream."""
BATCHES = [
    [*some_rows(2, 100, 140, 60, None, "a", "new"), *AT_UNTIL],
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


def of_both_sides(spark: SparkSession) -> DataFrame:
    """The rows of both sides that are taken, but for the one that ends the stream."""
    taken = [row for row in PAST if row[0] < UNTIL]
    taken += [row for batch in BATCHES for row in batch if row[0] >= UNTIL and row != END]
    return spark.createDataFrame(taken, SCHEMA)


@pytest.mark.slow
def test_late_rows_correct_windows_that_the_history_has_rows_of(
    streams: SparkSession, tmp_path: Path
) -> None:
    """The last revision is that of a batch over both sides; none is of a window that ended."""
    files = written(streams, BATCHES, SCHEMA, tmp_path / "files")
    stream = streamed(streams, files, SCHEMA)
    found, _ = run_to_the_end(
        ours(stream, history(streams), watermark="1 second", allowed_lateness="1 hour"), tmp_path
    )
    came: dict[Any, list[Row]] = {}
    for row in found:
        came.setdefault(tuple(row[:4]), []).append(row)
    for rows in came.values():
        assert [row["revision"] for row in rows] == list(range(len(rows)))
    last = [Row(*rows[-1][:-1]) for rows in came.values() if rows[-1]["k"] != "end"]
    wanted = rows_of_window(of_both_sides(streams), QUERY).where(F.col("window.end") > F.lit(UNTIL))
    assert differences(last, wanted.collect(), 2) == []
    again = [row for row in found if row["revision"] > 0 and row["window"]["start"] < UNTIL]
    assert len(again) > 2, "with rows of the history"


@pytest.mark.slow
def test_keys_of_the_history_get_empty_windows(streams: SparkSession, tmp_path: Path) -> None:
    """Those before `until` are in the results of the history: together no gap and no double."""
    files = written(streams, BATCHES, SCHEMA, tmp_path / "files")
    stream = streamed(streams, files, SCHEMA)
    asked: Any = {"empty": "fill", "fill_for": "80 seconds"}
    query, past = mt.query("ts", WINDOWS, AGGREGATES[:2], keys="k"), history(streams)
    after, _ = run_to_the_end(ours(stream, past, query, watermark="200 seconds", **asked), tmp_path)
    before = past.results(query, **asked).collect()
    assert max(row["window"]["end"] for row in before) <= UNTIL
    assert min(row["window"]["end"] for row in after) > UNTIL
    known: dict[tuple[str, str | None], dict[int, int]] = {}
    for row in of_both_sides(streams).collect():
        at = int((row["ts"] - START) / timedelta(microseconds=1))
        for window in WINDOWS:
            counts = known.setdefault((window.id, row["k"]), {})
            for start in window.instances_of(at + EPOCH):
                counts[start] = counts.get(start, 0) + 1
    wanted = {
        (id, key, start): count
        for (id, key), counts in known.items()
        for start, count in filled({w.id: w for w in WINDOWS}[id], counts, 80_000_000).items()
    }
    found = [(*row[:1], row["k"], row[1]["start"], row["rows"]) for row in [*before, *after]]
    found = [(id, key, micros(start), count) for id, key, start, count in found if key != "end"]
    assert len({row[:3] for row in found}) == len(found), "none comes twice"
    assert {row[:3]: row[3] for row in found} == wanted
    silent = [row for row in after if row["k"] == "old" and row["rows"] == 0]
    assert len(silent) > 5, "a key of the table alone"
    assert all(row["total"] is None for row in silent)
    assert len(past.results(query, **asked, layout="wide").collect()) > 20
    with pytest.raises(StrategyError, match="empty='fill' is for periodic windows"):
        past.results(mt.query("ts", [mt.session("1 minute")], AGGREGATES[:1]), empty="fill")


EPOCH = int(START.replace(tzinfo=UTC).timestamp()) * 1_000_000


def micros(instant: datetime) -> int:
    return int((instant - START) / timedelta(microseconds=1)) + EPOCH


def filled(window: mt.Window, counts: dict[int, int], fill_for: int) -> dict[int, int]:
    """With the empty instances that follow each, until the next or until so much later."""
    found = dict(counts)
    for start in counts:
        for turn in range(1, fill_for // window.slide + 1):
            if start + turn * window.slide in counts:
                break
            found[start + turn * window.slide] = 0
    return found


@pytest.mark.slow
def test_a_bucket_takes_its_history_in_several_calls(
    streams: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Spark makes them where there are many rows of it; here a few rows are many."""
    from muntin.engines.spark.deferred import defer

    log = tmp_path / "calls"

    def counted(processor: Any) -> Any:
        own: Any = defer(processor)
        kind, place = type(own), str(log)

        class Counted(kind):  # type: ignore[misc,valid-type]
            def handleInitialState(  # noqa: N802
                self, key: Any, initialState: Any, timerValues: Any
            ) -> None:
                with open(place, "a", encoding="utf-8") as file:
                    file.write(f"{int(key[0])} {len(initialState)}\n")
                kind.handleInitialState(self, key, initialState, timerValues)

        own.__class__ = Counted
        return own

    monkeypatch.setattr("muntin.engines.spark.operators.bucketed.defer", counted)
    monkeypatch.setattr("muntin.engines.spark.history.PORTION", 4)
    files = written(streams, BATCHES, SCHEMA, tmp_path / "files")
    rows = ours(streamed(streams, files, SCHEMA), history(streams), watermark="200 seconds")
    most = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = str(streams.conf.get(most))
    streams.conf.set(most, "3")
    try:
        found, _ = run_to_the_end(rows, tmp_path)
    finally:
        streams.conf.set(most, before)
    wanted = rows_of_window(of_both_sides(streams), QUERY).where(F.col("window.end") > F.lit(UNTIL))
    own = [row for row in found if row["k"] != "end"]
    assert differences(own, wanted.collect(), 2) == []
    calls = [line.split() for line in log.read_text(encoding="utf-8").splitlines()]
    buckets = {bucket for bucket, _ in calls}
    assert min(sum(each == bucket for each, _ in calls) for bucket in buckets) > 1, calls


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


def test_windows_with_a_bound_read_all_of_the_history_that_they_reach(
    streams: SparkSession, tmp_path: Path
) -> None:
    """Where none is endless, older events of the table are left out; Spark's own frames judge."""
    stream = streamed(streams, written(streams, BATCHES, SCHEMA, tmp_path / "files"), SCHEMA)
    windows = ["30 seconds", mt.trailing("1 minute", delay="5 seconds")]
    asked: Any = {"time": "ts", "windows": windows, "keys": "k", "aggregates": [mt.count()]}
    rows = mt.as_of(stream, **asked, watermark="200 seconds", history=history(streams), buckets=3)
    found, _ = run_to_the_end(rows, tmp_path)
    taken = [row for row in PAST if row[0] < UNTIL]
    taken += [row for batch in BATCHES for row in batch if row[0] >= UNTIL]
    both = mt.as_of(streams.createDataFrame(taken, SCHEMA), **asked, operator="range")
    expected = both.where(F.col("ts") >= F.lit(UNTIL)).where("k IS NULL OR k <> 'end'").collect()
    own = [row for row in found if row["k"] != "end"]
    assert sorted(map(repr, own)) == sorted(map(repr, expected))
    begins = [row for row in own if row["ts"] < UNTIL + timedelta(seconds=30)]
    assert sum(row["count__1_minute_delayed_by_5_seconds"] for row in begins) > 5


@pytest.mark.slow
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
    assert "the table's rows from 2024-01-01T00:01:22Z until 2024-01-01T00:02:07Z into" in text


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

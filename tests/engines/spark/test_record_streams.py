"""Windows that the data decides on a stream: the rows of a batch, and Spark's own sessions."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.data_windows import LastRecords, PriceSwitched, WindowFunction
from muntin.data_windows.protocol import Columns, Numbers, Record
from muntin_testing.oracle import differences
from muntin_testing.record_streams import TRAIL
from muntin_testing.streams import played, run_to_end, streamed, written

pytestmark = pytest.mark.slow

START, MOMENT = datetime(2024, 1, 1), timedelta(microseconds=1)
SCHEMA = "ts timestamp, k string, n int, v int, x double, km int, price double, go boolean"
DELAY = 20
SECOND = 1_000_000
AGGREGATES = [
    mt.count().alias("rows"),
    mt.sum("v").alias("total"),
    mt.max("x").alias("most"),
    mt.min("n").alias("first"),
    mt.stddev_pop("v").alias("spread"),
    mt.max_by("k", "n").alias("at"),
]
SAID = r"written for the windows .*session = Session\(incomplete=True, gap=5.*and the query has"
Batches = list[list[tuple[Any, ...]]]


def batches(count: int, seed: int = 1, late: int = 0) -> Batches:
    """Rows of several keys around a clock that goes on, some too late; the last lets time pass."""
    random, found, n = Random(seed), [], 0
    for i in range(count):
        rows = []
        for _ in range(30):
            n += 1
            second = 20 * i + random.randrange(20)
            time = START + timedelta(seconds=second) + random.choice([0, n]) * MOMENT
            time -= timedelta(seconds=random.choice([0] * 9 + [late]))
            key = random.choice([None, "a", "b", "c", f"only {i}"])
            values = (random.choice([None, 1, 5, -3]), random.choice([None, float("nan"), 1.5]))
            km = (time - START) // timedelta(seconds=1) + 1000
            price = random.choice([None, 1.0, 4.0, 9.0])
            rows.append((time, key, n, *values, km, price, random.random() < 0.3))
        found.append(rows)
    end = (START + timedelta(days=1), "end", 10**6, 1, 1.0, 10**6, 1.0, True)
    return [*found, [end]]


def asked(stream: DataFrame, windows: Sequence[Any], **more: Any) -> DataFrame:
    options: Any = {"watermark": f"{DELAY} seconds", "order_by": "n", "buckets": 3} | more
    rows: DataFrame = mt.aggregate(stream, "ts", windows, AGGREGATES, "k", **options)
    return rows


def test_sessions_are_sparks_own_in_every_batch(streams: SparkSession, tmp_path: Path) -> None:
    """Whole seconds, so that sessions end just where a watermark stands; no row is late."""
    script = [[(r[0].replace(microsecond=0), *r[1:]) for r in b] for b in batches(2)]
    files = written(streams, script, SCHEMA, tmp_path / "files")
    gaps = ["3 seconds", "7 seconds"]

    def own(stream: DataFrame) -> DataFrame:
        marked = stream.withWatermark("ts", f"{DELAY} seconds")
        calls = [a.function.native().format(*(a.arguments or ("1",))) for a in AGGREGATES]
        named = [F.expr(c).alias(a.name) for c, a in zip(calls, AGGREGATES, strict=True)]
        one, other = (
            marked.groupBy(F.session_window("ts", gap).alias("window"), "k")
            .agg(*named)
            .select(F.lit(f"session {gap}"), "window", "k", *(a.name for a in AGGREGATES))
            for gap in gaps
        )
        return one.unionAll(other)

    sides = {"spark": own, "ours": lambda s: asked(s, [mt.session(gap) for gap in gaps])}
    found = played(streamed(streams, files, SCHEMA), sides, "append", tmp_path / "checkpoint")
    for number, batch in enumerate(found):
        wrong = differences(batch["ours"], batch["spark"], 1)
        assert not wrong, f"batch {number}: {len(wrong)} rows differ, {wrong[:5]}"
    assert sum(len(batch["spark"]) for batch in found) > 25


def functions() -> tuple[Any, ...]:
    """Made in a function, so that workers get them by value: they cannot import test files."""

    class Climbs(WindowFunction):
        """A window for each climb of the price; in batches too."""

        columns = ("coalesce(price, 0)",)
        resumes = True

        def __init__(self) -> None:
            self.before, self.open = 0.0, False

        def mark(self, time: int, record: Record) -> tuple[int, int]:
            value = float(record["coalesce(price, 0)"])
            climbs, self.before = value > self.before, value
            ended, self.open = self.open and climbs, self.open or climbs
            return int(ended), int(climbs)

        def marks(self, times: Numbers, columns: Columns) -> tuple[Numbers, Numbers] | None:
            values = columns["coalesce(price, 0)"]
            both = [self.mark(0, {"coalesce(price, 0)": value}) for value in values]
            return [e for e, _ in both], [b for _, b in both]  # type: ignore[return-value]  # lists do

    class OneByOne(Climbs):
        resumes = False
        marks = WindowFunction.marks

    def cheap() -> PriceSwitched:
        sizes = ((10 * SECOND, 5 * SECOND), (5 * SECOND, 2 * SECOND))
        return PriceSwitched(1030, *sizes, price="km")

    return (
        mt.user_window(Climbs),
        mt.user_window(OneByOne),
        mt.user_window(cheap, id="cheap", columns=["km"]),
    )


WINDOWS = (
    mt.session("5 seconds", id="session"),
    mt.session("5 seconds", maximum="12 seconds", id="short session"),
    mt.count_window(5, 2, id="count"),
    mt.hopping_by("km", 10, 5, id="distance"),
    mt.hopping_by("km / 4", 2.5, 0.5, id="quarters"),
    mt.punctuation("go", id="go"),
    mt.snapshot(id="snapshot"),
    mt.landmark("go", "price > 5", id="landmark", incomplete=False),
    mt.landmark("go", length="8 seconds", id="for 8"),
    mt.threshold("price", 3, id="price"),
    mt.hopping("30 seconds", "20 seconds", id="time"),
)


def admitted(script: Batches, pauses: Sequence[int] = ()) -> Batches:
    """The rows that are not late: a batch is judged by the watermark of the one before.

    After a pause, at the end of a run, the watermark has caught up with all rows before it.
    """
    last = watermark = START - timedelta(days=9)
    found = []
    for number, rows in enumerate(script):
        if number in pauses:
            last = watermark
        found.append([row for row in rows if row[0] >= last])
        last = watermark
        newest = max(row[0].replace(microsecond=0) for row in rows)  # watermarks are milliseconds
        watermark = max(watermark, newest - timedelta(seconds=DELAY))
    return found


def run(
    rows: DataFrame, checkpoint: Path, window: str = "session", output: str = "append"
) -> tuple[list[Row], int]:
    """What a run gave until it had read the files that there were, and how many rows were late."""
    found: list[Row] = []
    query, dropped = run_to_end(rows, found.extend, checkpoint, output)
    last = mt.progress(query)
    assert last is not None
    assert window in last.results
    return found, dropped


def of_keys(rows: Sequence[Row]) -> Counter[str]:
    """All rows but those of the key that only lets time pass; windows may have equal bounds."""
    return Counter(
        repr([round(value, 9) if isinstance(value, float) else value for value in row])
        for row in rows
        if row["k"] != "end"
    )


def check_against_batch(
    spark: SparkSession, folder: Path, script: Batches, pause: int, windows: Sequence[Any]
) -> Path:
    """Two runs of a stream, the second from the checkpoint of the first, beside a batch."""
    checkpoint, dropped = folder / "checkpoint", 0
    found: list[Row] = []
    for part in (script[:pause], script):
        files = written(spark, part, SCHEMA, folder / "files")
        rows, late = run(asked(streamed(spark, files, SCHEMA), windows), checkpoint)
        found, dropped = found + rows, dropped + late
    kept = [row for rows in admitted(script, [pause]) for row in rows]
    expected = asked(spark.createDataFrame(kept, SCHEMA), windows).collect()
    ours, theirs = of_keys(found), of_keys(expected)
    assert not ours - theirs, f"not in the batch: {list(ours - theirs)[:5]}"
    assert not theirs - ours, f"only in the batch: {list(theirs - ours)[:5]}"
    assert {row["window_id"] for row in found if row["k"] != "end"} == {w.id for w in windows}
    assert dropped == sum(map(len, script)) - len(kept)
    return checkpoint


def test_a_restarted_stream_has_the_rows_of_a_batch(streams: SparkSession, tmp_path: Path) -> None:
    script, windows = batches(4, seed=3, late=70), (*WINDOWS, *functions())
    checkpoint = check_against_batch(streams, tmp_path, script, 2, windows)
    later = (START + timedelta(days=2), *script[0][0][1:])
    files = written(streams, [*script, [later]], SCHEMA, tmp_path / "files")
    others = asked(streamed(streams, files, SCHEMA), [mt.session("6 seconds", id="session")])
    with pytest.raises(StreamingQueryException, match=SAID):
        run(others, checkpoint)


@pytest.mark.slow
def test_several_queries_share_a_stream_and_keep_their_rows(
    streams: SparkSession, tmp_path: Path
) -> None:
    """Late rows and a restart: each query has the rows that it has by itself in a batch.

    A query of periodic windows alone is planned apart, with the rows of its own stream.
    """
    some: Any = {"keys": "k", "order_by": "n"}
    hours = mt.query("ts", WINDOWS[-1:], AGGREGATES[:2], keys="k")
    queries = {
        "visits": mt.query("ts", [WINDOWS[0], WINDOWS[2], WINDOWS[-1]], AGGREGATES[:2], **some),
        "alarms": mt.query(
            "ts", [WINDOWS[5], mt.count_window(5, 2, id="five")], AGGREGATES, **some
        ),
        "climbs": mt.query("ts", functions()[:1], AGGREGATES[1:3], **some),
        "hours": hours,
    }
    script, pause = batches(4, seed=5, late=70), 2
    found: list[Row] = []
    alone: list[Row] = []
    for part in (script[:pause], script):
        stream = streamed(streams, written(streams, part, SCHEMA, tmp_path / "files"), SCHEMA)
        options: Any = {"watermark": f"{DELAY} seconds", "buckets": 3}
        found += run(mt.aggregate(stream, queries=queries, **options), tmp_path / "together")[0]
        own = mt.aggregate(stream, queries={"hours": hours}, **options)
        alone += run(own, tmp_path / "alone", window="time")[0]
    kept = [row for rows in admitted(script, [pause]) for row in rows]
    table = streams.createDataFrame(kept, SCHEMA)
    for id, query in queries.items():
        expected = alone if id == "hours" else mt.optimize(query).apply(table).collect()
        names = ["window_id", "window", "k", *(a.name for a in query.aggregates)]
        ours = of_keys([Row(**{n: r[n] for n in names}) for r in found if r["query_id"] == id])
        theirs = of_keys([Row(**{n: r[n] for n in names}) for r in expected])
        assert ours == theirs, f"{id}: {list(ours - theirs)[:3]}, {list(theirs - ours)[:3]}"
        assert sum(ours.values()) > 20


@pytest.mark.slow
def test_policies_and_early_results_go_on_after_a_restart(
    streams: SparkSession, tmp_path: Path
) -> None:
    """Every 10 seconds the last 3 records; and a session in update mode, as far as it has come."""
    last = mt.user_window(lambda: LastRecords(3, 10 * SECOND), id="last 3")
    session = mt.session("30 seconds", id="session")
    script = [*batches(4, seed=7)[:4], [(START + timedelta(seconds=150), "a", 999, *[None] * 5)]]
    found: list[Row] = []
    for part in (script[:2], script):
        stream = streamed(streams, written(streams, part, SCHEMA, tmp_path / "files"), SCHEMA)
        rows = asked(stream, [last, session], output="update").where("k = 'a'")
        found += run(rows, tmp_path / "checkpoint", output="update")[0]
    times = sorted((r[0], r[2]) for rows in admitted(script, [2]) for r in rows if r[1] == "a")
    wanted, due, end = [], START, START + timedelta(seconds=150 - DELAY)
    while (due := due + timedelta(seconds=10)) <= end:
        wanted.append(min(n for _, n in [t for t in times if t[0] < due][-3:]))
    assert [r["first"] for r in found if r["window_id"] == "last 3"] == wanted
    sessions = [r for r in found if r["window_id"] == "session"]
    counts = [r["rows"] for r in sessions]
    assert {r["window"]["start"] for r in sessions} == {times[0][0]}
    assert counts == sorted(counts)
    assert len(counts) >= 3
    assert counts[-1] == len(times) - 1  # the last row of all waits for the watermark


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
def test_many_restarted_streams_have_the_rows_of_batches(
    streams: SparkSession, tmp_path: Path, seed: int
) -> None:
    random = Random(seed)
    windows = random.sample([*WINDOWS[1:], *functions()], random.randrange(1, 8))
    script = batches(7, seed, random.choice([0, 25, 70]))
    check_against_batch(streams, tmp_path, script, random.randrange(1, 6), [WINDOWS[0], *windows])


def test_what_cannot_run_is_refused_with_a_sentence(streams: SparkSession, tmp_path: Path) -> None:
    files = written(streams, batches(1), SCHEMA, tmp_path / "files")
    stream = streamed(streams, files, SCHEMA)
    windows = [mt.session("5 seconds"), mt.count_window(3)]
    for said, given, more in (
        ("output='complete' cannot run with window 'session 5", windows, {"output": "complete"}),
        ("started_with is for periodic windows", windows, {"started_with": []}),
        ("operator='bucketed' is for periodic windows", windows, {"operator": "bucketed"}),
        ("'wcg' merges sessions on batches of Spark", windows[:1], {"strategy": "wcg"}),
        ("this stream has none: give watermark=", windows, {"watermark": None}),
        ("take records that the watermark has", windows, {"watermark": None, "output": "update"}),
        ("buckets 0 must be a whole number", windows, {"buckets": 0}),
    ):
        with pytest.raises(mt.MuntinError, match=said):
            asked(stream, given, **more)
    for said, aggregate in (
        ("array<int> is grouped and compared only by Spark .*: give", mt.collect_set("array(n)")),
        ("keeps every value of a window.*: take mt.approx_percentile", mt.median("n")),
    ):
        with pytest.raises(mt.MuntinError, match=said):
            mt.aggregate(stream, "ts", windows, [aggregate], "k", watermark="1 second")
    lists = stream.withColumn("xs", F.array("n"))
    with pytest.raises(mt.MuntinError, match="array<int> is grouped and compared only by Spark"):
        asked(lists, windows, order_by="xs")


@pytest.mark.slow
def test_records_of_one_instant_are_taken_as_on_a_batch(
    streams: SparkSession, tmp_path: Path
) -> None:
    """Without `order_by`: in the order of what windows and aggregates read, sets and lists too."""
    script = [[(r[0].replace(second=0, microsecond=0), *r[1:]) for r in b] for b in batches(2, 4)]
    stream = streamed(streams, written(streams, script, SCHEMA, tmp_path / "files"), SCHEMA)
    table = streams.createDataFrame([row for rows in script for row in rows], SCHEMA)
    windows = [mt.count_window(3), mt.punctuation("go", id="go")]
    asked_for = {
        "trail": [TRAIL("n")],
        "set": [mt.collect_set("n")],
        "both": [mt.collect_set("v"), mt.max("n"), mt.count_distinct("x")],
    }

    def side(aggregates: list[Any], **options: Any) -> Any:
        return lambda df: mt.aggregate(
            df, "ts", windows, [a.alias(f"a{i}") for i, a in enumerate(aggregates)], "k", **options
        ).selectExpr("window_id", "window", "k", "to_json(struct(*)) AS row")

    sides = {n: side(a, watermark="5 minutes") for n, a in asked_for.items()}
    found = played(stream, sides, "append", tmp_path / "checkpoint")
    for name, aggregates in asked_for.items():
        ours = of_keys([Row(k=row[2], row=row[3]) for batch in found for row in batch[name]])
        theirs = of_keys([Row(k=row[2], row=row[3]) for row in side(aggregates)(table).collect()])
        assert ours == theirs, f"{name}: {list(ours - theirs)[:3]}, {list(theirs - ours)[:3]}"
        assert ours.total() > 15


def test_a_partial_that_state_cannot_keep_is_reported(
    streams: SparkSession, tmp_path: Path
) -> None:
    """Of periodic windows alone a custom function is refused at once; of objects, as it runs."""
    stream = streamed(streams, written(streams, batches(1), SCHEMA, tmp_path / "files"), SCHEMA)
    pair = mt.custom("pair", complex, lambda a, b: a + b, abs, 0j)("n")
    options: Any = {"watermark": "1 second"}
    with pytest.raises(mt.MuntinError, match=r"pair\(n\) cannot run on a stream of periodic.*too"):
        mt.aggregate(stream, "ts", [mt.tumbling("1 hour")], [pair], "k", **options)
    rows = mt.aggregate(stream, "ts", [mt.count_window(10**6)], [pair], "k", **options)
    said = r"custom 'pair': a stream's state cannot keep its partial: .* is of type complex; let"
    with pytest.raises(StreamingQueryException, match=said):
        run(rows, tmp_path / "checkpoint", window="1000000 records")


@pytest.mark.slow
def test_a_custom_function_of_another_name_is_refused_on_a_checkpoint(
    streams: SparkSession, tmp_path: Path
) -> None:
    script = batches(1)
    for number, name in enumerate(("most", "least")):
        part = script[: number + 1]
        stream = streamed(streams, written(streams, part, SCHEMA, tmp_path / "files"), SCHEMA)
        own = mt.custom(name, int, max, int, 0, commutative=True, result="int")("n")
        rows = mt.aggregate(stream, "ts", [WINDOWS[0]], [own], "k", watermark="1 second")
        if number == 0:
            run(rows, tmp_path / "checkpoint")
            continue
        with pytest.raises(StreamingQueryException, match=r"partial aggregates most of .*least of"):
            run(rows, tmp_path / "checkpoint")


def test_explain_says_what_runs_on_a_stream() -> None:
    query = mt.query("ts", [WINDOWS[0], WINDOWS[-1]], AGGREGATES, keys="k")
    plan = mt.optimize(query, engine="stream")
    assert plan.strategy == "cutty"
    assert "\nrecords: records wait until the watermark has passed them" in plan.explain()

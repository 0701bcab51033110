"""Streams give Spark's own rows, batch by batch: late rows, silent keys, every mode, operator."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import Decimal
from functools import reduce
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from lab.benchmarks.stream import FILES
from muntin.engines.spark.stream_source import DELAY
from muntin.planner.strategies import STRATEGIES
from muntin_testing.oracle import differences, rows_of_window
from muntin_testing.running import STREAM_OPERATORS
from muntin_testing.streams import Batches, Script, Side, played, script, streamed, written

START = datetime(2024, 1, 1)
SCHEMA = "ts timestamp, k string, n bigint"
WINDOWS = [mt.tumbling("10 seconds"), mt.hopping("30 seconds", "10 seconds")]
AGGREGATES = [mt.sum("n").alias("total"), mt.count().alias("rows")]


def at(second: float, key: str | None, n: int) -> tuple[datetime, str | None, int]:
    return (START + timedelta(seconds=second), key, n)


def of_spark(script: Script) -> Side:
    return lambda stream: rows_of_window(
        stream.withWatermark(script.query.time, script.watermark), script.query
    )


def of_plan(script: Script, strategy: str, operator: str, output: str) -> Side:
    plan = mt.optimize(script.query, strategy)  # type: ignore[call-overload]
    return lambda stream: plan.apply(
        stream, watermark=script.watermark, output=output, operator=operator
    )


def assert_equal_in_every_batch(found: Batches, keys: int) -> int:
    rows = 0
    for number, batch in enumerate(found):
        for side in batch.keys() - {"spark"}:
            wrong = differences(batch[side], batch["spark"], keys)
            assert not wrong, f"{side}, batch {number}: {len(wrong)} rows\n" + "\n".join(wrong[:8])
        rows += len(batch["spark"])
    return rows


def can_run(side: Side, stream: DataFrame) -> bool:
    """Whether an operator takes the stream: bucketed leaves sets, and complete mode, to native."""
    try:
        side(stream)
    except mt.MuntinError as refusal:
        if "operator 'bucketed' cannot run this stream" not in str(refusal):
            raise
        return False
    return True


def runs_as_spark_does(
    spark: SparkSession,
    seed: str,
    strategies: list[str],
    output: str,
    folder: Path,
    operators: Iterable[str] = STREAM_OPERATORS,
    batches: int = 5,
) -> tuple[int, set[str]]:
    """Every operator that can, by every strategy, beside Spark's own windows, in one query.

    How many rows were equal, and which sides ran.
    """
    asked = script(seed, batches, rows=16 * batches)
    stream = streamed(spark, asked.files(spark, folder / "files"), asked.schema)
    sides = {"spark": of_spark(asked)}
    for strategy in strategies:
        for operator in operators:
            side = of_plan(asked, strategy, operator, output)
            if operator == "native" or can_run(side, stream):
                sides[f"{strategy}/{operator}"] = side
    found = played(stream, sides, output, folder / "checkpoint")
    return assert_equal_in_every_batch(found, len(asked.query.keys)), set(sides)


@pytest.mark.parametrize(
    ("seed", "strategies", "operators", "batches"),
    [
        # What is appended by default has a scripted stream of its own, in test_bucketed.
        pytest.param(
            *("append/18", ["shared-pairs", "wcg-fw"], ("native",), 5), marks=pytest.mark.long
        ),
        pytest.param("update/8", ["direct"], STREAM_OPERATORS, 3, marks=pytest.mark.slow),
    ],
)
def test_every_batch_has_sparks_own_rows(
    streams: SparkSession,
    tmp_path: Path,
    seed: str,
    strategies: list[str],
    operators: tuple[str, ...],
    batches: int,
) -> None:
    output = seed.partition("/")[0]
    rows, sides = runs_as_spark_does(
        streams, seed, strategies, output, tmp_path, operators, batches
    )
    assert rows > 10 * batches
    assert len(sides) == 1 + len(strategies) * len(operators)


@pytest.mark.long
@pytest.mark.parametrize("output", ["append", "update", "complete"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_in_every_mode(
    streams: SparkSession, tmp_path: Path, output: str, strategy: str
) -> None:
    rows, ran = 0, set[str]()
    for number in range(4):
        seed, folder = f"{strategy}/{output}/{number}", tmp_path / str(number)
        equal, sides = runs_as_spark_does(streams, seed, [strategy], output, folder)
        rows, ran = rows + equal, ran | sides
    assert rows > 0
    expected = {f"{strategy}/{operator}" for operator in STREAM_OPERATORS}
    assert ran >= (expected if output != "complete" else {f"{strategy}/native"})


@pytest.mark.long
def test_lateness_as_spark_judges_it_where_a_query_has_one_stateful_operator(
    streams: SparkSession, tmp_path: Path
) -> None:
    # Then one window a query is all that Spark can do: each is compared by itself.
    setting = "spark.sql.streaming.statefulOperator.allowMultiple"
    late = [[at(s, "a", s), at(s - 14, "b", s), at(s - 40, "a", s)] for s in range(50, 110, 9)]
    files = written(streams, late, SCHEMA, tmp_path / "files")
    stream = streamed(streams, files, SCHEMA)

    def rows(name: str, side: Side) -> list[list[Any]]:
        found = played(stream, {"": side}, "append", tmp_path / name)
        return [batch[""] for batch in found]

    def of_windows(*windows: mt.Window) -> Script:
        return Script(mt.query("ts", windows, AGGREGATES, keys="k"), SCHEMA, late, "5 seconds")

    usual = rows("usual", of_spark(of_windows(WINDOWS[1])))
    streams.conf.set(setting, "false")
    try:
        ours = rows("ours", of_plan(of_windows(*WINDOWS), "shared-pairs", "bucketed", "append"))
        own = [rows(w.id.replace("/", " in "), of_spark(of_windows(w))) for w in WINDOWS]
    finally:
        streams.conf.unset(setting)
    for batch, *expected in zip_longest(ours, *own, fillvalue=[]):
        assert differences(batch, [row for some in expected for row in some], 1) == []
    assert own[1] != usual, "some rows are late by one rule only"


@pytest.mark.long
def test_a_sum_that_was_too_large_in_one_batch_stays_null(
    streams: SparkSession, tmp_path: Path
) -> None:
    large, one = Decimal(6 * 10**37), Decimal(1)
    batches = [[(START, large), (START, large)], [(START, one)]]
    batches.append([(START + timedelta(minutes=5), one)])
    asked = mt.query("ts", WINDOWS, [mt.sum("d").alias("total"), mt.count().alias("rows")])
    story = Script(asked, "ts timestamp, d decimal(38,0)", batches, "1 second")
    before = streams.conf.get("spark.sql.ansi.enabled")
    try:
        streams.conf.set("spark.sql.ansi.enabled", "false")
        stream = streamed(streams, story.files(streams, tmp_path / "files"), story.schema)
        sides = {name: of_plan(story, "auto", name, "append") for name in STREAM_OPERATORS}
        sides["spark"] = of_spark(story)
        found = played(stream, sides, "append", tmp_path / "checkpoint")
    finally:
        streams.conf.set("spark.sql.ansi.enabled", str(before))
    assert assert_equal_in_every_batch(found, 0) > 3
    assert {row[2] for batch in found for row in batch["native"]} == {None}


@pytest.mark.long
def test_a_finished_stream_has_the_rows_of_a_batch(streams: SparkSession, tmp_path: Path) -> None:
    # Rows out of order within the watermark; "b" falls silent after the first batch; the last row
    # lets the watermark pass everything before it.
    batches = [
        [at(25, "a", 1), at(3, "a", 2), at(12, "b", 3), at(3, None, 4)],
        [at(41, "a", 5), at(22, None, 6), at(38, "a", 7)],
        [at(55, "a", 8), at(39, None, 9)],
        [at(600, "end", 0)],
    ]
    files = written(streams, batches, SCHEMA, tmp_path / "files")
    query = mt.query("ts", WINDOWS, AGGREGATES, keys="k")
    stream = streamed(streams, files, SCHEMA)
    sides = {
        operator: of_plan(Script(query, SCHEMA, batches, "20 seconds"), "auto", operator, "append")
        for operator in STREAM_OPERATORS
    }
    found = played(stream, sides, "append", tmp_path / "checkpoint")
    table = streams.read.schema(SCHEMA).parquet(str(files)).where("k IS NULL OR k <> 'end'")
    expected = rows_of_window(table, query).collect()
    for operator in sides:
        rows = [row for batch in found for row in batch[operator]]
        assert differences(rows, expected, 1) == []
        silent = [row for batch in found[:-2] for row in batch[operator] if row[2] == "b"]
        assert silent, "windows of a key without new rows are emitted when the watermark passes"


@pytest.mark.parametrize(
    ("count", "keys", "full"),
    [
        pytest.param(8, 3, 4, marks=pytest.mark.slow),
        pytest.param(80, 400, 8, marks=pytest.mark.long),
    ],
)
def test_state_reaches_a_plateau(
    streams: SparkSession, tmp_path: Path, count: int, keys: int, full: int
) -> None:
    # Batches of ten seconds each, for windows of at most thirty, and other keys in each of them:
    # what is kept for an instance must leave when it has been given out, and the key with it,
    # however long the stream is. RocksDB puts its files together every fourth batch, and a bucket
    # its keys when half of a thousand or more have left.
    rows = max(keys, 20)
    batches = [
        [at(10 * (b + i / rows), f"{b}/{i % keys}", i) for i in range(rows)] for b in range(count)
    ]
    files = written(streams, batches, SCHEMA, tmp_path / "files")
    query = mt.query("ts", WINDOWS, AGGREGATES, keys="k")
    plan = mt.optimize(query, "shared-pairs")
    stream = streamed(streams, files, SCHEMA)
    results = [plan.apply(stream, watermark="0 seconds", operator=o) for o in STREAM_OPERATORS]  # type: ignore[arg-type]
    run = (
        reduce(DataFrame.unionAll, results)
        .writeStream.format("noop")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    run.awaitTermination()
    stateful = {"native": "stateStoreSave", "bucketed": "transformWithStateInPandasExec"}
    for operator in STREAM_OPERATORS:
        states = [
            state
            for progress in run.recentProgress
            for state in progress["stateOperators"]
            if state["operatorName"] == stateful[operator]
        ]
        assert len(states) >= len(batches), run.recentProgress[-1]["stateOperators"]
        kept = [(state["numRowsTotal"], state["customMetrics"][FILES]) for state in states]
        middle = full + (count - full) // 2
        early, late = kept[full:middle], kept[middle:count]
        assert max(rows for rows, _ in early) >= max(rows for rows, _ in late) > 0
        assert 0 < max(size for _, size in late) <= 1.5 * max(size for _, size in early)
        if operator == "native":  # both windows end every ten seconds: those of three batches
            assert max(rows for rows, _ in kept) <= 3 * keys * 3


def test_complete_mode_keeps_all(streams: SparkSession, tmp_path: Path) -> None:
    # With aggregates that are not pre-aggregated: rows are copied into their windows.
    batches = [[at(5, "a", 1), at(40, None, 2)], [at(6, "a", 3), at(90, "a", 4)]]
    files = written(streams, batches, SCHEMA, tmp_path / "files")
    others = [mt.var_pop("n").alias("spread"), mt.collect_set("n").alias("seen")]
    query = mt.query("ts", WINDOWS, [*AGGREGATES, *others], keys="k")
    complete = Script(query, SCHEMA, [], "5 seconds")
    sides = {"spark": of_spark(complete), "ours": of_plan(complete, "auto", "native", "complete")}
    stream = streamed(streams, files, SCHEMA)
    found = played(stream, sides, "complete", tmp_path / "checkpoint")
    assert assert_equal_in_every_batch(found, 1) > 10


@pytest.fixture(scope="module")
def stream_of_rates(spark: SparkSession) -> DataFrame:
    """A stream that is never started, for what is refused before."""
    rate = spark.readStream.format("rate").load()
    return rate.selectExpr("timestamp AS ts", "CAST(timestamp AS DATE) AS day", "value AS n")


REFUSED = [
    ({}, "append mode emits a window when the watermark has passed"),
    ({"watermark": "soon"}, "watermark 'soon' cannot be read: write"),
    ({"watermark": "1 month"}, "watermark '1 month' uses month, whose length varies"),
    ({"watermark": "-1 second"}, "watermark '-1 second' must be whole milliseconds"),
    ({"watermark": "1 minute", "output": "apend"}, "did you mean 'append'"),
    ({"watermark": "1 minute", "time": "day"}, "is date, and a stream's watermark needs"),
    ({"watermark": "1 minute", "layout": "wide"}, "layout='wide'.* needs a batch"),
    (
        {"watermark": "1 minute", "empty": "fill", "output": "update"},
        "empty='fill' on a stream cannot go with output='update': a window is empty only once",
    ),
    ({"watermark": "1 minute", "empty": "fill", "fill_for": "0 seconds"}, "must be more than zero"),
    ({"watermark": "1 minute", "fill_for": "1 hour"}, "give empty='fill' too"),
    ({"watermark": "1 minute", "operator": "kernel"}, "operator='kernel' is for batches of Spark"),
    ({"watermark": "1 minute", "operator": "nativ"}, "unknown stream operator 'nativ': did you"),
    ({"watermark": "1 minute", "aggregates": [mt.median("n")]}, "keeps every value of a window"),
    (
        {"watermark": "1 minute", "aggregates": [mt.avg("CAST(n AS DECIMAL(38, 30))")]},
        r"is of decimal\(38,30\), .* cast the column first",
    ),
    ({"watermark": "1 minute", "aggregates": [mt.sum("nn")]}, "input 'nn' cannot be computed"),
    ({"watermark": "1 minute", "windows": [mt.session("5 minutes")]}, "needs state in RocksDB"),
]


@pytest.mark.usefixtures("on_the_heap")
@pytest.mark.parametrize(("options", "sentence"), REFUSED)
def test_what_a_stream_cannot_do_is_said(
    stream_of_rates: DataFrame, options: dict[str, Any], sentence: str
) -> None:
    asked: dict[str, Any] = {"time": "ts", "windows": WINDOWS, "aggregates": [mt.count()]}
    with pytest.raises(mt.MuntinError, match=sentence):
        mt.aggregate(stream_of_rates, **(asked | options))


@pytest.mark.usefixtures("on_the_heap")
def test_what_was_predicted_and_cannot_run_is_said(stream_of_rates: DataFrame) -> None:
    query = mt.query("ts", WINDOWS, [mt.count()], keys="n")
    plan = mt.optimize(query, engine="stream", distinct_keys=20_000)
    assert plan.operator.name == "bucketed"
    with pytest.warns(UserWarning, match=r"'native' runs .* needs state in RocksDB: set spark\."):
        plan.apply(stream_of_rates, watermark="1 minute")


def test_python_takes_part_only_where_rows_are_shared(
    stream_of_rates: DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    for windows, shared in ((WINDOWS[:1], False), (WINDOWS[1:], True), (WINDOWS, True)):
        mt.aggregate(stream_of_rates, "ts", windows, [mt.count()], watermark="0 seconds").explain()
        assert ("MapInArrow" in capsys.readouterr().out) is shared


def test_a_function_in_python_and_other_bounds_are_refused(stream_of_rates: DataFrame) -> None:
    longest = mt.custom("longest", int, max, int, 0, idempotent=True, result="bigint")("n")
    with pytest.raises(
        mt.MuntinError,
        match=r"longest.* cannot run on a stream of periodic windows alone: .* in Python",
    ):
        mt.aggregate(stream_of_rates, "ts", WINDOWS, [longest], watermark="1 minute")
    asa = mt.query("ts", WINDOWS, [mt.count()], bounds="asa")
    with pytest.raises(mt.MuntinError, match="bounds='asa' cannot run on a stream"):
        mt.optimize(asa).apply(stream_of_rates, watermark="1 minute")


def test_verify_needs_a_batch(stream_of_rates: DataFrame) -> None:
    with pytest.raises(mt.MuntinError, match="verify compares finished results"):
        mt.verify(stream_of_rates, mt.query("ts", WINDOWS, [mt.count()]))


def test_a_watermark_of_the_stream_is_taken_and_not_set_twice(stream_of_rates: DataFrame) -> None:
    marked = stream_of_rates.withWatermark("ts", "1 minute")
    assert mt.aggregate(marked, "ts", WINDOWS, [mt.count()]).isStreaming
    with pytest.raises(mt.MuntinError, match="already has one"):
        mt.aggregate(marked, "ts", WINDOWS, [mt.count()], watermark="2 minutes")


def test_the_watermark_of_another_column_is_not_that_of_the_time(
    stream_of_rates: DataFrame,
) -> None:
    stream = stream_of_rates.withColumn("arrival", F.col("ts") + F.expr("INTERVAL 1 HOUR"))
    marked = stream.withWatermark("arrival", "1 minute")
    with pytest.raises(mt.MuntinError, match="append mode emits a window when the watermark"):
        mt.aggregate(marked, "ts", WINDOWS, [mt.count()])
    for column, expected in (("ts", {DELAY: 0}), ("arrival", {})):
        own = stream.withWatermark(column, "1 minute")
        rows = mt.aggregate(own, "ts", WINDOWS, [mt.count()], output="update")
        assert rows.schema["window"].metadata == expected


@pytest.mark.long
def test_windows_stay_open_where_another_column_has_the_watermark(
    streams: SparkSession, tmp_path: Path
) -> None:
    batches = [[at(b, str(1000 * b), b)] for b in range(1, 5)]
    files = written(streams, batches, SCHEMA, tmp_path / "files")
    arrival = F.timestamp_seconds(F.col("k").cast("bigint") + int(START.timestamp()))
    stream = streamed(streams, files, SCHEMA).withColumn("arrival", arrival)
    query = mt.query("ts", WINDOWS, AGGREGATES)
    sides: dict[str, Side] = {
        "spark": lambda marked: rows_of_window(marked, query),
        "ours": lambda marked: mt.optimize(query).apply(marked, output="update"),
    }
    marked = stream.withWatermark("arrival", "1 second")
    found = played(marked, sides, "update", tmp_path / "checkpoint")
    assert assert_equal_in_every_batch(found, 0) == 4 * len(batches)

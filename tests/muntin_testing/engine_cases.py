"""What every kind of Spark must do alike: each case gives how many rows were equal to the judge's.

A case runs in the folder of its process, into which streams write their files. Nothing here may
depend on the driver being this process: on Spark Connect it is not.
"""

import os
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin_testing import control_query
from muntin_testing.nested import one_join_a_window, one_query_a_window
from muntin_testing.oracle import differences
from muntin_testing.streams import streamed, written

WINDOWS = [
    mt.tumbling("10 seconds"),
    mt.tumbling("1 minute"),
    mt.hopping("2 minutes", "20 seconds"),
]
EXACT = [mt.sum("n"), mt.avg("n"), mt.min("word"), mt.corr("n", "n * n"), mt.kurtosis("n")]
SETS = [mt.count_distinct("n"), mt.median("n"), mt.approx_count_distinct("n")]
PLAIN = mt.query("ts", WINDOWS, EXACT, keys="key")
MIXED = mt.query("ts", WINDOWS, [*EXACT, *SETS], keys="key")


def events(spark: SparkSession) -> DataFrame:
    """Two hundred rows within ten minutes, of which half have no key."""
    random = Random(1)
    rows = [
        (
            datetime(2024, 1, 1) + timedelta(seconds=random.randrange(600)),
            random.choice(["a", None]),
            random.randrange(100),
            "w" * random.randrange(9),
        )
        for _ in range(200)
    ]
    return spark.createDataFrame(rows, "ts timestamp, key string, n bigint, word string")


def verified(query: mt.Query, strategy: str, operator: str) -> Callable[[DataFrame], int]:
    """A plan against Spark's own window() queries."""

    def case(df: DataFrame) -> int:
        found = mt.verify(df, mt.optimize(query, strategy, operator=operator))  # type: ignore[call-overload]
        assert found, found
        return found.rows

    return case


def custom_wide(df: DataFrame) -> int:
    """A custom aggregate against the built-in one, in the wide layout with empty windows filled."""
    flags = {"idempotent": True, "commutative": True}
    longest = mt.custom("longest", len, max, int, 0, result="bigint", **flags)("word")  # type: ignore[arg-type]
    ours, judge = (
        mt.aggregate(
            df,
            "ts",
            WINDOWS,
            [a.alias("length"), mt.count_distinct("n").alias("distinct")],
            "key",
            layout="wide",
            empty="fill",
        )
        for a in (longest, mt.max("length(word)"))
    )
    return equal(ours.na.fill(0), judge.na.fill(0))


def distinct(df: DataFrame) -> int:
    ours = mt.distinct(df, "ts", "word", WINDOWS, keys="key", layout="long")
    return equal(ours, one_query_a_window(df, WINDOWS, ["key", "word"]))


def join(df: DataFrame) -> int:
    left = df.select("ts", F.col("n").alias("user"), "word")
    right = df.select(F.col("ts").alias("at"), F.col("n").alias("user"), "key")
    ours = mt.join(left, right, "user", ("ts", "at"), WINDOWS, layout="long")
    return equal(ours, one_join_a_window(left, right, WINDOWS))


def native_stream(df: DataFrame) -> int:
    """The rows of a finished stream are those of the batch."""
    plan = mt.optimize(PLAIN, "wcg")
    rows = plan.apply(arriving(ended(df)), watermark="1 minute", operator="native")
    return equal(finished(rows).where("NOT key <=> 'end'"), plan.apply(df))


def bucketed_stream(df: DataFrame) -> int:
    plan = mt.optimize(PLAIN, "shared-pairs")
    rows = plan.apply(arriving(ended(df)), watermark="1 minute", operator="bucketed")
    return equal(finished(rows).where("NOT key <=> 'end'"), plan.apply(df))


def stream_from_history(df: DataFrame) -> int:
    """The rows before an instant are a table, of which the stream has some again."""
    plan, until = mt.optimize(PLAIN, "shared-pairs"), datetime(2024, 1, 1, 0, 5, 3)
    past = mt.History(df, until=until.replace(tzinfo=UTC))
    later = ended(df.where(F.col("ts") > datetime(2024, 1, 1, 0, 4)))
    rows = plan.apply(arriving(later), watermark="1 minute", history=past)
    own = finished(rows).where("NOT key <=> 'end'")
    return equal(own.unionAll(past.results(PLAIN)), plan.apply(df))


def stream_of_data_windows(df: DataFrame) -> int:
    """Windows that the data decides, with a periodic one beside them."""
    windows = [mt.session("5 seconds"), mt.count_window(7, 2), WINDOWS[2]]
    asked: Any = {"time": "ts", "windows": windows, "aggregates": [mt.count(), mt.sum("n")]}
    asked |= {"keys": "key", "order_by": ["n", "word"]}
    rows = mt.aggregate(arriving(ended(df)), **asked, watermark="1 minute")
    return equal(finished(rows).where("NOT key <=> 'end'"), mt.aggregate(df, **asked))


TRAILING: Any = {
    "windows": ["1 minute", mt.trailing("2 minutes", delay="7 seconds"), mt.lifetime()],
    "aggregates": [mt.count(), mt.sum("n").alias("total"), mt.max("word").alias("longest")],
    "keys": "key",
}


def as_of_batch(df: DataFrame) -> int:
    """Rows that are the events, with and without chunks of time; other events; and a grain."""
    counted: Any = {**TRAILING, "windows": ["1 minute", "2 minutes"]}
    both = []
    for asked in (TRAILING, counted, {**counted, "grain": "10 seconds"}):
        plan = mt.explain(df, "ts", **asked, operator="frames")
        both.append(mt.verify(df, plan))
    plan = mt.explain(df, "ts", **counted, events=df, operator="frames")
    both.append(mt.verify(df, plan))
    assert all(both), both
    return min(each.rows for each in both)


def as_of_stream(df: DataFrame) -> int:
    """The features of a finished stream are those of Spark's own RANGE frames."""
    rows = mt.as_of(arriving(ended(df)), "ts", **TRAILING, watermark="1 minute")
    judge = mt.as_of(df, "ts", **TRAILING, operator="range")
    return equal(finished(rows).where("NOT key <=> 'end'"), judge)


def as_of_two_streams(df: DataFrame) -> int:
    """Labels and events as two streams, against a range join of Spark's own."""
    labels = df.select(F.expr("ts + INTERVAL 3 SECONDS AS asked"), "key", F.col("n").alias("m"))
    later = labels.limit(1).withColumns({"asked": F.lit(datetime(2025, 1, 1)), "key": F.lit("end")})
    asked: Any = {"time": "asked", "events_time": "ts", **TRAILING}
    both = arriving(labels.unionAll(later)), arriving(ended(df))
    rows = mt.as_of(both[0], events=both[1], **asked, watermark="1 minute")
    judge = mt.as_of(labels, events=df, **asked, operator="range")
    return equal(finished(rows).where("NOT key <=> 'end'"), judge)


def distinct_stream(df: DataFrame) -> int:
    stream = arriving(ended(df))
    rows = mt.distinct(stream, "ts", "word", WINDOWS, layout="long", watermark="1 minute")
    before = F.col("window.start") < datetime(2025, 1, 1)
    return equal(finished(rows).where(before), one_query_a_window(df, WINDOWS, ["word"]))


def controlled_stream(df: DataFrame) -> int:
    """A window is suspended and another registered while the stream runs."""
    spark, here = df.sparkSession, folder("controlled")
    control = mt.Control(here / "control", grain="1 second")
    aside = written(spark, control_query.batches(4), control_query.SCHEMA, here / "aside")
    files = folder("controlled/files")
    stream = streamed(spark, files, control_query.SCHEMA)
    windows, aggregates = control_query.WINDOWS, control_query.AGGREGATES
    rows = mt.aggregate(
        stream, "ts", windows, aggregates, "k", watermark="10 seconds", buckets=2, control=control
    )
    query = rows.writeStream.format("memory").queryName("controlled").start()
    for i, file in enumerate(sorted(aside.iterdir())):
        if i == 2:
            control.suspend("first")
            control.register("30 seconds/5 seconds", "new", aggregates=["total"])
        file.rename(files / file.name)
        query.processAllAvailable()
    query.stop()
    states = [(row.id, row.state) for row in control.list()]
    assert states == [("always", "running"), ("first", "suspended"), ("new", "running")]
    found = spark.table("controlled").collect()
    wrong = differences(found, control_query.expected(spark, files, control, found), 1)
    assert wrong == [], wrong
    return len(found)


def stream_with_late_rows(df: DataFrame) -> int:
    """Half of the rows come a year late: the last revisions are the batch, also with queries."""
    spark, schema = df.sparkSession, "ts timestamp, key string, n bigint, word string"
    rows = [tuple(row) for row in df.collect()]
    later = [(datetime(2025, 1, 1), "end", 0, "")]
    batches = [rows[::2], later, rows[1::2]]
    stream = streamed(spark, written(spark, batches, schema, folder("late")), schema)
    asked: Any = {"windows": WINDOWS, "aggregates": [mt.sum("n").alias("n"), mt.count().alias("c")]}
    asked |= {"time": "ts", "keys": "key"}
    found = mt.aggregate(
        stream, **asked, watermark="1 minute", allowed_lateness="500 days", future="1 day"
    )
    newest = F.max_by(F.struct("n", "c"), "revision").alias("of")
    last = finished(found).groupBy("window_id", "window", "key").agg(newest)
    ours = last.where("NOT key <=> 'end'").select("window_id", "window", "key", "of.*")
    return equal(ours, mt.aggregate(df, **asked))


def stream_with_empty_windows(df: DataFrame) -> int:
    """What a batch fills is there, and no row of another value."""
    asked: Any = {"windows": WINDOWS, "aggregates": [mt.sum("n").alias("n"), mt.count().alias("c")]}
    asked |= {"time": "ts", "keys": "key", "empty": "fill"}
    rows = mt.aggregate(arriving(ended(df)), **asked, watermark="1 minute", fill_for="10 minutes")
    found = finished(rows).where("NOT key <=> 'end'")
    judge = mt.aggregate(df, **asked)
    assert not judge.exceptAll(found).take(1)
    assert not found.exceptAll(judge).where("c <> 0").take(1)
    return int(judge.count())


CASES: dict[str, Callable[[DataFrame], int]] = {
    "wcg by expand": verified(PLAIN, "wcg", "expand"),
    "shared-pairs by kernel": verified(PLAIN, "shared-pairs", "kernel"),
    "sets and medians by expand": verified(MIXED, "wcg", "expand"),
    "custom, wide": custom_wide,
    "distinct": distinct,
    "join": join,
    "stream by native": native_stream,
    "stream by bucketed": bucketed_stream,
    "stream from history": stream_from_history,
    "stream with late rows": stream_with_late_rows,
    "stream with empty windows": stream_with_empty_windows,
    "stream of data windows": stream_of_data_windows,
    "as of each row": as_of_batch,
    "stream as of each row": as_of_stream,
    "labels and events as streams": as_of_two_streams,
    "stream of distinct items": distinct_stream,
    "stream with a control": controlled_stream,
}

NOT_ON_OLD_CONNECT = (
    "stream by bucketed",
    "stream from history",
    "stream with late rows",
    "stream with empty windows",
    "stream of data windows",
    "stream as of each row",
    "labels and events as streams",
    "stream with a control",
)
"""What Spark Connect cannot run before 4.1: it must say so."""


def refused(case: Callable[[DataFrame], int], df: DataFrame) -> str:
    """The sentence that a case gets which Spark Connect is too old for."""
    try:
        case(df)
    except mt.MuntinError as refusal:
        [sentence] = re.findall(r"on Spark Connect it needs Spark [\d.]+", str(refusal))
        return str(sentence)
    raise AssertionError("not refused")


def ended(df: DataFrame) -> DataFrame:
    """With a row a year later, which lets all windows before it end."""
    later = df.limit(1).withColumns({"ts": F.lit(datetime(2025, 1, 1)), "key": F.lit("end")})
    return df.unionAll(later)


def folder(name: str) -> Path:
    made = Path(name).absolute()
    made.mkdir(parents=True)
    return made


def arriving(df: DataFrame) -> DataFrame:
    """The rows as a stream of one file."""
    path = os.path.abspath(f"arriving-{len(os.listdir())}")
    df.coalesce(1).write.parquet(path)
    return df.sparkSession.readStream.schema(df.schema).parquet(path)


def finished(rows: DataFrame) -> DataFrame:
    """All rows of a stream that is run to its end."""
    name = f"finished_{len(os.listdir())}"
    writer = rows.writeStream.format("memory").queryName(name)
    writer.trigger(availableNow=True).start().awaitTermination()
    return rows.sparkSession.table(name)


def equal(ours: DataFrame, judge: DataFrame) -> int:
    """The number of rows, if both sides have the same; doubles to six digits."""
    kinds = dict(judge.dtypes)
    columns = [F.round(c, 6).alias(c) if kinds[c] == "double" else F.col(c) for c in judge.columns]
    left, right = (side.select(*columns) for side in (ours, judge))
    missing, surplus = right.exceptAll(left).take(3), left.exceptAll(right).take(3)
    assert not missing, missing
    assert not surplus, surplus
    return left.count()

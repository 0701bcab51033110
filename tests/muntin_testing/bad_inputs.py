"""Wrong input as users give it, with the sentence that each must get on every kind of Spark.

A case is what is asked of the table and a pattern of the answer; `table` has a column of each kind
that the cases need. Nothing is computed: whatever is wrong must be told before a job starts.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt

WINDOWS = [mt.tumbling("10 seconds"), mt.hopping("1 minute", "20 seconds")]
Case = Callable[[SparkSession, DataFrame], Any]


def table(spark: SparkSession) -> DataFrame:
    return spark.sql(
        "SELECT timestamp_seconds(id) AS ts, id % 3 AS key, id AS v, 'abc' AS word, array(id) AS "
        "list, map('a', id) AS pairs, named_struct('in', map('a', 1)) AS deep, DATE'2024-01-01' AS "
        "day, parse_json('1') AS any, id AS twin, id AS TWIN FROM range(3)"
    )


def asked(*aggregates: mt.Aggregate, **changes: Any) -> Case:
    """The query with one part that is wrong."""
    parts: dict[str, Any] = {"time": "ts", "keys": "key", "windows": WINDOWS}
    parts["aggregates"] = aggregates or [mt.count()]

    def call(_: SparkSession, df: DataFrame) -> Any:
        return mt.aggregate(df, **(parts | changes))

    return call


def on(change: Callable[[SparkSession, DataFrame], Any], **changes: Any) -> Case:
    """The query on another table."""
    return lambda spark, df: asked(**changes)(spark, change(spark, df))


def wide(*ids: str, key: str = "key", alias: str = "n") -> Case:
    """The wide layout of windows with these ids, of a key and an aggregate with these names."""
    windows = [mt.tumbling(f"{i + 1} minutes", id=id) for i, id in enumerate(ids)]
    aggregates = [mt.count().alias(alias), mt.sum("v").alias("a")]
    parts: dict[str, Any] = {"windows": windows, "aggregates": aggregates, "keys": key}
    return on(lambda _, df: df.withColumnRenamed("key", key), **parts, layout="wide")


def on_column(part: str) -> Case:
    """The query with a Column where names, aggregates or windows of ours are meant."""
    return lambda spark, df: asked(**{part: F.col("key")})(spark, df)


def stream(spark: SparkSession, _: DataFrame) -> DataFrame:
    return spark.readStream.format("rate").load()


def streamed(**changes: Any) -> Case:
    """The query on a stream, with one part that is wrong."""
    return on(stream, **({"time": "timestamp", "keys": (), "watermark": "1 minute"} | changes))


text: Any = "q"
OWN = mt.custom("own", len, max, int, 0, result="strin")
CASES: dict[str, tuple[Case, str]] = {
    "time missing": (asked(time="tz"), r"time 'tz' is not a column"),
    "time an expression": (asked(time="ts + interval 1 hour"), r"time 'ts \+ .* is not a column"),
    "time a text": (asked(time="word"), r"time column `word` is string, .*to_timestamp"),
    "time ambiguous": (asked(time="twin"), r"'twin' .*ambiguous"),
    "key missing": (asked(keys="kee"), r"key 'kee' is not a column: did you mean 'key'\?"),
    "key ambiguous": (asked(keys="twin"), r"key 'twin' .*ambiguous"),
    "key a map": (asked(keys="pairs"), r"key 'pairs' is map<.* no order: .*to_json\(pairs\)"),
    "key with a map": (asked(keys="deep"), r"key 'deep' is struct<in:map.* no order"),
    "key a variant": (asked(keys="any"), r"key 'any' is variant, which has no order"),
    "key an interval": (
        on(lambda _, df: df.withColumn("i", F.expr("make_interval(0, v)")), keys="i"),
        r"key 'i' is interval, which has no order: make a column of CAST\(i AS STRING\)",
    ),
    "key with an interval": (
        on(lambda _, df: df.withColumn("i", F.expr("array(make_interval(0, v))")), keys="i"),
        r"key 'i' is array<interval>, which has no order: .*to_json\(i\)",
    ),
    "key a column of Spark": (on_column("keys"), r"keys Column<.*> must be a list, or one str"),
    "keys of Spark": (asked(keys=[b"key"]), r"key b'key' must be the name of a column"),
    "an aggregate of Spark": (on_column("aggregates"), r"Column<.*> must be a list, or one Agg"),
    "a window of Spark": (
        on_column("windows"),
        r"Column<.*> must be a list, or one Window",
    ),
    "an order of Spark": (on_column("order_by"), r"order_by Column<.*> must be a list, or one str"),
    "order without need": (asked(order_by="nope"), r"order_by 'nope' orders .* leave it out"),
    "windows as one text": (asked(windows="1 hour"), r"'1 hour' is not a window"),
    "a strategy of no name": (asked(strategy=5), r"strategy must be 'auto', .* not 5"),
    "a window that Spark's own cannot write out": (
        asked(windows=[mt.hopping("1 hour", "1 second")], strategy="direct", operator="window"),
        r"window\(\) cannot compute '1 hour/1 second': .*3,600 copies .* use operator 'expand'",
    ),
    "a window that one row would drown in": (
        lambda *_: mt.query("ts", [mt.hopping("100 days", "1us")], [mt.count()]),
        r"8,640,000,000,000 results for every row.* at least '864 milliseconds'",
    ),
    "no strategy": (asked(strategy=None), r"strategy must be 'auto', .* not None"),
    "several strategies": (asked(strategy=["wcg"]), r"strategy must be 'auto', .* not \['wcg'\]"),
    "an operator of no name": (asked(operator=5), r"operator must be 'window', .* not 5"),
    "a cost of no name": (asked(cost=5), r"cost must be 'seconds', .* not 5"),
    "statistics of a number": (asked(statistics=5), r"statistics 5 must be what mt.statistics"),
    "keys that differ in case": (
        asked(keys=["key", "KEY"]),
        r"'key' and 'KEY' differ only in case",
    ),
    "input missing": (asked(mt.sum("nope")), r"input 'nope' cannot be computed: .*`nope`"),
    "input ambiguous": (asked(mt.sum("twin")), r"input 'twin' cannot be computed: .*ambiguous"),
    "input cut short": (asked(mt.sum("v +")), r"input 'v \+' cannot be computed: .*[Ss]yntax"),
    "input two statements": (
        asked(mt.sum("v; DROP TABLE x")),
        r"input .v; DROP TABLE x. is not one",
    ),
    "input an aggregate": (asked(mt.sum("max(v)")), r"input 'max\(v\)' .*cannot hold an aggregate"),
    "input of windows": (
        asked(mt.sum("row_number() OVER (ORDER BY v)")),
        r"input 'row_number\(\).* cannot be computed: .*window function",
    ),
    "input of many rows": (asked(mt.sum("explode(list)")), r"input 'explode\(list\)' cannot be"),
    "input a star": (asked(mt.sum("*")), r"input '\*' cannot be computed"),
    "a sum of days": (asked(mt.count(), mt.sum("day")), r"^sum\(day\) cannot be .*NUMERIC"),
    "a median of a list": (asked(mt.median("list")), r"^median\(list\) cannot be computed"),
    "a minimum of maps": (asked(mt.min("pairs")), r"^min\(pairs\) cannot be computed"),
    "a set of maps": (asked(mt.collect_set("pairs")), r"^collect_set\(pairs\) cannot be computed"),
    "distinct variants": (
        asked(mt.count_distinct("any")),
        r"^count_distinct of variant cannot be computed: .*to_json",
    ),
    "a percentile of text": (asked(mt.approx_percentile("word")), r"approx_percentile.* cannot be"),
    "a product of truths": (asked(mt.product("v > 1")), r"product of boolean cannot be computed"),
    "pairs of collated text": (
        asked(mt.count_distinct("word COLLATE UTF8_LCASE", "v")),
        r"count_distinct of several columns takes no string collate",
    ),
    "truth of a number": (asked(mt.bool_and("v")), r"^bool_and\(v\) cannot be .*BOOLEAN"),
    "filter missing": (asked(mt.count().filter("nope > 1")), r"filter 'nope > 1' cannot be"),
    "filter a number": (asked(mt.count().filter("v")), r"filter 'v' cannot be .*BOOLEAN"),
    "filter an aggregate": (
        asked(mt.count().filter("max(v) > 1")),
        r"filter 'max\(v\) > 1' .*cannot hold an aggregate",
    ),
    "where a number": (asked(where="v"), r"where 'v' cannot be evaluated: .*boolean"),
    "where an aggregate": (asked(where="max(v) > 1"), r"where 'max\(v\) > 1' cannot be evaluated"),
    "no such result type": (asked(OWN("word")), r"^own\(word\) cannot be computed: .*STRIN"),
    "windows in a text": (asked(windows=["1 hour"]), r"'1 hour' is not a window: use mt.tumbling"),
    "no windows": (asked(windows=[]), r"no windows: give at least one"),
    "no aggregates": (asked(aggregates=[]), r"no aggregates: give at least one"),
    "one name twice": (
        asked(mt.sum("v").alias("a"), mt.max("v").alias("a")),
        r"aggregate name 'a' is given 2 times",
    ),
    "names that differ in case": (
        asked(mt.sum("v").alias("a"), mt.max("v").alias("A"), layout="wide"),
        r"'a' and 'A' differ only in case",
    ),
    "a name of the result": (asked(mt.sum("v").alias("Window")), r"'Window' is a column of the"),
    "a rate in words": (asked(rate="fast"), r"rate 'fast' must be positive"),
    "a key at the end": (
        wide("1", key="Window_End"),
        r"'Window_End' of the wide .* the end of the windows and key 'Window_End': rename the key",
    ),
    "a key like a pair": (wide("A b", key="n__A b"), r"key 'n__A b' and 'n' of window 'A b'"),
    "ids that differ in case": (
        wide("A", "a"),
        r"'n__a' of .* 'n' of window 'A' and 'n' of window",
    ),
    "pairs of one name": (
        wide("c", "b__c", alias="a__b"),
        r"'a__b__c' .*'a__b' of window 'c' and 'a' of window 'b__c': .*\.alias",
    ),
    "no such layout for several": (
        lambda _, df: mt.aggregate(  # type: ignore[call-overload]
            df,
            queries={"q": mt.query("ts", WINDOWS, [mt.count()])},
            layout="wid",
        ),
        r"unknown layout 'wid': did you mean 'wide'\?",
    ),
    "a stream in the wide layout": (
        on(stream, time="timestamp", keys=(), layout="wide"),
        r"layout='wide'.* needs a batch: a stream has the long layout",
    ),
    "a stream without a watermark": (
        streamed(watermark=None),
        r"^append mode .* this stream has none: give watermark='10 minutes'",
    ),
    "a watermark in words": (streamed(watermark="soon"), r"watermark 'soon' cannot be read: write"),
    "a watermark ahead": (streamed(watermark="-1 minute"), r"'-1 minute' must be whole millisec"),
    "a watermark of months": (streamed(watermark="1 month"), r"'1 month' uses month"),
    "two watermarks": (
        on(
            lambda spark, df: stream(spark, df).withWatermark("timestamp", "1 minute"),
            **{"time": "timestamp", "keys": (), "watermark": "1 minute"},
        ),
        r"'timestamp' already has one: leave out one of them",
    ),
    "an output of no name": (streamed(output="appnd"), r"unknown output 'appnd': .* 'append'\?"),
    "several outputs": (
        streamed(output=["append"]),
        r"output must be 'append', 'update' or 'complete', not \['append'\]",
    ),
    "a stream's operator of no name": (
        streamed(operator=5),
        r"stream operator must be 'native', 'bucketed' or 'controlled', not 5",
    ),
    "no buckets": (streamed(buckets=0), r"buckets 0 must be a whole number from 1"),
    "buckets in words": (streamed(buckets="x"), r"buckets 'x' must be a whole number"),
    "started with a number": (streamed(started_with=5), r"started_with 5 must be a list of win"),
    "started with one other": (
        streamed(started_with=mt.tumbling("1 hour")),
        r"'10 seconds' is not among those that the checkpoint was started with",
    ),
    "a control in a text": (streamed(control="/tmp"), r"control '/tmp' must be mt.Control"),
    "a stream's time twice": (
        on(
            lambda spark, df: stream(spark, df).selectExpr("timestamp", "timestamp AS TIMESTAMP"),
            **{"time": "timestamp", "keys": (), "watermark": "1 minute"},
        ),
        r"time 'timestamp' .*ambiguous",
    ),
    "an interval in buckets": (
        streamed(aggregates=[mt.max_by("make_interval(0, 1)", "value")], operator="bucketed"),
        r"'bucketed' cannot run this plan: interval cannot be handed to Python",
    ),
    "a median alone on a stream": (
        on(stream, time="timestamp", keys=(), aggregates=[mt.median("value")], watermark="1 hour"),
        r"^median\(value\) cannot run on a stream: it keeps every value",
    ),
    "a stream to verify": (
        lambda spark, df: mt.verify(
            stream(spark, df), mt.query("timestamp", WINDOWS, [mt.count()])
        ),
        r"[Ss]tream",
    ),
    "groups instead of a table": (on(lambda _, df: df.groupBy("key")), r"got GroupedData"),
    "a table's name": (on(lambda *_: "events"), r"expected a Spark DataFrame.* got str"),
    "a table of no session": (
        lambda spark, _: mt.sql(
            "SELECT count(*) FROM Nope TIMESTAMP BY ts GROUP BY TumblingWindow(second, 1)", spark
        ),
        r"'Nope' is no table or view of the session: pass it as Nope=df",
    ),
    "a column that ASA's text names": (
        lambda spark, df: mt.sql(
            "SELECT max(nope) FROM Input TIMESTAMP BY ts GROUP BY TumblingWindow(second, 1)",
            Input=df,
        ),
        r"input 'nope' cannot be computed",
    ),
    "a table's type": (on(lambda _, df: type(df)), r"expected a Spark DataFrame.* got (type|ABCM)"),
    "a session of no kind": (
        lambda *_: mt.sql(
            "SELECT count(*) FROM T TIMESTAMP BY ts GROUP BY TumblingWindow(second, 1)",
            spark=5,  # type: ignore[arg-type]
        ),
        r"spark 5 must be a Spark session",
    ),
    "statistics of no table": (
        lambda *_: mt.statistics(5, mt.query("ts", WINDOWS, [mt.count()])),
        r"expected a Spark DataFrame.* got int",
    ),
    "verify of a text": (lambda _, df: mt.verify(df, text), r"mt.query\(...\), not 'q'"),
}


def unanswered(spark: SparkSession) -> Iterator[str]:
    """The cases that do not get their sentence, in words."""
    df = table(spark)
    for name, (case, pattern) in CASES.items():
        try:
            case(spark, df)
            yield f"{name}: no error"
        except mt.MuntinError as error:
            if "\n" in str(error) or not re.search(pattern, str(error)):
                yield f"{name}: {error}"
        except Exception as error:
            yield f"{name}: {type(error).__name__}: {str(error)[:200]}"


def after_the_end(df: DataFrame) -> None:
    """Of a table whose session has been stopped, every way in says so."""
    query = mt.query("ts", WINDOWS, [mt.count()])
    for ask in (mt.optimize(query).apply, lambda data: mt.verify(data, query)):
        with pytest.raises(mt.MuntinError, match="has been stopped: read it again in a session"):
            ask(df)

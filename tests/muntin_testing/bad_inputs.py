"""Wrong input as users give it, with the sentence that each must get on every kind of Spark.

A case is what is asked of the table and a pattern of the answer; `table` has a column of each kind
that the cases need. Nothing is computed: whatever is wrong must be told before a job starts.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from pyspark.sql import DataFrame, SparkSession

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


def stream(spark: SparkSession, _: DataFrame) -> DataFrame:
    return spark.readStream.format("rate").load()


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
    "keys that differ in case": (
        asked(keys=["key", "KEY"]),
        r"'key' and 'KEY' differ only in case",
    ),
    "input missing": (asked(mt.sum("nope")), r"input 'nope' cannot be computed: .*`nope`"),
    "input ambiguous": (asked(mt.sum("twin")), r"input 'twin' cannot be computed: .*ambiguous"),
    "input cut short": (asked(mt.sum("v +")), r"input 'v \+' cannot be computed: .*[Ss]yntax"),
    "input two statements": (asked(mt.sum("v; DROP TABLE x")), r"input 'v; DROP TABLE x' cannot"),
    "input an aggregate": (asked(mt.sum("max(v)")), r"input 'max\(v\)' .*cannot hold an aggregate"),
    "input of windows": (
        asked(mt.sum("row_number() OVER (ORDER BY v)")),
        r"sum\(row_number\(\).* cannot be computed: .*window function",
    ),
    "input of many rows": (asked(mt.sum("explode(list)")), r"sum\(explode\(list\)\) cannot be"),
    "input a star": (asked(mt.sum("*")), r"input '\*' cannot be computed"),
    "a sum of days": (asked(mt.count(), mt.sum("day")), r"^sum\(day\) cannot be .*NUMERIC"),
    "a median of a list": (asked(mt.median("list")), r"^median\(list\) cannot be computed"),
    "a minimum of maps": (asked(mt.min("pairs")), r"^min\(pairs\) cannot be computed"),
    "a set of maps": (asked(mt.collect_set("pairs")), r"^collect_set\(pairs\) cannot be computed"),
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
        lambda _, df: mt.aggregate(
            df, queries={"q": mt.query("ts", WINDOWS, [mt.count()])}, layout="wid"
        ),
        r"unknown layout 'wid': did you mean 'wide'\?",
    ),
    "a stream in the wide layout": (
        on(stream, time="timestamp", keys=(), layout="wide"),
        r"layout='wide'.* needs a batch: a stream has the long layout",
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
    "a table's name": (on(lambda *_: "events"), r"expected a Spark DataFrame, got str"),
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
    "verify of a text": (lambda _, df: mt.verify(df, "q"), r"mt.query\(...\), not 'q'"),
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

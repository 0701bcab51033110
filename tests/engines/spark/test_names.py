"""Column names of any characters work everywhere, and names that do not fit get a sentence."""

from datetime import datetime, timedelta

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.engines.spark.names import expression, find_column, quoted
from muntin.engines.spark.stream_source import DELAY, delay_of
from muntin.engines.spark.streaming import Streaming, set_watermark
from muntin.errors import ColumnError
from muntin_testing.oracle import assert_same_rows, planned, rows_of_window
from muntin_testing.running import STREAM_OPERATORS, on_spark

HARD = [
    "a b",
    "a.b",
    "a`b",
    "it's",
    'say "x"',
    "back\\slash",
    "ünï → 😀",
    "select",
    "1",
    "{0}",
    "%s",
]


def ours(query: mt.Query, table: DataFrame) -> DataFrame:
    return on_spark(planned("wcg", query), query, table)


def test_every_name_as_time_key_value_and_result(frugal: SparkSession) -> None:
    start = datetime(2024, 1, 1)
    for i in range(0, len(HARD), 4):
        time, key, value, order = (HARD[(i + j) % len(HARD)] for j in range(4))
        rows = [(start + timedelta(minutes=n), f"k{n % 2}", n, -n) for n in range(20)]
        table = frugal.createDataFrame(rows, ["w", "x", "y", "z"]).toDF(time, key, value, order)
        query = mt.query(
            time=time,
            keys=[key],
            windows=[mt.tumbling("5 minutes", id=time), mt.tumbling("10 minutes", id=value)],
            aggregates=[
                mt.sum(value).alias(f"{value}!"),
                mt.max_by(value, order),
                mt.avg(f"{quoted(value)} * 2 + {quoted(order)}").alias(order),
                mt.count().filter(f"{quoted(value)} > 3 AND {quoted(key)} <> 'it''s'"),
                mt.count(value),
            ],
            where=f"{quoted(value)} <> 7",
        )
        assert_same_rows(ours(query, table), rows_of_window(table, query), query)


def test_every_name_as_the_time_of_a_stream(streams: SparkSession) -> None:
    rate = streams.readStream.format("rate").load()
    for name in HARD:
        stream = rate.select(F.col("timestamp").alias(name))
        query = mt.query(name, [mt.tumbling("1 hour")], [mt.count()])
        marked = set_watermark(stream, query, Streaming("1 minute"))
        assert delay_of(marked, query) == 60_000
    for operator in STREAM_OPERATORS:
        rows = mt.optimize(query).apply(marked, operator=operator)  # type: ignore[arg-type]
        assert rows.columns == ["window_id", "window", "count"]


def test_a_stream_has_its_watermark_on_the_time_as_spark_finds_it(streams: SparkSession) -> None:
    rate = streams.readStream.format("rate").load()
    stream = rate.select(F.col("timestamp").alias("TS"), F.col("timestamp").alias("ts"))
    query = mt.query("ts", [mt.tumbling("1 hour")], [mt.count()])
    with pytest.raises(ColumnError, match=r"^time 'ts' .*ambiguous"):
        set_watermark(stream, query, Streaming("1 minute"))
    streams.conf.set("spark.sql.caseSensitive", "true")
    try:
        marked = set_watermark(stream, query, Streaming("1 minute")).schema
    finally:
        streams.conf.unset("spark.sql.caseSensitive")
    assert [field.metadata.get(DELAY) for field in marked] == [None, 60_000]


def test_a_filtered_count_counts_rows_even_beside_a_column_named_1(frugal: SparkSession) -> None:
    table = frugal.createDataFrame(
        [(datetime(2024, 1, 1), None, 5)], "ts timestamp, `1` int, v int"
    )
    query = mt.query("ts", [mt.tumbling("1 hour")], [mt.count().filter("v > 1").alias("n")])
    assert [row["n"] for row in ours(query, table).collect()] == [1]


def test_names_as_spark_finds_them(frugal: SparkSession) -> None:
    table = frugal.createDataFrame(
        [(datetime(2024, 1, 1), "x", 5)], "Ts timestamp, Key string, V int"
    )
    query = mt.query("ts", [mt.tumbling("1 hour")], [mt.sum("v")], keys=["KEY"])
    found = ours(query, table)
    assert found.columns == ["window_id", "window", "KEY", "sum(v)"]
    assert [row[2:] for row in found.collect()] == [("x", 5)]


def test_fields_of_structs(frugal: SparkSession) -> None:
    table = frugal.createDataFrame([(datetime(2024, 1, 1), "x", 5)], "t timestamp, k string, v int")
    table = table.select(F.struct("t", "k", F.col("v").alias("a b")).alias("e"))
    query = mt.query("e.t", [mt.tumbling("1 hour")], [mt.sum("e.`a b`")], keys=["e.k"])
    assert [row[2:] for row in ours(query, table).collect()] == [("x", 5)]
    deep = mt.query("e.t", [mt.tumbling("1 hour")], [mt.count()], keys=["e.a b"])
    assert [row[2:] for row in ours(deep, table).collect()] == [(5, 1)]


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> DataFrame:
    row = (datetime(2024, 1, 1), "2024-01-01", 1_700_000_000, "x", 5)
    schema = "ts timestamp, text string, seconds bigint, key string, value int"
    return spark.createDataFrame([row], schema)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"time": "tss"}, r"time 'tss' is not a column: did you mean 'ts'\?"),
        ({"time": "zebra"}, r"time 'zebra' is not a column: known: ts, text, seconds, key, value"),
        ({"keys": ["kee"]}, r"key 'kee' is not a column: did you mean 'key'\?"),
        (
            {"time": "text"},
            r"time column .text. is string, .*to_timestamp\(`?text`?\)",
        ),
        (
            {"time": "seconds"},
            r"time column .seconds. is bigint, .*timestamp_seconds\(`?seconds`?\)",
        ),
        ({"aggregates": [mt.sum("valeu")]}, r"^input 'valeu' cannot be computed"),
        ({"aggregates": [mt.sum("value +")]}, r"^input 'value \+' cannot be computed"),
        ({"aggregates": [mt.sum("value").filter("valu > 1")]}, r"^filter 'valu > 1' cannot be"),
        ({"aggregates": [mt.sum("array(value)")]}, r"^sum\(array\(value\)\) cannot be computed"),
        ({"aggregates": [mt.bool_and("value")]}, r"^bool_and\(value\) cannot be computed"),
        ({"where": "valu > 1"}, r"where 'valu > 1' cannot be evaluated: .*valu"),
        ({"where": "value >"}, r"where 'value >' cannot be evaluated"),
    ],
)
def test_what_does_not_fit_the_table_gets_a_sentence(
    table: DataFrame, changes: dict[str, object], message: str
) -> None:
    parts: dict[str, object] = {
        "time": "ts",
        "windows": [mt.tumbling("1 hour"), mt.tumbling("2 hours")],
        "aggregates": [mt.count()],
    }
    query = mt.query(**(parts | changes))  # type: ignore[arg-type]
    with pytest.raises(ColumnError, match=message) as error:
        ours(query, table)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("part", ["time", "keys"])
@pytest.mark.parametrize("name", ["s.nope", "s.a b", "s."])
def test_missing_fields_of_structs_are_named(spark: SparkSession, part: str, name: str) -> None:
    table = spark.sql("SELECT TIMESTAMP'2024-01-01' AS ts, named_struct('a', 1) AS s")
    changes: dict[str, object] = {part: [name] if part == "keys" else name}
    parts: dict[str, object] = {"time": "ts", "windows": [mt.tumbling("1 hour")]}
    query = mt.query(aggregates=[mt.count()], **(parts | changes))  # type: ignore[arg-type]
    with pytest.raises(ColumnError, match=f"'{name}'"):
        ours(query, table)


@pytest.mark.parametrize("twin", ["ts", "TS"])
@pytest.mark.parametrize("part", ["time", "keys"])
def test_ambiguous_names_are_refused(spark: SparkSession, twin: str, part: str) -> None:
    now = F.timestamp_seconds(F.lit(0))
    table = spark.range(1).select(now.alias("ts"), now.alias(twin), now.alias("other"))
    changes: dict[str, object] = (
        {"keys": ["ts"], "time": "other"} if part == "keys" else {"time": "ts"}
    )
    query = mt.query(windows=[mt.tumbling("1 hour")], aggregates=[mt.count()], **changes)  # type: ignore[arg-type]
    what = "key" if part == "keys" else "time"
    with pytest.raises(ColumnError, match=f"^{what} 'ts' .*ambiguous"):
        ours(query, table)


def test_what_is_no_table_is_refused() -> None:
    query = mt.query("ts", [mt.tumbling("1 hour")], [mt.count()])
    with pytest.raises(ColumnError, match="expected a Spark DataFrame, got list"):
        ours(query, [(1, 2)])  # type: ignore[arg-type]


def test_an_exact_name_wins_over_an_expression() -> None:
    assert expression("a + b", ["a", "b"]) == "a + b"
    assert expression("a + b", ["a", "b", "a + b"]) == "`a + b`"
    assert find_column("A", ["a", "b"], "key") == "`a`"

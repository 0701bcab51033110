"""mt.join and mt.distinct against brute force over explicit intervals: in process, and on Spark."""

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import muntin as mt
from conformance.nested import (
    CONDITIONS,
    PAIR_KINDS,
    Items,
    Pairs,
    items_held,
    items_in,
    pairs_held,
    pairs_in,
)
from conformance.selection import SEED, many
from muntin_testing.reached import Reached


def test_pairs_in_process() -> None:
    reached = Reached()
    for number in range(many(16, 1000)):
        drawn = Pairs.drawn(f"{SEED}/pairs/{number}")
        left, right = drawn.tables
        expected = drawn.expected(reached)
        long = mt.join(left, right, **drawn.asked, layout="long").to_pylist()
        assert pairs_in(long) == expected, drawn
        nested = mt.join(left, right, **drawn.asked).to_pylist()
        assert pairs_held(nested, drawn.windows) == expected, drawn
    reached.at_least(1, *(f"where {where}" for where in CONDITIONS), "before 1970")
    reached.at_least(6, "pairs", *PAIR_KINDS)


def test_items_in_process() -> None:
    reached = Reached()
    for number in range(many(10, 600)):
        drawn = Items.drawn(f"{SEED}/items/{number}")
        long = mt.distinct(drawn.table, **drawn.asked, layout="long").to_pylist()
        assert items_in(long) == drawn.expected(), drawn
        nested = mt.distinct(drawn.table, **drawn.asked).to_pylist()
        assert items_held(nested, drawn.windows) == drawn.expected(), drawn
        reached["rows shared by windows"] += len(nested) < len(long)
        reached["null items"] += any(row["v"] is None for row in nested)
        reached["before 1970"] += any(row["window_end"].year < 1970 for row in nested)
        reached[drawn.grouping] += 1
    reached.at_least(1, "before 1970")
    reached.at_least(3, "rows shared by windows", "null items", "greedy", "minimum")


def on_spark(spark: SparkSession, table: pa.Table) -> DataFrame:
    return spark.createDataFrame(table)


def rows_of(df: DataFrame) -> list[dict[str, Any]]:
    """Rows as Arrow's are; times of Spark's have the zone of the session."""
    return [aware(row.asDict(recursive=True)) for row in df.collect()]


def aware(value: Any) -> Any:
    match value:
        case datetime():
            return value.astimezone(UTC)
        case dict():
            return {name: aware(each) for name, each in value.items()}
        case list():
            return [aware(each) for each in value]
    return value


def test_pairs_on_spark(spark: SparkSession) -> None:
    reached = Reached()
    for number in range(many(4, 60)):
        drawn = Pairs.drawn(f"{SEED}/pairs on spark/{number}")
        left, right = (on_spark(spark, table) for table in drawn.tables)
        expected = drawn.expected(reached)
        nested = rows_of(mt.join(left, right, **drawn.asked))
        assert pairs_held(nested, drawn.windows) == expected, drawn
        if number % 2:
            long = rows_of(mt.join(left, right, **drawn.asked, layout="long"))
            assert pairs_in(long) == expected, drawn
    reached.at_least(2, "pairs", *PAIR_KINDS)


def test_items_on_spark(spark: SparkSession) -> None:
    for number in range(many(2, 40)):
        drawn = Items.drawn(f"{SEED}/items on spark/{number}")
        nested = rows_of(mt.distinct(on_spark(spark, drawn.table), **drawn.asked))
        assert items_held(nested, drawn.windows) == drawn.expected(), drawn

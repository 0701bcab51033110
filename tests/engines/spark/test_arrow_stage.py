"""Spark adds up the bytes of Arrow batches only where rows are large, or where somebody says so."""

from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import muntin as mt
from muntin.engines.spark.arrow_stage import KEPT, LIFTED, LIMIT, keep_limit, map_in_arrow


@pytest.fixture
def unset(spark: SparkSession) -> Iterator[SparkSession]:
    """The session without a limit of its own."""
    before = spark.conf.get(LIMIT, None)
    spark.conf.unset(LIMIT)
    yield spark
    spark.conf.unset(LIMIT)
    if before is not None:
        spark.conf.set(LIMIT, before)


def count_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield pa.RecordBatch.from_pydict({"rows": [batch.num_rows]})


def test_small_rows_are_not_weighed(unset: SparkSession) -> None:
    counted = map_in_arrow(unset.range(25_000).repartition(1), count_rows, "rows bigint")
    assert unset.conf.get(LIMIT) == LIFTED
    assert sorted(row["rows"] for row in counted.collect()) == [5_000, 10_000, 10_000]


def test_large_rows_are_weighed_again(unset: SparkSession) -> None:
    map_in_arrow(unset.range(1), count_rows, "rows bigint")
    for large in ("array(id)", "CAST('a' AS BINARY)", "named_struct('a', id)", "map('a', id)"):
        unset.conf.set(LIMIT, LIFTED)
        map_in_arrow(unset.range(1).selectExpr("id", large), count_rows, "rows bigint")
        assert unset.conf.get(LIMIT) == KEPT, large
    map_in_arrow(unset.range(1), count_rows, "rows bigint")
    assert unset.conf.get(LIMIT) == KEPT, "what was built before may run later"


def test_a_limit_that_somebody_set_stays(unset: SparkSession) -> None:
    for given in ("1m", "2147483647"):
        unset.conf.set(LIMIT, given)
        map_in_arrow(unset.range(1), count_rows, "rows bigint")
        keep_limit(unset)
        assert unset.conf.get(LIMIT) == given


def test_batches_end_at_a_limit_that_somebody_set(unset: SparkSession) -> None:
    unset.conf.set(LIMIT, "8000")  # a thousand numbers of eight bytes, and a bit for each
    counted = map_in_arrow(unset.range(5_000).repartition(1), count_rows, "rows bigint").collect()
    assert len(counted) > 4 or unset.version < "4.1"


def test_aggregates_lift_it_and_functions_of_lists_put_it_back(unset: SparkSession) -> None:
    rows = unset.range(100).selectExpr("timestamp_seconds(id * 30) AS ts", "id % 3 AS k", "id AS v")
    windows = [mt.tumbling("1 minute"), mt.hopping("10 minutes", "1 minute")]
    longest = mt.custom(
        "longest",
        lift=int,
        combine=max,
        lower=int,
        identity=0,
        idempotent=True,
        commutative=True,
        result="bigint",
    )
    for function, limit in ((mt.max("v"), LIFTED), (longest("v"), KEPT)):
        asked = mt.query("ts", windows, [function], "k")
        mt.optimize(asked, "shared-pairs", operator="kernel").apply(rows)
        assert unset.conf.get(LIMIT, None) == limit

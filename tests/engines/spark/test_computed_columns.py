"""A column computed beside rows: in their order, however the results are cut."""

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructField, StructType

from muntin.engines.spark.computed_columns import _Beside, _nullable, add_computed


def running_total(batches: Iterator[tuple[pa.Array, ...]]) -> Iterator[pa.Array]:
    """Of the first column, in pieces of three."""
    total, held = 0, []
    for values in batches:
        for value in values[0].to_pylist():
            total += value
            held.append(total)
        while len(held) >= 3:
            yield pa.array(held[:3])
            held = held[3:]
    if held:
        yield pa.array(held)


def test_a_running_total_stands_beside_its_rows(spark: SparkSession) -> None:
    rows = spark.range(0, 50, 1, 1).select("id", F.lit("x").alias("beside"))
    found = add_computed(rows, "total", running_total, ("id",), LongType())
    wanted = [(i, "x", i * (i + 1) // 2) for i in range(50)]
    assert [tuple(row) for row in found.where("id % 7 = 3").collect()] == wanted[3::7]


def test_whole_rows_through_python_keep_their_results() -> None:
    """The way of Spark 4.0, which has no arrow_udf."""
    table = pa.table({"id": range(10), "beside": [str(i) for i in range(10)]})
    given = iter(table.to_batches(max_chunksize=4))
    found = pa.Table.from_batches(_Beside(running_total, ("id",), "total")(given))
    assert found.select(["id", "beside"]) == table
    assert found["total"].to_pylist() == [i * (i + 1) // 2 for i in range(10)]


def test_every_part_of_a_type_may_be_null() -> None:
    inner = StructType([StructField("n", LongType(), nullable=False)])
    whole = StructType([StructField("s", inner, nullable=False)])
    found = _nullable(whole)
    assert isinstance(found, StructType)
    assert found["s"].nullable
    assert found["s"].dataType == StructType([StructField("n", LongType())])

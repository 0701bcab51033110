"""Rows through a function in Python, in Arrow batches that Spark cuts by their number alone.

From 4.1 on, Spark also ends a batch that has 64 MB, and to know that adds up the bytes of every
column after every row. That is most of what sending rows takes: 1.9 s for 5 million rows of four
numbers, and 0.5 s without. 10,000 rows, where a batch ends anyway, are far smaller than the limit
if they are numbers and texts. So for such rows the limit is lifted, a setting of the session. Once
rows that hold bytes or lists are sent, it is put back for good: Spark reads it when a query runs,
which may be long after others were built. One that somebody else has set is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import ArrayType, BinaryType, MapType, StructType

from muntin.engines.spark.settled_worker import Settling

LIMIT = "spark.sql.execution.arrow.maxBytesPerBatch"
LIFTED, KEPT = "2147483647b", "67108864b"
"""No limit, and Spark's own; in letters by which they are known as ours."""

_LARGE = (ArrayType, BinaryType, MapType, StructType)

Body = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""What a worker makes of a partition."""


def map_in_arrow(rows: DataFrame, body: Body, schema: StructType | str) -> DataFrame:
    """What a function makes of the rows of each partition."""
    limit_batches(rows)
    return rows.mapInArrow(Settling(body), schema)


def limit_batches(rows: DataFrame) -> None:
    """Have Spark add up the bytes of a batch only where rows may be large."""
    if any(isinstance(field.dataType, _LARGE) for field in rows.schema):
        keep_limit(rows.sparkSession)
    elif rows.sparkSession.conf.get(LIMIT, None) is None:
        rows.sparkSession.conf.set(LIMIT, LIFTED)


def keep_limit(spark: SparkSession) -> None:
    """Have Spark add up bytes from now on, unless somebody else has set the limit."""
    if spark.conf.get(LIMIT, None) in (None, LIFTED):
        spark.conf.set(LIMIT, KEPT)

"""Tables to measure on: parquet files of a stated number of rows and keys, written by Spark itself.

Every core has files to read, and each holds a stretch of time, as tables that grow have it.
"""

from __future__ import annotations

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

START = 1_700_000_000_000_000
"""14 November 2023: the first event, in microseconds."""


def make_table(spark: SparkSession, folder: str, rows: int, keys: int, rate: int) -> DataFrame:
    """Columns ts, device and value; the files are kept in the folder for the next time."""
    cores = cores_of(spark)
    path = f"{folder}/made-{rows}-{keys}-{rate}-{cores}.parquet"
    try:
        return spark.read.parquet(path)
    except AnalysisException:
        made = spark.range(0, rows, 1, 2 * cores).selectExpr(
            f"timestamp_micros({START}L + id * {1_000_000 // rate}L) AS ts",
            f"CAST(pmod(xxhash64(id), {keys}L) AS INT) AS device",
            "20 + 5 * randn(7) AS value",
        )
    made.write.parquet(path)
    return spark.read.parquet(path)


def cores_of(spark: SparkSession) -> int:
    """How many tasks run at once: into how many parts Spark splits a range by itself."""
    parts = spark.range(4096).select(F.spark_partition_id().alias("part")).distinct()
    return parts.count()

"""What needs Spark: the flights that the package ships, and what a running stream is doing."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from muntin.engines.spark.progress import Progress


def demo_flights(spark: SparkSession) -> DataFrame:
    """Departures from New York in 2013: departure, origin, carrier, dest, delay, distance."""
    return spark.read.parquet(str(files("muntin.demo") / "flights.parquet"))


def progress(query: StreamingQuery) -> Progress | None:
    """The last micro-batch of a stream: rates, results of each window, watermark, state, late rows.

    None before the first micro-batch has ended.
    """
    from muntin.engines.spark.progress import progress as of_spark

    return of_spark(query)

"""The flights that the package ships, as a Spark DataFrame."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def demo_flights(spark: SparkSession) -> DataFrame:
    """Departures from New York in 2013: departure, origin, carrier, dest, delay, distance."""
    return spark.read.parquet(str(files("muntin.demo") / "flights.parquet"))

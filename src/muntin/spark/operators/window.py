"""The window operator: Spark's own window() queries in a union, for all aggregates alike."""

from __future__ import annotations

from pyspark.sql import DataFrame

from muntin.physical import PhysicalPlan
from muntin.spark.beside import directly
from muntin.spark.bind import Bound


def run(physical: PhysicalPlan, bound: Bound) -> DataFrame:
    """Spark's own rows."""
    return directly(bound.df, bound.query)

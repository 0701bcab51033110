"""The window operator: Spark's own window() queries in a union, for all aggregates alike."""

from __future__ import annotations

from pyspark.sql import DataFrame

from muntin.engines.spark.bind import Bound
from muntin.engines.spark.unshared import compute_directly
from muntin.physical import PhysicalPlan


def run(physical: PhysicalPlan, bound: Bound) -> DataFrame:
    """Spark's own rows."""
    return compute_directly(bound.df, bound.query)

"""Whether Spark follows ANSI SQL: too large a number is an error, or else it wraps or is null."""

from __future__ import annotations

from pyspark.sql import DataFrame


def wraps(df: DataFrame) -> bool:
    """Whether sums of integers wrap around, as they do in Spark with ANSI mode off.

    The setting comes as the user spelled it, and Spark takes TRUE as well.
    """
    return str(df.sparkSession.conf.get("spark.sql.ansi.enabled")).strip().lower() != "true"

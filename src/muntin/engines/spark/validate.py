"""What is given as a table: a DataFrame, of a session that runs."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from muntin.errors import ColumnError


def check_table(df: Any) -> None:
    """Refuse what is no DataFrame, and one whose session has been stopped."""
    if not hasattr(type(df), "sparkSession"):
        raise ColumnError(f"expected a Spark DataFrame, got {type(df).__name__}")
    if _stopped(df.sparkSession):
        raise ColumnError(
            "the Spark session of this DataFrame has been stopped: read it again in a session "
            "that runs"
        )


def is_stream(df: Any) -> bool:
    """Whether a DataFrame is a streaming one; refused if its session has been stopped."""
    check_table(df)
    return bool(df.isStreaming)


def _stopped(spark: SparkSession) -> bool:
    """Spark Connect has a word for it; elsewhere a context that is stopped has no id."""
    if "connect" in type(spark).__module__:
        return bool(spark.is_stopped)  # type: ignore[attr-defined]
    try:
        return not spark.sparkContext.applicationId
    except AttributeError:
        return True

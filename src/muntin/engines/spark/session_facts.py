"""What a Spark session is: its version, classic or Connect, running or stopped, ANSI or not."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, SparkSession

from muntin.errors import ColumnError

Version = tuple[int, ...]

_LOCAL = re.compile(r"local(?:\[(?P<threads>\*|\d+)(?:,\d+)?\])?")


def version_of(spark: SparkSession) -> Version:
    """The version as numbers: (4, 0, 5)."""
    return tuple(int(n) for n in spark.version.split("-")[0].split(".")[:3] if n.isdigit())


def is_connect(of: SparkSession | DataFrame) -> bool:
    """Whether a session, or that of a DataFrame, is one of Spark Connect."""
    return type(of).__module__.startswith("pyspark.sql.connect")


def wraps(spark: SparkSession) -> bool:
    """Whether sums of integers wrap around, as they do in Spark with ANSI mode off.

    The setting comes as the user spelled it, and Spark takes TRUE as well.
    """
    return str(spark.conf.get("spark.sql.ansi.enabled")).strip().lower() != "true"


def shuffle_partitions(spark: SparkSession) -> int:
    """How many parts a shuffle has unless told."""
    return int(str(spark.conf.get("spark.sql.shuffle.partitions")))


def spread(rows: DataFrame, parts: int, by: Sequence[Column]) -> DataFrame:
    """The rows in so many parts, by the values of columns; Spark decides where it is one.

    Without columns all rows are one group, and in one part.
    """
    if not by:
        return rows.repartition(1)
    return rows.repartition(parts, *by) if parts > 1 else rows.repartition(*by)


def tasks_at_once(spark: SparkSession) -> int:
    """How many tasks run at the same time, as far as settings say; 1 where they do not."""
    master = str(spark.conf.get("spark.master", "") or "")
    local = _LOCAL.fullmatch(master)
    if local:
        asked = local["threads"] or "1"
        return (os.cpu_count() or 1) if asked == "*" else int(asked)
    named = ("spark.default.parallelism", "spark.executor.instances", "spark.executor.cores")
    told = (str(spark.conf.get(name, "") or "") for name in named)
    parallel, instances, cores = (int(each) if each.isdigit() else 0 for each in told)
    return max(parallel, instances * cores, 1)


def check_table(df: DataFrame) -> None:
    """Refuse what is no DataFrame, and one whose session has been stopped."""
    if not hasattr(type(df), "sparkSession"):
        raise ColumnError(f"expected a Spark DataFrame, got {type(df).__name__}")
    if _is_stopped(df.sparkSession):
        raise ColumnError(
            "the Spark session of this DataFrame has been stopped: read it again in a session "
            "that runs"
        )


def is_stream(df: DataFrame) -> bool:
    """Whether a DataFrame is a streaming one; refused if its session has been stopped."""
    check_table(df)
    return df.isStreaming


def _is_stopped(spark: SparkSession) -> bool:
    """Spark Connect says so; a classic context that is stopped has no id."""
    if is_connect(spark):
        return bool(spark.is_stopped)  # type: ignore[attr-defined]
    try:
        return not spark.sparkContext.applicationId
    except AttributeError:
        return True

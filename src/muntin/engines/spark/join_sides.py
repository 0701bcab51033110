"""The two sides of a join: rows as structs, with keys and times under plain names."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from muntin.dialects.spark_text import SparkWriter
from muntin.engines.spark.names import find_column
from muntin.engines.spark.session_facts import check_table
from muntin.engines.spark.streaming import Streaming, set_watermark
from muntin.model.query import Query


@dataclass(frozen=True, slots=True)
class JoinSide:
    """The rows of one side as a struct, with keys, time and microseconds under plain names.

    `given` is the table itself, with its watermark; `kind` the type of its time.
    """

    rows: DataFrame
    kind: str
    columns: list[str]
    given: DataFrame


def read_side(df: DataFrame, query: Query, prefix: str, streaming: Streaming) -> JoinSide:
    """The side whose names begin with the prefix, l or r."""
    check_table(df)
    marked = set_watermark(df, query, streaming) if df.isStreaming else df
    columns = df.columns
    time = find_column(query.time, columns, "time")
    keys = [find_column(key, columns, "key") for key in query.keys]
    kind = df.select(F.expr(time)).schema[0].dataType.simpleString()
    rows = marked.select(
        F.struct("*").alias({"l": "left", "r": "right"}[prefix]),
        F.expr(time).alias(f"{prefix}time"),
        F.expr(SparkWriter().microseconds(time, kind)).alias(f"{prefix}t"),
        *(F.expr(key).alias(f"{prefix}{i}") for i, key in enumerate(keys)),
    )
    return JoinSide(rows, kind, columns, marked)

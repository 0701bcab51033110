"""Rows from the future: left out before the watermark sees them, and counted.

One row from the year 2100 would move the watermark there, and every row after it would be late. So
rows whose time is further ahead of the clock than is allowed never reach the watermark:

    source ─ counted ─ time ≤ clock + ahead ─ watermark ─ operator

The clock is Spark's `current_timestamp()` of the micro-batch, which the checkpoint keeps: a batch
that is repeated leaves out the same rows. Rows without a time pass, as they do elsewhere.
"""

from __future__ import annotations

from itertools import count

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

OBSERVATION = "muntin future"
_made = count(1)
"""A query may hold several streams, and no two metrics of one name."""


def leave_out_future(df: DataFrame, time: str, ahead: int) -> DataFrame:
    """The rows whose time, a quoted column, is at most `ahead` microseconds after the clock."""
    limit = F.expr(f"timestamp_micros(unix_micros(current_timestamp()) + {ahead}L)")
    future = F.col(time) > limit
    counted = df.observe(f"{OBSERVATION} {next(_made)}", F.count_if(future).alias("future"))
    return counted.where(F.coalesce(~future, F.lit(True)))

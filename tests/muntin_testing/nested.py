"""The judges of mt.distinct and mt.join: one query of Spark's own for every window."""

from collections.abc import Sequence
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import muntin as mt


def spark_window(window: mt.Window, time: str = "ts") -> Any:
    lengths = [f"{n} microseconds" for n in (window.range, window.slide, window.offset)]
    return F.window(time, *lengths)


def one_query_a_window(df: DataFrame, windows: Sequence[mt.Window], by: list[str]) -> DataFrame:
    """The distinct `by` of every window, with the newest `ts` of each."""
    return reduce(
        DataFrame.unionAll,
        [
            df.groupBy(spark_window(w).alias("window"), *by)
            .agg(F.max("ts").alias("last_seen"))
            .select(F.lit(w.id).alias("window_id"), "window", *by, "last_seen")
            for w in windows
        ],
    )


def one_join_a_window(left: DataFrame, right: DataFrame, windows: Sequence[mt.Window]) -> DataFrame:
    """Pairs of one `user` in every window; the left has its time in `ts`, the right in `at`."""

    def one(window: mt.Window) -> DataFrame:
        ours, theirs = (
            df.select(F.struct("*").alias(name), F.col("user").alias(f"{name}_user"), at)
            for df, name, at in (
                (left, "left", spark_window(window).alias("lw")),
                (right, "right", spark_window(window, "at").alias("rw")),
            )
        )
        same = (F.col("left_user") == F.col("right_user")) & (F.col("lw") == F.col("rw"))
        columns = [F.col("lw").alias("window"), F.col("left_user").alias("user")]
        id = F.lit(window.id).alias("window_id")
        return ours.join(theirs, same).select(id, *columns, "left", "right")

    return reduce(DataFrame.unionAll, map(one, windows))

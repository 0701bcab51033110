"""The judges of mt.distinct and mt.join: one query of Spark's own for every window."""

from collections.abc import Sequence
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import muntin as mt
from muntin_testing.pairs import Given


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


def one_join_a_window(
    left: DataFrame, right: DataFrame, windows: Sequence[Given], where: str = "true"
) -> DataFrame:
    """Pairs of one `user` in every window; the left has its time in `ts`, the right in `at`.

    Where a window is given for each side, instances that end together are joined.
    """
    paired = any(isinstance(given, tuple) for given in windows)

    def one(given: Given) -> DataFrame:
        sides = given if isinstance(given, tuple) else (given, given)
        ours, theirs = (
            df.select(F.struct("*").alias(name), F.col("user").alias(f"{name}_user"), at)
            for df, name, at in (
                (left, "left", spark_window(sides[0]).alias("lw")),
                (right, "right", spark_window(sides[1], "at").alias("rw")),
            )
        )
        same = (F.col("left_user") == F.col("right_user")) & (F.col("lw.end") == F.col("rw.end"))
        bounds = [F.col("lw").alias("window")]
        bounds += [F.col("rw").alias("right_window")] if paired else []
        ids = list(dict.fromkeys(window.id for window in sides))
        id = F.lit(" & ".join(ids)).alias("window_id")
        user = F.col("left_user").alias("user")
        pairs = ours.join(theirs, same & F.expr(where))
        return pairs.select(id, *bounds, user, "left", "right")

    return reduce(DataFrame.unionAll, map(one, windows))

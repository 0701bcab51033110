"""Compare our features with Spark's own: every row, every window, every value.

Both results are stacked and grouped by the given row, so one shuffle finds rows that one side lacks
or has too often, and features that differ. Equal rows have equal features: a feature depends on the
keys and the time alone. Floats count as equal as in `muntin.engines.spark.verify`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_, or_

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from muntin.engines.spark.names import column
from muntin.engines.spark.verify import (
    comparable,
    first_value,
    is_missing,
    rounding,
    value_differs,
)
from muntin.engines.verification import SAMPLE, Verification, describe
from muntin.model.as_of import AsOf

Scales = Mapping[str, str]
"""For features that are sums of floats, the column with the size of what was added."""


def compare_frames(
    ours: DataFrame, theirs: DataFrame, given: Sequence[str], asked: AsOf, scales: Scales
) -> Verification:
    """Compare two results; `theirs` also has the columns of the scales."""
    types = dict(ours.dtypes)
    sizes = {name: f"s{i}" for i, name in enumerate(dict.fromkeys(scales.values()))}
    stacked = _side(ours, given, asked, sizes, 1).unionAll(_side(theirs, given, asked, sizes, 0))
    both = stacked.groupBy("keys").agg(
        F.collect_list(F.when(F.col("side") == 1, F.col("values"))).alias("ours"),
        F.collect_list(F.when(F.col("side") == 0, F.col("values"))).alias("theirs"),
        *(F.max(name).alias(name) for name in sizes.values()),
    )
    differs, exact = [F.size("ours") != F.size("theirs")], []
    for aggregate in asked.aggregates:
        for frame in asked.frames:
            name = asked.column(aggregate, frame)
            size = sizes[scales[name]] if name in scales else None
            differs.append(
                is_missing(name)
                if aggregate.function.approximate
                else value_differs(name, types[name], size)
            )
            exact.append(first_value("ours", name).eqNullSafe(first_value("theirs", name)))
    marked = both.select(
        *("keys", "ours", "theirs"),
        F.coalesce(reduce(or_, differs), F.lit(True)).alias("differs"),
        reduce(and_, exact).alias("exact"),
    )
    weight = F.greatest(F.size("ours"), F.size("theirs"))
    rows, different, rounded = (
        marked.agg(
            F.coalesce(F.sum(weight), F.lit(0)),
            F.coalesce(F.sum(F.when(F.col("differs"), weight)), F.lit(0)),
            F.coalesce(F.sum(F.when(~F.col("differs") & ~F.col("exact"), weight)), F.lit(0)),
        )
    ).collect()[0]
    sample = marked.where("differs").limit(SAMPLE).collect() if different else []
    approximate = any(a.function.approximate for a in asked.aggregates)
    words = tuple(map(_in_words, sample))
    return Verification(
        rows, different, tuple(sample), words, "Spark's own", 0 if approximate else rounded
    )


def _side(
    result: DataFrame, given: Sequence[str], asked: AsOf, sizes: Mapping[str, str], side: int
) -> DataFrame:
    kinds = {field.name: field.dataType for field in result.schema}

    def packed(names: Sequence[str]) -> Column:
        return F.struct(*(comparable(column(n), kinds[n]).alias(n) for n in names))

    scales = [
        (F.lit(None).cast("double") if side else column(name).cast("double")).alias(plain)
        for name, plain in sizes.items()
    ]
    return result.select(
        packed(given).alias("keys"),
        packed(asked.columns).alias("values"),
        F.lit(side).alias("side"),
        *scales,
    )


def _in_words(row: Row) -> str:
    where = ", ".join(f"{name}={value!r}" for name, value in row["keys"].asDict().items())
    ours, theirs = ([each.asDict() for each in row[side]][:1] for side in ("ours", "theirs"))
    if len(row["ours"]) != len(row["theirs"]):
        return f"{where}: {len(row['ours'])} rows against Spark's {len(row['theirs'])}"
    return f"{where}: {describe(ours, theirs, 'Spark', rounding)}"

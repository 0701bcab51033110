"""Compare our rows with Spark's own: every window, every key, every value.

Both results are stacked and grouped by window and keys, so one shuffle finds rows that only one
side has, rows that appear twice, and values that differ. Floating-point values count as equal
within a tolerance, since the order of addition differs: relative to the result, and for sums and
means to the size of what was added, since a sum that cancels to nothing keeps the rounding of its
terms. Of sketches, which are right only within an error, it is compared which results there are.
Everything else must be equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from math import inf
from operator import and_, or_

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    CalendarIntervalType,
    DataType,
    MapType,
    StructType,
    VariantType,
)

from muntin.aggregates.algebra import Aggregate, make
from muntin.aggregates.sums import Sum
from muntin.engines.spark.names import column, expression
from muntin.engines.spark.own_windows import run_own_windows
from muntin.engines.verification import SAMPLE, TOLERANCE, Verification, describe
from muntin.model.query import Query


def _in_words(row: Row) -> str:
    where = f"{row['window_id']} [{row['window']['start']}, {row['window']['end']})"
    keys = ", ".join(f"{k}={v!r}" for k, v in row["keys"].asDict().items()) if row["keys"] else ""
    ours, theirs = ([each.asDict() for each in row[side]] for side in ("ours", "theirs"))
    return f"{where} {keys}: {describe(ours, theirs, 'Spark', rounding)}"


def rounding(ours: object, theirs: object) -> str:
    """Whether rounding explains that two values are not the same."""
    if not isinstance(ours, float) or not isinstance(theirs, float):
        return ""
    gap = abs(ours - theirs) / max(abs(ours), abs(theirs), 5e-324)
    if gap <= TOLERANCE:
        return " (rounding, not counted)"
    return f" (relative difference {gap:.2g}, beyond the tolerance of {TOLERANCE:g})"


def compare(df: DataFrame, query: Query, ours: DataFrame) -> Verification:
    """Compare a result with Spark's own."""
    types = dict(ours.dtypes)
    scales = scales_of(df, query, types)
    theirs = run_own_windows(df, replace(query, aggregates=(*query.aggregates, *scales.values())))
    stacked = _side(ours, query, 1, scales).unionAll(_side(theirs, query, 0, scales))
    both = stacked.groupBy("window_id", "window", "keys").agg(
        F.collect_list(F.when(F.col("side") == 1, F.col("values"))).alias("ours"),
        F.collect_list(F.when(F.col("side") == 0, F.col("values"))).alias("theirs"),
        *(F.max(scale.name).alias(scale.name) for scale in scales.values()),
    )
    differs = [
        is_missing(a.name)
        if a.function.approximate
        else value_differs(a.name, types[a.name], scales[a.name].name if a.name in scales else None)
        for a in query.aggregates
    ]
    alone = (F.size("ours") != 1) | (F.size("theirs") != 1)
    exact = [
        first_value("ours", a.name).eqNullSafe(first_value("theirs", a.name))
        for a in query.aggregates
    ]
    marked = both.select(
        *("window_id", "window", "keys", "ours", "theirs"),
        F.coalesce(reduce(or_, [alone, *differs]), F.lit(True)).alias("differs"),
        reduce(and_, exact).alias("exact"),
    )
    counts = marked.agg(
        F.count(F.lit(1)), F.count_if("differs"), F.count_if(~F.col("differs") & ~F.col("exact"))
    )
    rows, different, rounded = counts.collect()[0]
    first = marked.where("differs").orderBy("window_id", "window").limit(SAMPLE)
    shown = first.drop("differs", "exact")
    sample = shown.collect() if different else []
    approximate = any(a.function.approximate for a in query.aggregates)
    words, judge = tuple(map(_in_words, sample)), "Spark's own"
    rounded = 0 if approximate else rounded
    return Verification(rows, different, tuple(sample), words, judge, rounded)


def scales_of(df: DataFrame, query: Query, types: Mapping[str, str]) -> dict[str, Aggregate]:
    """For each sum or mean of floats, how large what was added is: the sum of absolute values."""
    scales = {}
    for i, a in enumerate(query.aggregates):
        if a.function.invertible and types[a.name] in ("double", "float") and len(a.arguments) == 1:
            value = f"abs(CAST(({expression(a.arguments[0], df.columns)}) AS DOUBLE))"
            size = make(Sum(), value).alias(f"muntin_scale_{i}")
            scales[a.name] = size.filter(a.predicate) if a.predicate else size
    return scales


def _side(result: DataFrame, query: Query, side: int, scales: Mapping[str, Aggregate]) -> DataFrame:
    keys = [column(k) for k in query.keys] or [F.lit(0).alias("none")]
    kinds = {field.name: field.dataType for field in result.schema}
    values = [comparable(column(a.name), kinds[a.name]).alias(a.name) for a in query.aggregates]
    names = [scale.name for scale in scales.values()]
    return result.select(
        "window_id",
        "window",
        F.struct(*keys).alias("keys"),
        F.struct(*values).alias("values"),
        F.lit(side).alias("side"),
        *((F.lit(None).cast("double") if side else F.col(s)).alias(s) for s in names),
    )


def first_value(side: str, name: str) -> Column:
    """A value of the first row of a side."""
    return F.get(side, F.lit(0))[name]


def is_missing(name: str) -> Column:
    """Whether only one side has a value: two sketches of the same rows need not be equal."""
    return first_value("ours", name).isNull() != first_value("theirs", name).isNull()


def value_differs(name: str, kind: str, size: str | None = None) -> Column:
    """Whether a value differs; `size` names the column with the size of what was added."""
    ours, theirs = first_value("ours", name), first_value("theirs", name)
    equal = ours.eqNullSafe(theirs)
    if kind in ("double", "float"):
        scale = F.greatest(F.abs(ours), F.abs(theirs), *([F.col(size)] if size else []))
        # NaN <= NaN and inf <= inf hold in Spark: without the bound, all would be close to them.
        finite = F.greatest(F.abs(ours), F.abs(theirs)) < F.lit(inf)
        close = (F.abs(ours - theirs) <= scale * F.lit(TOLERANCE)) & finite
        equal = equal | F.coalesce(close, F.lit(False))
    return ~equal


def comparable(value: Column, kind: DataType) -> Column:
    """The value as one that Spark compares, and that is equal where the values are.

    Maps become their entries, variants JSON, intervals of make_interval text; nested ones too.
    """
    match kind:
        case MapType():
            pairs = StructType().add("key", kind.keyType).add("value", kind.valueType)
            return comparable(F.map_entries(value), ArrayType(pairs))
        case ArrayType():
            return F.transform(value, lambda each: comparable(each, kind.elementType))
        case StructType():
            fields = [comparable(value[f.name], f.dataType).alias(f.name) for f in kind]
            return F.when(value.isNotNull(), F.struct(*fields))
        case VariantType():
            return F.to_json(value)
        case CalendarIntervalType():
            return value.cast("string")
    return value

"""Compare our rows with Spark's own: every window, every key, every value.

Both results are stacked and grouped by window and keys, so one shuffle finds rows that only one
side has, rows that appear twice, and values that differ. Floating-point values count as equal
within a relative tolerance, since the order of addition differs; everything else must be equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import inf
from operator import or_

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from muntin.query import Query
from muntin.spark.names import quoted
from muntin.spark.native import native

TOLERANCE = 1e-9
SAMPLE = 20


@dataclass(frozen=True, slots=True, repr=False)
class Verification:
    """The outcome: how many rows were compared, how many differ, and some that do."""

    rows: int
    different: int
    sample: tuple[Row, ...]

    @property
    def equal(self) -> bool:
        """Whether all rows are equal."""
        return self.different == 0

    def __bool__(self) -> bool:
        return self.equal

    def __repr__(self) -> str:
        if self.equal:
            return f"equal: all {self.rows:,} rows are Spark's own"
        lines = [f"different: {self.different:,} of {self.rows:,} rows"]
        lines += [f"  {_in_words(row)}" for row in self.sample]
        return "\n".join(lines)


def _in_words(row: Row) -> str:
    where = f"{row['window_id']} [{row['window']['start']}, {row['window']['end']})"
    keys = ", ".join(f"{k}={v!r}" for k, v in row["keys"].asDict().items()) if row["keys"] else ""
    if not row["ours"] or not row["theirs"]:
        missing = "only Spark has it" if not row["ours"] else "only Muntin has it"
        return f"{where} {keys}: {missing}"
    ours, theirs = row["ours"][0].asDict(), row["theirs"][0].asDict()
    if len(row["ours"]) > 1 or len(row["theirs"]) > 1:
        return f"{where} {keys}: {len(row['ours'])} rows against Spark's {len(row['theirs'])}"
    pairs = [f"{n} = {ours[n]!r}, Spark's {theirs[n]!r}" for n in ours if ours[n] != theirs[n]]
    return f"{where} {keys}: {'; '.join(pairs)}"


def compare(df: DataFrame, query: Query, ours: DataFrame) -> Verification:
    """Compare a result with Spark's own."""
    theirs = native(df, query)
    stacked = _side(ours, query, 1).unionAll(_side(theirs, query, 0))
    both = stacked.groupBy("window_id", "window", "keys").agg(
        F.collect_list(F.when(F.col("side") == 1, F.col("values"))).alias("ours"),
        F.collect_list(F.when(F.col("side") == 0, F.col("values"))).alias("theirs"),
    )
    types = {f.name: f.dataType.simpleString() for f in ours.schema}
    differs = [_differs(a.name, types[a.name]) for a in query.aggregates]
    alone = (F.size("ours") != 1) | (F.size("theirs") != 1)
    marked = both.withColumn("differs", F.coalesce(reduce(or_, [alone, *differs]), F.lit(True)))
    counts = marked.agg(
        F.count(F.lit(1)), F.coalesce(F.sum(F.col("differs").cast("bigint")), F.lit(0))
    )
    rows, different = counts.collect()[0]
    sample = marked.where("differs").drop("differs").limit(SAMPLE).collect() if different else []
    return Verification(rows, different, tuple(sample))


def _side(result: DataFrame, query: Query, side: int) -> DataFrame:
    keys = [F.col(quoted(k)) for k in query.keys] or [F.lit(0).alias("none")]
    values = [F.col(quoted(a.name)) for a in query.aggregates]
    return result.select(
        "window_id",
        "window",
        F.struct(*keys).alias("keys"),
        F.struct(*values).alias("values"),
        F.lit(side).alias("side"),
    )


def _differs(name: str, kind: str) -> Column:
    ours, theirs = (F.col(f"{side}")[0][name] for side in ("ours", "theirs"))
    equal = ours.eqNullSafe(theirs)
    if kind in ("double", "float"):
        scale = F.greatest(F.abs(ours), F.abs(theirs))
        # NaN <= NaN and inf <= inf hold in Spark: without the bound, all would be close to them.
        close = (F.abs(ours - theirs) <= scale * F.lit(TOLERANCE)) & (scale < F.lit(inf))
        equal = equal | F.coalesce(close, F.lit(False))
    return ~equal

"""Aggregates that cannot be shared, computed directly beside those that can.

Holistic functions have no partials, and an older Spark may lack the functions that make them: both
are left to Spark's own window() queries. Their rows are the same instances as ours, so one join by
window and keys, null-safe, puts them side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from operator import and_

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from muntin.aggregates import Aggregate
from muntin.query import Query
from muntin.spark.faults import REFUSALS, told, unlogged
from muntin.spark.names import quoted
from muntin.spark.native import native
from muntin.spark.versions import version_of


def split(query: Query, spark: SparkSession) -> tuple[Query | None, Query | None]:
    """The part of the query that this Spark can share, and the part that it cannot."""
    version = version_of(spark)

    def part(chosen: Callable[[Aggregate], bool]) -> Query | None:
        some = tuple(a for a in query.aggregates if chosen(a))
        return replace(query, aggregates=some) if some else None

    def direct(a: Aggregate) -> bool:
        return a.function.holistic or a.function.since > version

    return part(lambda a: not direct(a)), part(direct)


def directly(df: DataFrame, query: Query) -> DataFrame:
    """Spark's own rows, with a sentence for an aggregate that does not fit its column."""
    try:
        with unlogged():
            rows = native(df, query)
            rows.schema  # noqa: B018  (Connect analyses only now)
    except REFUSALS:
        for each in query.aggregates:
            with told(f"{each.name} cannot be computed"):
                native(df, replace(query, aggregates=(each,))).schema  # noqa: B018
        raise
    return rows


def joined(shared: DataFrame, direct: DataFrame, query: Query) -> DataFrame:
    """Both sides by window and keys, with the columns in the order that was asked for."""
    by = ["window_id", "window", *query.keys]
    left, right = (_numbered(side, by, prefix) for side, prefix in ((shared, "s"), (direct, "d")))
    same = [F.col(f"s{i}").eqNullSafe(F.col(f"d{i}")) for i, _ in enumerate(by)]
    places = {name: f"d{i}" for i, name in enumerate(direct.columns)}
    places |= {name: f"s{i}" for i, name in enumerate(shared.columns)}
    both = left.join(right, reduce(and_, same))
    names = [*by, *(a.name for a in query.aggregates)]
    return both.select(*(F.col(places[name]).alias(name) for name in names))


def _numbered(side: DataFrame, by: list[str], prefix: str) -> DataFrame:
    """Plain names, whatever the user's are: first what is joined by, as it stands in every row."""
    assert side.columns[: len(by)] == by, "a long result begins with window and keys"
    return side.select(
        *(F.col(quoted(name)).alias(f"{prefix}{i}") for i, name in enumerate(side.columns))
    )

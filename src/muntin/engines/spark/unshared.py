"""Aggregates that cannot be shared, computed directly beside those that can.

Holistic functions have no partials, an older Spark may lack the functions that make them, and over
some types they cannot give Spark's own result: all these are left to Spark's window() queries.
Their rows are the same instances as ours, so one join by window and keys, null-safe, puts them side
by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import and_

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from muntin.aggregates import Aggregate
from muntin.aggregates.columns import inputs_of
from muntin.engines.spark.faults import try_parts
from muntin.engines.spark.names import column
from muntin.engines.spark.own_windows import run_own_windows
from muntin.engines.spark.session_facts import version_of
from muntin.engines.spark.table import kinds_of
from muntin.model.query import Query

_HOLISTIC = (
    "keeps every value of a window, which no state of bounded size can hold: take "
    "mt.approx_percentile"
)


def split(query: Query, df: DataFrame) -> tuple[Query | None, Query | None]:
    """The part of the query that this Spark can share over this table, and the rest."""
    reasons = find_unshared(query, df)
    direct = tuple(a for a in query.aggregates if a.name in reasons)
    shared = tuple(a for a in query.aggregates if a.name not in reasons)
    first, second = (replace(query, aggregates=a) if a else None for a in (shared, direct))
    return first, second


def find_unshared(query: Query, df: DataFrame) -> dict[str, str]:
    """The names of the aggregates that cannot be shared, each with what is to be said of it."""
    reasons, version = {}, version_of(df.sparkSession)
    for each in query.aggregates:
        if each.function.holistic:
            reasons[each.name] = _HOLISTIC
        elif each.function.since > version:
            since = ".".join(map(str, each.function.since))
            reasons[each.name] = f"is shared only from Spark {since} on"
    typed = tuple(a for a in query.aggregates if a.function.by_type and a.name not in reasons)
    kinds = kinds_of(df, replace(query, aggregates=typed, keys=())) if typed else {}
    for each in typed:
        reason = each.function.unshared([kinds[own] for own in inputs_of(each)])
        if reason is not None:
            reasons[each.name] = reason
    return reasons


def compute_directly(df: DataFrame, query: Query) -> DataFrame:
    """Spark's own rows, with a sentence for an aggregate that does not fit its column."""

    def analyse(some: Sequence[Aggregate]) -> DataFrame:
        rows = run_own_windows(df, replace(query, aggregates=tuple(some)))
        rows.schema  # noqa: B018  (Connect analyses only now)
        return rows

    return try_parts(analyse, query.aggregates, lambda aggregate: aggregate.name)


def join_direct(shared: DataFrame, direct: DataFrame, query: Query) -> DataFrame:
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
    return side.select(*(column(name).alias(f"{prefix}{i}") for i, name in enumerate(side.columns)))

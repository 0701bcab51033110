"""Hand the long result of a combined query out: each query gets its own rows and columns.

A constant lookup on its window explodes every row into the queries that want it, under their own
ids: one pass, no scan or union for each query.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from muntin.dialects.spark_text import SparkWriter
from muntin.engines.spark.names import column, constant
from muntin.model.queries import QUERY_ID, Frame, Member, SharingSet, check_types

_LABELS = "MAP<STRING, ARRAY<STRUCT<query_id: STRING, window_id: STRING>>>"


def stack_results(
    longs: Sequence[DataFrame], sets: Sequence[SharingSet], beside: Sequence[str] = ()
) -> DataFrame:
    """One result for all queries, from the long result of each set's combined query.

    Columns `beside` the results, which a stream may have, go with every row.
    """
    frame = Frame.of(sets)
    check_types(sets, [dict(long.dtypes) for long in longs])
    parts = [_hand_out(long, each, beside) for long, each in zip(longs, sets, strict=True)]
    stacked = reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), parts)
    names = [QUERY_ID, "window_id", "window", *frame.keys, *frame.results, *beside]
    return stacked.select(*map(column, names))


def key_names(sets: Sequence[SharingSet]) -> list[str]:
    """The columns of the one result that tell its rows apart, but for the window."""
    return [QUERY_ID, "window_id", *Frame.of(sets).keys]


def select_own(long: DataFrame, member: Member, beside: Sequence[str] = ()) -> DataFrame:
    """The long result of one query of a set."""
    asked = {combined: id for id, combined in member.windows.items()}
    labels = constant(asked, "MAP<STRING, STRING>")
    return long.where(F.col("window_id").isin(list(asked))).select(
        F.expr(f"element_at({labels}, window_id)").alias("window_id"),
        "window",
        *map(column, member.query.keys),
        *(column(place).alias(name) for name, place in member.results.items()),
        *beside,
    )


def _hand_out(long: DataFrame, each: SharingSet, beside: Sequence[str]) -> DataFrame:
    labels: dict[str, list[dict[str, str]]] = {w.id: [] for w in each.query.all_windows}
    for member in each.members:
        for id, combined in member.windows.items():
            labels[combined].append({QUERY_ID: member.id, "window_id": id})
    lookup = f"element_at({constant(labels, _LABELS)}, window_id)"
    rows = long.select(
        F.inline(F.expr(lookup)),
        "window",
        *(column(key).alias(f"k{i}") for i, key in enumerate(each.query.keys)),
        *(column(a.name).alias(f"a{i}") for i, a in enumerate(each.query.aggregates)),
        *beside,
    )
    place = {a.name: f"a{i}" for i, a in enumerate(each.query.aggregates)}
    names = dict.fromkeys(name for member in each.members for name in member.results)
    return rows.select(
        QUERY_ID,
        "window_id",
        "window",
        *(F.col(f"k{i}").alias(key) for i, key in enumerate(each.query.keys)),
        *(F.expr(_value(name, each, place)).alias(name) for name in names),
        *beside,
    )


def _value(name: str, each: SharingSet, place: dict[str, str]) -> str:
    """SQL for what a name means in the row of each query; null where it means nothing."""
    asked: dict[str, list[str]] = {}
    for member in each.members:
        if name in member.results:
            own = place[member.results[name]]
            asked.setdefault(own, []).append(SparkWriter().literal(member.id))
    if len(asked) == 1 and sum(map(len, asked.values())) == len(each.members):
        return next(iter(asked))
    cases = [f"WHEN {QUERY_ID} IN ({', '.join(ids)}) THEN {c}" for c, ids in asked.items()]
    return f"CASE {' '.join(cases)} END"

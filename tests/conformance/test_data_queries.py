"""Several queries of windows that the data decides: each has the rows that it has by itself."""

from collections import Counter
from random import Random
from typing import Any

from pyspark.sql import SparkSession

import muntin as mt
from conformance.data_queries import (
    expected,
    queries,
    records,
    rows_of,
    table_of,
)
from conformance.selection import SEED, many
from muntin.engines.duckdb import connect
from muntin.model.queries import sharing_sets
from muntin_testing.reached import Reached


def as_given(rows: Any, kind: int) -> Any:
    """The records as an Arrow table, a pandas DataFrame or a relation."""
    table = table_of(rows)
    return (table, table.to_pandas(), connect().from_arrow(table))[kind]


def as_rows(result: Any) -> list[dict[str, Any]]:
    """The rows of a result of any of these kinds."""
    if hasattr(result, "to_pylist"):
        return list(result.to_pylist())
    if hasattr(result, "to_dict"):
        return list(result.to_dict("records"))
    return list(result.to_arrow_table().to_pylist())


def test_several_queries_in_process_have_the_rows_of_each_by_itself() -> None:
    reached = Reached()
    for number in range(many(24, 300)):
        random = Random(f"{SEED}/data/{number}")
        rows, asked = records(random, 20), queries(random)
        data = as_given(rows, number % 3)
        together = as_rows(mt.aggregate(data, queries=asked))
        for id, query in asked.items():
            ours = rows_of(together, query, id)
            meant = expected(query, rows)
            theirs = _alone(query, rows) if meant is None else meant
            assert ours == theirs, f"{SEED}/data/{number} {id}: {_differ(ours, theirs)}"
            reached["by meaning" if meant is not None else "by itself"] += len(theirs) > 0
        for each in sharing_sets(asked):
            windows = [w for m in each.members for w in m.windows.values()]
            several = len(each.members) > 1 and bool(each.query.data_windows)
            reached["share"] += several
            reached["share with periodic"] += several and bool(each.query.windows)
            reached["one window for two"] += several and len(set(windows)) < len(windows)
            reached["apart for order"] += "order_by" in each.reason
    reached.at_least(
        many(4, 40),
        *("by meaning", "by itself", "share", "share with periodic"),
        *("one window for two", "apart for order"),
    )


def _alone(query: mt.Query, rows: Any) -> Counter[tuple[Any, ...]]:
    return rows_of(as_rows(mt.optimize(query).apply(table_of(rows))), query)


def _differ(ours: Counter[Any], theirs: Counter[Any]) -> str:
    return f"only ours {list(ours - theirs)[:3]}, only theirs {list(theirs - ours)[:3]}"


def test_a_result_for_each_query() -> None:
    random = Random(f"{SEED}/dict")
    rows, asked = records(random, 20), queries(random)
    for kind in range(3):
        apart = mt.aggregate(as_given(rows, kind), queries=asked, deliver="dict")
        for id, query in asked.items():
            assert rows_of(as_rows(apart[id]), query) == (
                expected(query, rows) or _alone(query, rows)
            )


def test_several_queries_on_spark_have_the_rows_of_each_by_itself(frugal: SparkSession) -> None:
    """One set is enough: what Spark runs is one plan, and delivery is that of all queries."""
    for number in range(many(1, 12)):
        random = Random(f"{SEED}/spark/{number}")
        rows, asked = records(random, 25), queries(random)
        while not any(len(s.members) > 2 and s.query.data_windows for s in sharing_sets(asked)):
            asked = queries(random)
        df = frugal.createDataFrame(table_of(rows))
        together = [row.asDict(True) for row in mt.aggregate(df, queries=asked).collect()]
        for id, query in asked.items():
            ours, meant = rows_of(together, query, id), expected(query, rows)
            assert meant is None or ours == meant, f"{SEED}/spark/{number} {id}"

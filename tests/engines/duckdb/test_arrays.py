"""The arrays operator: the rows of SQL, also where NumPy and DuckDB could disagree."""

from typing import Any

import duckdb
import pyarrow as pa
import pytest

import muntin as mt
from muntin.engines.duckdb import ENGINE
from muntin.model.choices import InProcessOperator

WINDOWS = [mt.tumbling("1 minute"), mt.hopping("10 minutes", "1 minute")]
MINUTE = 60_000_000
BOTH: tuple[InProcessOperator, ...] = ("arrays", "sql")


def table(**columns: Any) -> pa.Table:
    rows = len(next(iter(columns.values())))
    instants = [(i - rows // 2) * MINUTE // 2 for i in range(rows)]  # half of them before 1970
    return pa.table({"ts": pa.array(instants, pa.timestamp("us", "UTC")), **columns})


def rows_by(operator: InProcessOperator, data: pa.Table, *aggregates: mt.Aggregate) -> list[Any]:
    found = mt.aggregate(data, "ts", WINDOWS, aggregates, keys="k", operator=operator)
    return sorted(map(repr, found.to_pylist()))


@pytest.mark.parametrize(
    "keys",
    [
        [0.0, -0.0, 1.0, float("nan"), None] * 8,
        [None, "a", "", "a\0b", "ä"] * 8,
        [True, False, None, True, False] * 8,
        [(2**63 - 1), -(2**63), 0, None, 1] * 8,
    ],
    ids=["floats", "texts", "truth", "integers"],
)
def test_keys_are_grouped_as_sql_groups_them(keys: list[Any]) -> None:
    data = table(k=keys, v=list(range(40)))
    asked = (mt.count().alias("n"), mt.max("v").alias("high"), mt.sum("v").alias("total"))
    by_arrays = rows_by("arrays", data, *asked)
    assert len(by_arrays) > 100
    assert [row.replace("-0.0", "0.0") for row in by_arrays] == [
        row.replace("-0.0", "0.0") for row in rows_by("sql", data, *asked)
    ]


def test_no_rows_give_no_rows_of_the_same_types() -> None:
    data = table(k=["a"], v=[1]).slice(1)
    asked = [mt.avg("v"), mt.min("k").alias("least")]
    found = {
        operator: mt.aggregate(data, "ts", WINDOWS, asked, keys="k", operator=operator)
        for operator in BOTH
    }
    assert found["arrays"].num_rows == 0
    assert found["arrays"].schema == found["sql"].schema


@pytest.mark.parametrize("operator", ["arrays", "sql"])
def test_a_sum_that_does_not_fit_names_the_aggregate(operator: InProcessOperator) -> None:
    data = table(k=["a"] * 4, v=[2**62] * 4)
    with pytest.raises(mt.MuntinError, match=r"^total cannot be computed: a value does not fit"):
        rows_by(operator, data, mt.max("v").alias("high"), mt.sum("v").alias("total"))


def test_a_relation_stays_lazy() -> None:
    connection = duckdb.connect()
    relation = connection.from_arrow(table(k=["a"] * 4, v=[1] * 4))
    plan = mt.explain(relation, "ts", WINDOWS, [mt.sum("v")], keys="k")
    assert "by sql" in plan.explain()
    with pytest.raises(mt.MuntinError, match="a relation stays lazy"):
        mt.aggregate(relation, "ts", WINDOWS, [mt.sum("v")], keys="k", operator="arrays")


def test_types_that_arrays_do_not_have_are_left_to_sql() -> None:
    lists = table(k=[[1], [2], [1], None], v=[1, 2, 3, 4])
    found = mt.aggregate(lists, "ts", WINDOWS, [mt.sum("v")], keys="k")
    assert found.num_rows > 10
    with pytest.raises(mt.MuntinError, match="key 'k' has a type that arrays do not have"):
        rows_by("arrays", lists, mt.sum("v"))


def test_what_runs_is_verified() -> None:
    data = table(k=["a", "b"] * 50, v=[float(i % 7) for i in range(100)])
    query = mt.query("ts", WINDOWS, [mt.avg("v"), mt.var_pop("v")], keys="k")
    plan = mt.optimize(query, engine="duckdb", operator="arrays")
    bound, choice = plan.bind(ENGINE, data)
    assert choice.operator.name == "arrays"
    assert ENGINE.compare(choice, bound).equal


def test_several_queries_share_arrays() -> None:
    data = table(k=["a", "b"] * 50, v=list(range(100)))
    queries = {
        "one": mt.query("ts", WINDOWS, [mt.sum("v").alias("x")], keys="k"),
        "two": mt.query("ts", [mt.hopping("5 minutes", "1 minute")], [mt.max("v").alias("x")]),
    }
    found = {
        operator: sorted(
            map(repr, mt.aggregate(data, queries=queries, operator=operator).to_pylist())
        )
        for operator in BOTH
    }
    assert len(found["arrays"]) > 100
    assert found["arrays"] == found["sql"]

"""Several queries as one: who shares, under which names, and why others do not."""

import pyarrow as pa
import pytest

import muntin as mt
from muntin.model.queries import Frame, check_types, sharing_sets

TEN, HOUR = mt.tumbling("10 minutes"), mt.tumbling("1 hour")


def test_equal_windows_are_computed_once_whatever_their_ids() -> None:
    a = mt.query("ts", [TEN, mt.tumbling("1 hour", id="long")], [mt.count()])
    b = mt.query("ts", [HOUR, mt.tumbling("1 day", id="long")], [mt.count()])
    [each] = sharing_sets({"a": a, "b": b})
    assert [w.id for w in each.query.windows] == ["10 minutes", "long", "long of b"]
    assert each.members[0].windows == {"10 minutes": "10 minutes", "long": "long"}
    assert each.members[1].windows == {"1 hour": "long", "long": "long of b"}


def test_one_name_may_mean_two_things() -> None:
    a = mt.query("ts", [TEN], [mt.sum("v").alias("x"), mt.sum("v").alias("y")])
    b = mt.query("ts", [TEN], [mt.max("v").alias("x"), mt.sum("v").filter("v > 0").alias("y")])
    [each] = sharing_sets({"a": a, "b": b})
    assert len(each.query.aggregates) == 3
    assert each.members[0].results == {"x": "x", "y": "x"}
    assert len(set(each.members[1].results.values())) == 2
    assert Frame.of((each,)).results == ("x", "y")


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (mt.query("ts", [TEN], [mt.count()], keys="k"), "keys k, not none"),
        (mt.query("ts", [TEN], [mt.count()], where="v > 0"), "filter v > 0, not none"),
        (mt.query("at", [TEN], [mt.count()]), "time column at, not ts"),
        (mt.query("ts", [TEN], [mt.count()], bounds="asa"), "bounds asa, not spark"),
        (mt.query("ts", [TEN], [mt.median("v")]), "median(v) has no partials to share"),
    ],
)
def test_what_cannot_share_is_planned_apart_with_a_reason(other: mt.Query, reason: str) -> None:
    first = mt.query("ts", [TEN], [mt.count()])
    sets = sharing_sets({"first": first, "other": other, "third": first})
    assert [each.ids for each in sets] == [("first", "third"), ("other",)]
    assert sets[1].reason == reason
    plans = mt.optimize(queries={"first": first, "other": other, "third": first})
    assert f"query other: a plan of its own ({reason})" in plans.explain()


def test_keys_in_another_order_share() -> None:
    a = mt.query("ts", [TEN], [mt.count()], keys=["k", "l"])
    b = mt.query("ts", [HOUR], [mt.count()], keys=["l", "k"])
    assert len(sharing_sets({"a": a, "b": b})) == 1


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        ({}, "must be queries by their ids"),
        ([mt.query("ts", [TEN], [mt.count()])], "must be queries by their ids"),
        ({"": mt.query("ts", [TEN], [mt.count()])}, "non-empty"),
        ({"a": TEN}, "not a query from mt.query"),
        ({"a": mt.query("ts", [TEN], [mt.count().alias("query_id")])}, "column of the result"),
    ],
)
def test_wrong_queries_are_refused(queries: object, message: str) -> None:
    with pytest.raises(mt.MuntinError, match=message):
        mt.optimize(queries=queries)  # type: ignore[call-overload]


def test_one_column_has_one_type() -> None:
    a = mt.query("ts", [TEN], [mt.count().alias("x")])
    b = mt.query("ts", [TEN], [mt.avg("v").alias("x")])
    [each] = sharing_sets({"a": a, "b": b})
    types = {"window": "w", "x": "bigint", "x of b": "double"}
    with pytest.raises(mt.MuntinError, match=r"'x' is bigint in query 'a' and double in query 'b'"):
        check_types((each,), (types,))
    c = mt.query("ts", [TEN], [mt.count()], keys="x")
    with pytest.raises(mt.MuntinError, match="a key of query 'c' and a result of query 'a'"):
        Frame.of(sharing_sets({"a": a, "c": c}))
    d = mt.query("ts", [TEN], [mt.count().alias("X")])
    with pytest.raises(mt.MuntinError, match="differ only in case"):
        Frame.of(sharing_sets({"a": a, "d": d}))


def test_a_plan_for_many_is_no_more_than_a_plan_for_their_union() -> None:
    windows = [mt.hopping(f"{n} minutes", "1 minute") for n in (5, 10, 60)]
    queries = {w.id: mt.query("ts", [w], [mt.avg("v"), mt.count("v")]) for w in windows}
    plans = mt.optimize(queries=queries)
    together = mt.optimize(mt.query("ts", windows, [mt.avg("v"), mt.count("v")]))
    assert plans.cost == together.cost
    assert plans.cost < sum(mt.optimize(q).cost for q in queries.values())


def test_optimize_takes_one_query_or_several() -> None:
    one, table = mt.query("ts", [TEN], [mt.count()]), pa.table({"ts": []})
    with pytest.raises(mt.MuntinError, match="not both"):
        mt.optimize(one, queries={"a": one})  # type: ignore[call-overload]
    with pytest.raises(mt.MuntinError, match="hold their own time"):
        mt.aggregate(table, time="ts", queries={"a": one})  # type: ignore[call-overload]
    with pytest.raises(mt.MuntinError, match="needs several queries"):
        mt.aggregate(table, "ts", [TEN], [mt.count()], deliver="dict")  # type: ignore[call-overload]

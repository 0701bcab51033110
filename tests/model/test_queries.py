"""Several queries as one: who shares, under which names, and why others do not."""

from dataclasses import replace

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


VISITS = mt.query("ts", [mt.session("1 hour"), TEN], [mt.count()])
FIVE = mt.query("ts", [mt.count_window(5)], [mt.sum("v")], order_by="n")


def test_windows_of_the_data_share_with_each_other_and_with_periodic_ones() -> None:
    alarms = mt.query("ts", [mt.punctuation("go"), mt.count_window(5, id="x")], [mt.count()])
    ordered = replace(alarms, order_by=("n",))
    hours = mt.query("ts", [HOUR], [mt.max("v")])
    asked = {"visits": VISITS, "five": FIVE, "alarms": ordered, "hours": hours}
    [each] = sharing_sets(asked)
    assert [w.id for w in each.query.data_windows] == ["5 records", "from go", "session 1 hour"]
    assert {w.id for w in each.query.windows} == {"10 minutes", "1 hour"}
    assert each.query.order_by == ("n",)
    assert each.common == {"5 records": ("five", "alarms"), "count": ("visits", "alarms")}
    explained = mt.optimize(queries=asked).explain()
    assert "computed once for several: 5 records (five, alarms); count (visits, al" in explained
    assert explained.count("slices where windows begin") == 1


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (
            mt.query("ts", [mt.count_window(5)], [mt.sum("v")]),
            "give both queries the same order_by",
        ),
        (mt.query("ts", [mt.count_window(5)], [mt.sum("v")], order_by="m"), "the same order_by"),
        (
            mt.query("ts", [mt.session("1 hour")], [mt.collect_set("v")]),
            "only by the engine itself",
        ),
        (mt.query("ts", [HOUR], [mt.approx_count_distinct("v")]), "only by the engine itself"),
    ],
)
def test_what_would_change_a_querys_rows_is_planned_apart(other: mt.Query, reason: str) -> None:
    sets = sharing_sets({"visits": VISITS, "five": FIVE, "other": other})
    assert [each.ids for each in sets] == [("visits", "five"), ("other",)]
    assert reason in sets[1].reason


def test_ties_are_broken_alike_where_windows_read_and_aggregate_the_same() -> None:
    queries = {str(n): mt.query("ts", [mt.count_window(n)], [mt.avg("v")]) for n in (5, 7)}
    assert len(sharing_sets(queries)) == 1
    many = mt.query("ts", [mt.count_window(9)], [mt.avg("v"), mt.max("w")])
    assert len(sharing_sets({**queries, "9": many})) == 2


def test_on_a_stream_periodic_windows_keep_their_late_rows() -> None:
    asked = {"visits": VISITS, "hours": mt.query("ts", [HOUR], [mt.count()]), "five": FIVE}
    sets = sharing_sets(asked, stream=True)
    assert [each.ids for each in sets] == [("visits", "five"), ("hours",)]
    assert sets[1].reason.startswith("late rows count in periodic windows that are still open")


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

"""Queries: what fits together, and an error with the remedy for everything else."""

from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import muntin as mt
from muntin.cost import RateCost
from muntin.errors import QueryError, WindowError
from muntin.model.query import Query
from muntin.planner.strategies import Problem, strategy_named

TEN, TWENTY = mt.tumbling("10 minutes"), mt.tumbling("20 minutes")


def latest(commutative: bool) -> mt.Aggregate:
    """Idempotent; as it is, it does not commute."""
    function = mt.custom(
        "latest",
        lift=lambda v: v,
        combine=lambda a, b: a if b is None else b,
        lower=lambda v: v,
        identity=None,
        idempotent=True,
        commutative=commutative,
    )
    return function("t")


def test_single_values_need_no_list() -> None:
    window: Any = TEN
    aggregate: Any = mt.count()
    q = mt.query("ts", window, aggregate, keys="device")
    assert (q.windows, q.keys) == ((TEN,), ("device",))
    assert [a.name for a in q.aggregates] == ["count"]


def test_iterators_are_read_once() -> None:
    q = mt.query("ts", iter([TEN, TWENTY]), iter([mt.count()]), keys=iter(["a", "b"]))
    assert (len(q.windows), len(q.aggregates), q.keys) == (2, 1, ("a", "b"))


@pytest.mark.parametrize(
    ("aggregates", "expected"),
    [
        ([mt.min("t")], True),
        ([mt.min("t"), mt.bool_or("b"), mt.max_by("a", "b"), mt.bit_and("c")], True),
        ([mt.min("t"), mt.sum("t")], False),
        ([mt.count()], False),
        ([mt.avg("t")], False),
        ([mt.stddev_pop("t")], False),
        ([latest(commutative=False)], False),
        ([mt.min("t"), latest(commutative=True)], True),
    ],
)
def test_a_query_is_idempotent_when_all_its_aggregates_are(
    aggregates: list[mt.Aggregate], expected: bool
) -> None:
    assert mt.query("ts", [TEN], aggregates).idempotent is expected


def test_pieces_never_overlap_where_order_matters() -> None:
    """Of 1 hour by 5 minutes and 90 by 10, wcg takes the longer from overlapping shorter ones."""
    windows = [mt.hopping("1 hour", "5 minutes"), mt.hopping("90 minutes", "10 minutes")]
    parents = []
    for commutative in (False, True):
        asked = mt.query("ts", windows, [latest(commutative)])
        plan = strategy_named("wcg")(Problem(asked.windows, asked.idempotent, RateCost()))
        parents.append([node.parent for node in plan.nodes])
    assert parents == [[None, None], [None, "1 hour/5 minutes"]]


def test_order_by_serves_aggregates_that_do_not_commute() -> None:
    q = mt.query("ts", [TEN], [mt.count(), latest(commutative=False)], order_by=["n", "t"])
    assert q.order_by == ("n", "t")
    assert "records in the order of ts, n, t: latest(t)\n" in mt.optimize(q).explain()
    assert "records in the order" not in mt.optimize(one()).explain()
    with pytest.raises(QueryError, match=r"order_by 'n' orders .* leave it out"):
        mt.query("ts", [TEN], [latest(commutative=True)], order_by="n")


def test_engines_without_order_refuse_aggregates_that_do_not_commute() -> None:
    plan = mt.optimize(mt.query("ts", [TEN, TWENTY], [latest(commutative=False)]))
    table = pa.table({"ts": pa.array([0, 1], pa.timestamp("us")), "t": [1, 2]})
    for call in (lambda: plan.to_sql("spark"), lambda: plan.apply(table)):
        with pytest.raises(mt.MuntinError, match=r"written in Python.*run the plan on Spark with"):
            call()
    by_data = mt.optimize(
        mt.query("ts", [mt.session("5 microseconds")], [latest(commutative=False)])
    )
    with pytest.raises(mt.MuntinError, match=r"written in Python.*run the plan on Spark with"):
        by_data.apply(table)


def test_a_query_is_a_value() -> None:
    one = mt.query("ts", [TEN], [mt.min("t")], keys=["k"], where="t > 0")
    two = mt.query("ts", [TEN], [mt.min("t")], keys=["k"], where="t > 0")
    assert one == two
    assert hash(one) == hash(two)
    assert one != mt.query("ts", [TEN], [mt.max("t")], keys=["k"], where="t > 0")


def one(**changes: object) -> Query:
    """A good query with some parts replaced."""
    parts: dict[str, object] = {"time": "ts", "windows": [TEN], "aggregates": [mt.count()]}
    return mt.query(**(parts | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"windows": []}, r"no windows: give at least one, such as mt\.tumbling"),
        ({"windows": ["10 minutes"]}, r"'10 minutes' is not a window: use mt\.tumbling"),
        ({"windows": [TEN, mt.tumbling("600 seconds", id="x")]}, r"'10 minutes' and 'x' are equal"),
        (
            {"windows": [TEN, mt.tumbling("20 minutes", id="10 minutes")]},
            r"window id '10 minutes' is given 2 times",
        ),
        ({"aggregates": []}, r"no aggregates: give at least one, such as mt\.count\(\)"),
        ({"aggregates": ["min(t)"]}, r"'min\(t\)' is not an aggregate: use mt\.count"),
        ({"aggregates": [mt.min("t"), mt.min("t")]}, r"'min\(t\)' is given 2 times.*\.alias"),
        ({"aggregates": [mt.min("t").alias("a"), mt.max("t").alias("a")]}, r"'a' is given 2 times"),
        ({"aggregates": [mt.min("t").alias("window")]}, r"'window' is a column of the result"),
        ({"keys": ["window_id"]}, r"'window_id' is a column of the result"),
        ({"keys": ["k", "k"]}, r"key 'k' is given 2 times"),
        ({"keys": ["k"], "aggregates": [mt.min("t").alias("k")]}, r"'k' is a key and an aggregate"),
        ({"keys": [""]}, r"key '' must be the name of a column"),
        ({"keys": [3]}, r"key 3 must be the name of a column"),
        ({"time": ""}, r"time '' must be the name of the timestamp column"),
        ({"time": None}, r"time None must be the name of the timestamp column"),
        ({"where": 5}, r"where 5 must be an SQL condition"),
        ({"where": " "}, r"where ' ' must be an SQL condition"),
        ({"keys": None}, r"keys None must be"),
        ({"keys": 3}, r"keys 3 must be"),
        ({"windows": None}, r"windows None must be"),
        ({"aggregates": 5}, r"aggregates 5 must be"),
        ({"aggregates": "count"}, r"'count' is not an aggregate: use mt\.count"),
        ({"windows": "1 hour"}, r"'1 hour' is not a window"),
        ({"keys": b"k"}, r"key b'k' must be the name of a column"),
        ({"bounds": "spork"}, r"unknown bounds 'spork': did you mean 'spark'\?"),
        ({"where": pd.Series([True])}, r"where <Series> must be an SQL condition, as text: where="),
        ({"bounds": 5}, r"bounds must be 'spark' or 'asa', not 5"),
        ({"bounds": [1]}, r"bounds must be .* not \[1\]"),
        ({"order_by": "v"}, r"order_by 'v' orders .* the data decides, .* do not commute .* leave"),
        (
            {"windows": mt.session("5 microseconds"), "order_by": [5]},
            r"order_by 5 must be the name of a column",
        ),
    ],
)
def test_what_does_not_fit_is_named_with_the_remedy(
    changes: dict[str, object], message: str
) -> None:
    with pytest.raises(QueryError, match=message):
        one(**changes)


def test_a_window_that_one_row_would_drown_in_is_refused_with_the_least_slide() -> None:
    with pytest.raises(WindowError, match=r"3,155,760,000,000,000 results.*'315576 milliseconds'"):
        one(windows=[mt.hopping("36525 days", "1us")])
    assert one(windows=[mt.hopping("36525 days", "315576ms")]).windows

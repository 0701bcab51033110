# mypy: disable-error-code="arg-type, misc"
# What must be refused is of a wrong type on purpose.
"""Functions with parameters, ratios, and functions of the user's own, as values."""

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import muntin as mt
from muntin.aggregates import parse_aggregate
from muntin.aggregates.columns import columns_of
from muntin.errors import AggregateError
from muntin_testing.values import folded


def test_parameters_are_part_of_a_function() -> None:
    assert mt.percentile("x", 0.9) == mt.percentile("x", 0.9)
    assert len({mt.percentile("x", 0.9), mt.percentile("x", 0.95), mt.percentile("x")}) == 3
    assert mt.percentile("x", 0.9).name == "percentile(x, 0.9)"
    assert mt.approx_count_distinct("x").name == "approx_count_distinct(x)"
    assert parse_aggregate("percentile(a + b, 0.9)") == mt.percentile("a + b", 0.9)
    assert mt.percentile("x", 0.25).function.native() == "percentile({0}, 0.25D)"
    assert mt.percentile("x", np.float64(0.9)).function.native() == "percentile({0}, 0.9D)"
    assert mt.approx_count_distinct("x", np.int64(8)).function.partials(["int"])[0].lift == (
        "hll_sketch_agg({0}, 8)"
    )


def test_a_ratio_shares_partials_and_has_what_both_parts_have() -> None:
    weighted = mt.ratio(mt.sum("a"), mt.count())
    columns = columns_of([mt.avg("a"), weighted, mt.sum("a").filter("b")], lambda _: "double")
    assert [p.lift for p in columns.partials] == ["sum(v0)", "count(v0)", "count(v1)", "sum(v2)"]
    assert (weighted.name, weighted.function.invertible) == ("sum(a) / count", True)
    assert not mt.ratio(mt.sum("a"), mt.max("a")).function.invertible
    assert mt.ratio(mt.min("a"), mt.max("a")).function.idempotent
    assert mt.ratio(mt.median("a"), mt.max("a")).function.holistic
    function = weighted.function
    rows = [(Fraction(1), 1), (Fraction(4), 1), (None, 1)]
    assert function.lower(folded(function, rows)) == Fraction(5, 3)
    assert function.lower(function.identity) is None
    assert function.invert(folded(function, rows), folded(function, rows[:1])) == folded(
        function, rows[1:]
    )


def test_combinations_of_several_columns_are_counted_once_each() -> None:
    pairs = mt.count_distinct("a", "b")
    function = pairs.function
    nan = float("nan")
    rows = [(1, "x"), (1, "x"), (2, None), (nan, "x"), (nan, "x"), (1, "y"), (None, None)]
    whole, half = folded(function, rows), folded(function, rows[3:])
    assert function.lower(whole) == 3
    assert function.combine(half, whole) == function.combine(whole, half) == whole
    assert function.native() == "count(DISTINCT {0}, {1})"
    assert parse_aggregate("count_distinct(a, b)") == pairs
    with pytest.raises(AggregateError, match=r"of several columns takes no array<int>"):
        function.partials(["array<int>", "int"])
    table = pa.table(
        {
            "ts": pa.array([0, 1, 2, 3, 4], pa.timestamp("us")),
            "a": ["1", "11", "1", None, "1"],
            "b": ["12", "2", "12", "x", "2"],
        }
    )
    query = mt.query("ts", [mt.Window(2, 2), mt.Window(6, 6)], [pairs.alias("n")])
    found = {(r["window_id"], r["n"]) for r in mt.optimize(query).apply(table).to_pylist()}
    assert {n for id, n in found if id == query.windows[1].id} == {3}


def test_filters_of_a_ratio_belong_to_its_parts() -> None:
    share = mt.ratio(mt.count().filter("good"), mt.count("x")).filter("recent")
    inputs = columns_of([share], lambda _: "bigint").inputs
    assert [(i.argument, i.predicate) for i in inputs] == [
        ("(1)", "(good) AND (recent)"),
        ("x", "recent"),
    ]


def test_two_functions_of_ones_own_never_share_a_partial() -> None:
    longest = mt.custom("longest", len, max, int, 0, idempotent=True)
    letters = mt.custom("letters", len, lambda a, b: a + b, int, 0, lambda whole, a: whole - a)
    columns = columns_of([longest("w"), letters("w"), longest("w").alias("again")], lambda _: None)
    assert len(columns.partials) == 2
    assert letters("w").function.invert(7, 3) == 4
    assert longest("w").filter("b").name == "longest(w) filter (b)"


def test_functions_of_ones_own_that_differ_in_order_never_share_a_partial() -> None:
    kinds = [mt.custom("longest", len, max, int, 0, commutative=c) for c in (False, True)]
    in_order, in_any = columns_of([k("w") for k in kinds], lambda _: "string").partials
    assert in_order.lift == in_any.lift
    assert "sort_array" in in_order.in_order
    assert not in_any.in_order
    [maps] = columns_of([kinds[0]("w")], lambda _: "map<string,int>").partials
    assert "array_sort" in maps.in_order, "a map has no order: by time alone"


def test_comments_end_with_their_predicate() -> None:
    """Read by DuckDB: what follows a comment still counts."""
    few = mt.count().filter("v > 0 -- all but the first").filter("v < 3 -- and the last")
    both = [few.alias("few"), mt.ratio(few, mt.count()).filter("v > -9").alias("share")]
    query = mt.query("ts", [mt.Window(9, 9)], both)
    data = pa.table({"ts": pa.array(range(4), pa.timestamp("us")), "v": range(4)})
    assert mt.optimize(query).apply(data).select(["few", "share"]).to_pylist() == [
        {"few": 2, "share": 0.5}
    ]


def test_laws_are_checked_on_arrays_value_by_value() -> None:
    def added(combine: Any, **flags: Any) -> Any:
        def lift(v: float) -> Any:
            return {"n": (np.array([v, v * v]), 1)}

        def both(a: Any, b: Any) -> Any:
            return {"n": (combine(a["n"][0], b["n"][0]), a["n"][1] + b["n"][1])}

        zero = {"n": (np.zeros(2), 0)}
        return mt.custom("f", lift, both, len, zero, check_laws=[0.1, 0.2, 0.7], **flags)

    assert added(np.add)
    with pytest.raises(AggregateError, match="'f' breaks idempotence"):
        added(np.add, idempotent=True)
    with pytest.raises(AggregateError, match="'f' breaks identity"):
        added(lambda a, b: np.append(a, b))
    largest: Any = [lambda v: np.array([v, -v]), np.maximum, list, np.array([-9, -9])]
    with pytest.raises(AggregateError, match="'g' breaks selectivity"):
        mt.custom("g", *largest, idempotent=True, selective=True, check_laws=[1, 2])


@pytest.mark.parametrize(
    ("law", "changed"),
    [
        ("associativity|identity", {"combine": lambda a, b: (a + b) / 2}),
        ("identity", {"identity": 1}),
        ("commutativity", {"combine": lambda a, b: b if b else a, "commutative": True}),
        ("idempotence", {"idempotent": True}),
        ("selectivity", {"selective": True}),
        ("the inverse", {"invert": lambda whole, a: whole}),
    ],
)
def test_broken_laws_are_found_on_a_sample(law: str, changed: dict[str, object]) -> None:
    sound: dict[str, object] = {
        "lift": int,
        "combine": lambda a, b: a + b,
        "lower": int,
        "identity": 0,
        "check_laws": [1, 2, 5],
    }
    assert mt.custom("total", **sound)("x").name == "total(x)"
    with pytest.raises(AggregateError, match=rf"custom 'total' breaks ({law}): .* for partials"):
        mt.custom("total", **{**sound, **changed})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mt.percentile("x", 2), r"percentile: 2 must be a share between 0 and 1"),
        (lambda: mt.percentile("x", "half"), r"'half' must be a share"),
        (lambda: parse_aggregate("percentile(x, y)"), r"parameter 'y' is not a number"),
        (lambda: mt.approx_percentile("x", 0.5, 3), r"accuracy 3 must be a whole number from 8"),
        (lambda: mt.approx_count_distinct("x", 40), r"40 must be log₂ of the number of buckets"),
        (lambda: mt.ratio(mt.sum("x"), "y"), r"ratio takes two aggregates .* not 'y'"),
        (lambda: mt.custom("a b", len, max, int, 0), r"'a b': the name must be a plain word"),
        (lambda: mt.custom("f", 1, max, int, 0), r"lift 1 must be a function"),
        (lambda: mt.custom("f", len, max, int, 0, fold=3), r"fold 3 must be a function or None"),
        (lambda: mt.custom("f", len, max, int, 0, invert=3), r"invert 3 must be a function or"),
        (lambda: mt.custom("f", len, max, int, 0, arity=0), r"arity 0 must be how many argum"),
        (lambda: mt.custom("f", len, max, int, 0, arity="2"), r"arity '2' must be how many"),
        (lambda: mt.custom("f", len, max, int, 0, result=3), r"result 3 must be a type of Spark"),
        (lambda: mt.custom("f", len, max, int, 0, commutative=1), r"commutative 1 must be True or"),
        (lambda: mt.custom("f", len, max, int, 0, idempotent=""), r"idempotent '' must be True or"),
        (lambda: mt.custom("f", len, max, int, 0, check_laws=5), r"check_laws 5 must be a list"),
        (lambda: mt.approx_count_distinct("x", 12.0), r"12\.0 must be log₂ of the number"),
        (lambda: mt.approx_percentile("x", 0.5, 200.0), r"accuracy 200\.0 must be a whole"),
        (lambda: parse_aggregate(None), r"aggregate None cannot be read: write for instance"),
        (
            lambda: mt.custom("f", len, lambda a: a, int, 0),
            r"custom 'f': combine\(0, 0\) raised TypeError",
        ),
        (lambda: mt.custom("f", len, max, int, 0)(), r"f takes 1 arguments, 0 given"),
        (lambda: mt.custom("f", len, max, int, 0)("x").function.native(), r"written in Python"),
    ],
)
def test_errors_name_the_value_and_the_remedy(call: object, message: str) -> None:
    with pytest.raises(AggregateError, match=message):
        call()  # type: ignore[operator]

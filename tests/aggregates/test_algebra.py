# mypy: disable-error-code="arg-type"
# What must be refused is of a wrong type on purpose.
"""Aggregates as values: names, filters, arguments and errors."""

import pytest

import muntin as mt
from muntin.aggregates import FUNCTIONS, aggregate_named, function_named, parse_aggregate
from muntin.aggregates.columns import columns_of, distinct_inputs
from muntin.errors import AggregateError


def test_names_of_results() -> None:
    assert mt.min("t").name == "min(t)"
    assert mt.max_by("a", "b").name == "max_by(a, b)"
    assert mt.count().name == mt.count("*").name == "count"
    assert mt.sum("price * volume").name == "sum(price * volume)"
    assert mt.avg("t").filter("t > 0").name == "avg(t) filter (t > 0)"
    assert mt.avg("t").filter("t > 0").alias("mean").name == "mean"


def test_an_aggregate_is_a_value() -> None:
    assert mt.min("t") == mt.min("t")
    assert mt.min("t") != mt.max("t")
    assert mt.min("t") != mt.min("t").alias("x")
    assert len({mt.min("t"), mt.min("t"), mt.min("u")}) == 2


def test_filters_add_up() -> None:
    both = mt.sum("t").filter("a OR b").filter("c")
    assert both.predicate == "(a OR b) AND (c)"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_can_be_called_by_its_name(name: str) -> None:
    function = function_named(name)
    aggregate = aggregate_named(name, *"abc"[: function.arity])
    assert (aggregate.function, len(aggregate.arguments)) == (function, function.arity)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_is_public(name: str) -> None:
    function = function_named(name)
    made = getattr(mt, name)(*"abc"[: function.arity])
    assert made == aggregate_named(name, *"abc"[: function.arity])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: function_named("mim"), r"unknown aggregate 'mim': did you mean 'min'\?"),
        (lambda: aggregate_named("min"), r"min takes 1 argument, 0 given"),
        (lambda: aggregate_named("min_by", "a"), r"min_by takes 2 arguments, 1 given: min_by\(a\)"),
        (lambda: mt.min(""), r"min\(''\): give the name of a column or an SQL expression"),
        (lambda: mt.min(5), r"min\(5\): give the name"),
        (lambda: mt.count(5), r"count\(5\): give the name"),
        (lambda: mt.min("t").alias(""), r"alias '' must be a non-empty text"),
        (lambda: mt.min("t").filter(" "), r"filter ' ' must be an SQL predicate"),
        (lambda: mt.min("t").filter(None), r"filter None must be an SQL predicate"),
        (lambda: parse_aggregate("min(t"), r"'min\(t' cannot be read"),
        (lambda: parse_aggregate("mim(t)"), r"did you mean 'min'"),
        (lambda: mt.max("t").function.invert(1, 2), r"max cannot be inverted"),
    ],
)
def test_errors_name_the_value_and_the_remedy(call: object, message: str) -> None:
    with pytest.raises(AggregateError, match=message):
        call()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("min(t)", mt.min("t")),
        ("MIN( t )", mt.min("t")),
        ("count", mt.count()),
        ("count(*)", mt.count()),
        ("max_by(a, b) AS c", mt.max_by("a", "b").alias("c")),
        ("sum(coalesce(a, b)) as total", mt.sum("coalesce(a, b)").alias("total")),
        ("sum(if(x = ',', 1, 0))", mt.sum("if(x = ',', 1, 0)")),
    ],
)
def test_aggregates_as_text(text: str, expected: mt.Aggregate) -> None:
    assert parse_aggregate(text) == expected


def test_equal_inputs_and_partials_are_shared() -> None:
    aggregates = [mt.sum("x"), mt.avg("x"), mt.count("x"), mt.sum("x").filter("b").alias("s")]
    columns = columns_of(aggregates, lambda _: "double")
    assert [(i.argument, i.predicate) for i in columns.inputs] == [("x", None), ("x", "b")]
    assert [p.lift for p in columns.partials] == ["sum(v0)", "count(v0)", "sum(v1)"]
    assert [r.name for r in columns.results] == ["sum(x)", "avg(x)", "count(x)", "s"]


def test_parts_of_a_ratio_share_their_partials() -> None:
    columns = columns_of([mt.ratio(mt.avg("t"), mt.count("t"))], lambda _: "double")
    assert [p.name for p in columns.partials] == ["p0", "p1"]
    assert [p.lift for p in columns.partials] == ["sum(v0)", "count(v0)"]


def test_all_spreads_share_one_partial() -> None:
    aggregates = [mt.var_pop("x"), mt.var_samp("x"), mt.stddev_pop("x"), mt.stddev_samp("x")]
    assert len(columns_of(aggregates, lambda _: "double").partials) == 1


def test_count_needs_no_input_unless_it_is_filtered() -> None:
    assert distinct_inputs([mt.count()]) == ()
    assert len(distinct_inputs([mt.count().filter("b"), mt.count().filter("b").alias("n")])) == 1

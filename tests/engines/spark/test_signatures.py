"""The types that functions declare, which the docs show, are those that Spark takes and gives."""

import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.aggregates import FUNCTIONS, aggregate_named
from muntin.aggregates.signatures import KINDS, result_type
from muntin.engines.spark.session_facts import version_of
from muntin.engines.spark.table import PLAIN, declared_fields, partial_fields, prepare
from muntin_testing.oracle import spark_call

TYPES = [
    *("tinyint", "smallint", "int", "bigint", "float", "double", "decimal(10,2)", "decimal(30,4)"),
    *("string", "date", "timestamp", "timestamp_ntz", "boolean", "binary"),
    *("interval month", "interval day to second"),
    *("array<int>", "struct<a:int>", "map<int,int>", "variant"),
]


@pytest.fixture
def empty(frugal: SparkSession) -> DataFrame:
    columns = (F.lit(None).cast(kind).alias(f"c{i}") for i, kind in enumerate(TYPES))
    return frugal.range(1).select(
        F.timestamp_seconds("id").alias("ts"), F.lit(1).alias("turn"), *columns
    )


def call(df: DataFrame, name: str, place: int) -> Column:
    function = FUNCTIONS[name]()
    arguments = [f"c{place}", *["turn"] * (function.arity - 1)]
    return spark_call(function, arguments, version_of(df.sparkSession))


def test_every_kind_of_type_is_tried_and_every_function_declares_its_own() -> None:
    assert {k for k in KINDS if any(result_type({k: "x"}, t) for t in TYPES)} == set(KINDS)
    for function in (kind() for kind in FUNCTIONS.values()):
        assert function.takes
        assert bool(function.error) == function.approximate


def test_results_have_the_types_that_are_declared(empty: DataFrame) -> None:
    declared = {
        (name, place): result_type(kind.takes, given)
        for name, kind in FUNCTIONS.items()
        for place, given in enumerate(TYPES)
    }
    taken = {of: result for of, result in declared.items() if result is not None}
    schema = empty.agg(*(call(empty, *of) for of in taken)).schema
    found = dict(zip(taken, (field.dataType.simpleString() for field in schema), strict=True))
    assert found == taken


def test_partials_have_the_types_that_are_declared(empty: DataFrame) -> None:
    declared: dict[tuple[str, str, str], str] = {}
    for place, given in enumerate(TYPES):
        for name in (n for n, kind in FUNCTIONS.items() if result_type(kind.takes, given)):
            function = FUNCTIONS[name]()
            own = [each for each in function.partials([given] * function.arity) if each.kind]
            for each in own if function.arity == 1 else []:
                declared[name, each.name, each.lift.format(f"c{place}")] = each.kind or ""
    assert len(declared) > 100
    assert {"min", "max", "sum", "avg", "count"} <= {name for name, _, _ in declared}
    schema = empty.agg(*(F.expr(lift) for _, _, lift in declared)).schema
    assert [field.dataType.simpleString() for field in schema] == list(declared.values())


def test_plain_types_need_no_answer_of_sparks(empty: DataFrame) -> None:
    """Partials over numbers are known; over decimals and texts Spark is asked."""
    reached = {True: 0, False: 0}
    for place, given in enumerate(TYPES):
        for make in (mt.min, mt.sum, mt.avg, mt.count):
            one = make(f"c{place}")
            asked = mt.query("ts", [mt.tumbling("1 minute")], [one, mt.count(), mt.max("turn")])
            if result_type(one.function.takes, given) is None:
                continue
            table = prepare(empty, asked)
            kinds = dict(zip(table.columns.inputs, (given, "int"), strict=True))
            known = declared_fields(asked, table.columns, kinds)
            reached[known is not None] += 1
            assert known in (None, partial_fields(table.rows, table.columns))
            assert (known is not None) == (given in PLAIN), given
    assert reached[True] > 30
    assert reached[False] > 20


@pytest.mark.parametrize("share", [29, pytest.param(1, marks=pytest.mark.long)])
def test_what_is_not_declared_is_refused(empty: DataFrame, share: int) -> None:
    others = [
        (name, place)
        for name, kind in FUNCTIONS.items()
        for place, given in enumerate(TYPES)
        if result_type(kind.takes, given) is None
    ]
    assert len(others) > 200
    for name, place in others[::share]:
        other = aggregate_named(name, f"c{place}", *["turn"] * (FUNCTIONS[name]().arity - 1))
        with pytest.raises(
            mt.MuntinError, match=rf"^{name}\b.* cannot be computed|^{name} of .* takes"
        ):
            mt.aggregate(empty, "ts", [mt.tumbling("1 minute"), mt.tumbling("1 hour")], [other])

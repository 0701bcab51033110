"""Spark's own window() as the judge, and the comparison of two results.

`rows_of_window` asks Spark for each window by itself, with nothing of Muntin between but the
declaration of the query; filters are Spark's FILTER clause. `assert_same_rows` collects both sides
and compares them in Python: columns and their types, which rows there are, and every value.
"""

from collections.abc import Iterable
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from muntin.aggregates import Aggregate, Function
from muntin.cost import RateCost
from muntin.engines.spark.own_windows import own_call
from muntin.engines.spark.session_facts import Version, version_of
from muntin.model.query import Query
from muntin.model.windows import Window
from muntin.plan import SharingPlan, check
from muntin.planner.strategies import Problem, strategy_named
from muntin_testing.values import same

TOLERANCE = 1e-9
"""Relative, for floating-point results: the order of addition differs."""

_COMPOSED = ("product", "collect_set")
"""Functions that are no call in SQL, or an expression around one: FILTER cannot follow them."""

Rows = dict[tuple[Any, ...], list[tuple[Any, ...]]]


def planned(strategy: str, query: Query) -> SharingPlan:
    """The plan of one strategy, checked; no other strategy is asked."""
    plan = strategy_named(strategy)(Problem(query.windows, query.idempotent, RateCost(1e3)))
    check(plan, query.windows)
    return plan


def rows_of_window(df: DataFrame, query: Query) -> DataFrame:
    """The long result of the query, by one window() query for each window."""
    source = df.where(query.where) if query.where else df
    return reduce(DataFrame.unionAll, (_one(source, query, w) for w in query.windows))


def _one(df: DataFrame, query: Query, window: Window) -> DataFrame:
    lengths = [f"{n} microseconds" for n in (window.range, window.slide, window.offset)]
    keys = [F.col(_quoted(k)).alias(k) for k in query.keys]
    version = version_of(df.sparkSession)
    results = [_spark_aggregate(a, df.columns, version) for a in query.aggregates]
    spark_window = F.window(F.col(_quoted(query.time)), *lengths).alias("window")
    grouped = df.groupBy(spark_window, *keys).agg(*results)
    return grouped.select(F.lit(window.id).alias("window_id"), *map(_column, grouped.columns))


def spark_call(function: Function, arguments: list[str], version: Version) -> Column:
    """Spark's own function; product has no name in SQL."""
    if function.name == "product":
        return F.product(F.expr(arguments[0]))
    return F.expr(own_call(function.native(), version).format(*arguments))


def _spark_aggregate(aggregate: Aggregate, columns: list[str], version: Version) -> Column:
    given = aggregate.arguments or ("1",)
    arguments = [_quoted(a) if a in columns and aggregate.arguments else a for a in given]
    native = own_call(aggregate.function.native(), version)
    composed = aggregate.function.name in _COMPOSED or native != aggregate.function.native()
    condition = f" FILTER (WHERE {aggregate.predicate})" if aggregate.predicate else ""
    if condition and composed:
        arguments = [f"CASE WHEN {aggregate.predicate} THEN {a} END" for a in arguments]
        condition = ""
    if not condition:
        return spark_call(aggregate.function, arguments, version).alias(aggregate.name)
    return F.expr(native.format(*arguments) + condition).alias(aggregate.name)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _column(name: str) -> Column:
    return F.col(_quoted(name))


def assert_same_rows(
    ours: DataFrame, theirs: DataFrame, query: Query, may_be_empty: bool = False
) -> int:
    """Fail with the first differences unless both have the same rows; how many rows there are.

    No rows on either side prove nothing, and fail unless they were to be expected.
    """
    assert _schema(ours) == _schema(theirs)
    expected = theirs.collect()
    assert expected or may_be_empty, "there are no rows to compare"
    found = differences(ours.collect(), expected, len(query.keys))
    shown = "\n".join(found[:10])
    assert not found, f"{len(found)} differences:\n{shown}"
    return len(expected)


def assert_each_has_rows(
    results: dict[str, DataFrame], theirs: DataFrame, query: Query, may_be_empty: bool = False
) -> int:
    """The same for several results under their names, which are computed in one job."""
    for name, each in results.items():
        assert _schema(each) == _schema(theirs), name
    expected = theirs.collect()
    assert expected or may_be_empty, "there are no rows to compare"
    named = (each.withColumn("result", F.lit(name)) for name, each in results.items())
    found: dict[str, list[Any]] = {name: [] for name in results}
    for row in reduce(DataFrame.unionAll, named).collect():
        found[row["result"]].append(tuple(row)[:-1])
    for name, rows in found.items():
        wrong = differences(rows, expected, len(query.keys))
        shown = "\n".join(wrong[:10])
        assert not wrong, f"{name} has {len(wrong)} differences:\n{shown}"
    return len(expected)


def _schema(df: DataFrame) -> list[tuple[str, str]]:
    return [(field.name, field.dataType.simpleString()) for field in df.schema]


def differences(
    ours: Iterable[Any], theirs: Iterable[Any], keys: int, tolerance: float = TOLERANCE
) -> list[str]:
    """What differs between two long results, in words; rows may be in any order."""
    left, right = _by_instance(ours, keys), _by_instance(theirs, keys)
    found = [f"only Muntin has {at}: {left[at]}" for at in left.keys() - right.keys()]
    found += [f"only Spark has {at}: {right[at]}" for at in right.keys() - left.keys()]
    for at in left.keys() & right.keys():
        if len(left[at]) != 1 or len(right[at]) != 1:
            found.append(f"{at} has {len(left[at])} rows, Spark's {len(right[at])}")
        elif not same(left[at][0], right[at][0], tolerance):
            found.append(f"{at} is {left[at][0]}, Spark's {right[at][0]}")
    return sorted(found)


def _by_instance(rows: Iterable[Any], keys: int) -> Rows:
    found: Rows = {}
    for row in rows:
        window_id, window, *rest = tuple(row)
        at = (window_id, window[0], window[1], *map(_as_key, rest[:keys]))
        found.setdefault(at, []).append(tuple(rest[keys:]))
    return found


def _as_key(value: Any) -> Any:
    """NaN is one key in Spark, but differs from itself in Python; lists have no hash there."""
    if isinstance(value, list):
        return tuple(map(_as_key, value))
    return "NaN" if isinstance(value, float) and value != value else value

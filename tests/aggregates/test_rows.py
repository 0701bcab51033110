"""What partials declare of themselves holds: the partial of one row, bounded state, FILTER.

The partial of one row is what the lift makes of a group of that row alone, on Spark and on DuckDB.
"""

import re
from random import Random

import duckdb
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.aggregates import FUNCTIONS, Aggregate, Partial, function_named
from muntin.aggregates.columns import columns_of, distinct_inputs
from muntin.dialects.duckdb_text import DuckdbWriter, parse_spark, transpile
from muntin_testing.tables import SCHEMA, aggregate_of, random_rows
from muntin_testing.two_engines import all_aggregates, sample_table, spark_types
from muntin_testing.values import all_cases, same

GATHERED = mt.custom("gathered", str, max, str, "", commutative=True, result="string", arity=2)
WIDE = "decimal(32,2)"
"""A type whose sums may run out of digits."""
TEXT = "if(flag, word, CAST(small AS STRING))"
OVER_TEXT = [mt.avg(TEXT), mt.var_pop(TEXT), mt.skewness(TEXT), mt.corr(TEXT, "y"), mt.sum(TEXT)]
"""Numbers among texts that are none: with ANSI mode off, these are null where they are cast."""


def everything() -> list[Aggregate]:
    every = (aggregate_of(name, case.types) for name, case in all_cases(approximate=True))
    more = [
        mt.count(),
        mt.count().filter("flag"),
        mt.avg("CAST(money AS DECIMAL(32, 2))"),
        mt.ratio(mt.max_by("word", "order"), mt.corr("x", "y")).alias("ratio"),
        GATHERED("word", "x"),
        GATHERED("word", "x").filter("flag").alias("filtered"),
    ]
    return [a for a in dict.fromkeys([*every, *more]) if not a.function.holistic]


@pytest.mark.parametrize("ansi", [True, False])
def test_a_row_is_its_lift_on_spark(frugal: SparkSession, ansi: bool) -> None:
    aggregates = everything() if ansi else OVER_TEXT
    frugal.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        compared = compare_on_spark(frugal, aggregates)
    finally:
        frugal.conf.unset("spark.sql.ansi.enabled")
    without = [p.lift.partition("(")[0] for p in compared if p.row is None]
    assert len(compared) - len(without) > (30 if ansi else 4)
    assert set(without) <= {
        "collect_set",
        "hll_sketch_agg",
        "kll_sketch_agg_bigint",
        "kll_sketch_agg_double",
    }


def compare_on_spark(spark: SparkSession, aggregates: list[Aggregate]) -> tuple[Partial, ...]:
    """All partials of these aggregates, of which each that has a row was compared."""
    inputs = distinct_inputs(aggregates)
    rows = random_rows(Random(3), "timestamp", 0, 10**9, 60)
    values = [
        F.when(F.expr(each.predicate), F.expr(each.argument))
        if each.predicate
        else F.expr(each.argument)
        for each in inputs
    ]
    table = spark.createDataFrame(rows, SCHEMA.format(kind="timestamp")).select(
        F.monotonically_increasing_id().alias("row"),
        *(value.alias(f"v{i}") for i, value in enumerate(values)),
    )
    kinds = dict(zip(inputs, [f.dataType.simpleString() for f in table.schema][1:], strict=True))
    partials = columns_of(aggregates, kinds.__getitem__).partials
    known = [p for p in partials if p.row is not None]
    lifted = table.groupBy("row").agg(*(F.expr(p.lift).alias(p.name) for p in known))
    kind = {f.name: f.dataType.simpleString() for f in lifted.schema}
    single = table.select(
        "row", *(F.expr(f"CAST({p.row} AS {kind[p.name]})").alias(p.name) for p in known)
    )
    by_row = {row["row"]: row for row in lifted.collect()}
    assert len(by_row) == len(rows)
    for row in single.collect():
        for p in known:
            found, expected = row[p.name], by_row[row["row"]][p.name]
            assert same(found, expected), f"{p.lift}: {found} for {expected}"
    return partials


def test_a_row_is_its_lift_on_duckdb() -> None:
    """Over finite numbers: DuckDB's regr_sxx of one infinity is 0, and Spark's NaN."""
    table = sample_table(rows=60)
    kinds = spark_types(table)
    plain = [a for a in all_aggregates() if set(a.arguments) <= kinds.keys() and not a.predicate]
    declared = columns_of(plain, lambda each: kinds[each.argument])
    types = {f"v{i}": kinds[each.argument] for i, each in enumerate(declared.inputs)}
    written = DuckdbWriter().aggregates(declared, types).partials
    inputs = ", ".join(f"{each.argument} AS v{i}" for i, each in enumerate(declared.inputs))
    connection = duckdb.connect()
    connection.register("events", table)
    finite = "coalesce(isfinite(x), true)"
    records = f"(SELECT name AS row, {inputs} FROM events WHERE {finite})"
    known = [(p, w) for p, w in zip(declared.partials, written, strict=True) if p.row is not None]
    assert len(known) > 30
    lifts = ", ".join(w.lift for _, w in known)
    rows = ", ".join(transpile(parse_spark(p.row or "")) for p, _ in known)
    lifted = connection.sql(f"SELECT {lifts} FROM {records} GROUP BY row ORDER BY row")
    single = connection.sql(f"SELECT {rows} FROM {records} ORDER BY row")
    pairs = list(zip(lifted.fetchall(), single.fetchall(), strict=True))
    assert len(pairs) > 40
    for left, right in pairs:
        for (p, _), expected, found in zip(known, left, right, strict=True):
            assert same(_values(found), _values(expected)), f"{p.lift}: {found} for {expected}"


def _values(value: object) -> object:
    return tuple(value.values()) if isinstance(value, dict) else value


@pytest.mark.parametrize("name", FUNCTIONS)
def test_merges_are_as_they_are_declared(name: str) -> None:
    """The text of a merge is read here, so that nothing else has to."""
    types = [case.types for other, case in all_cases(approximate=True) if other == name]
    for partial in (p for each in types for p in function_named(name).partials(each)):
        check_merge(partial)


def test_merges_of_what_no_case_has_are_as_they_are_declared() -> None:
    wide = columns_of([mt.avg("v"), mt.ratio(mt.sum("v"), mt.var_pop("v"))], lambda _: WIDE)
    assert len(wide.partials) == 4
    for partial in (*wide.partials, *GATHERED.partials(["string", "double"])):
        check_merge(partial)


def check_merge(partial: Partial) -> None:
    assert partial.bounded == ("collect_list(" not in partial.merge), partial
    assert partial.takes_filter == bool(re.fullmatch(r"\w+\([^()]*\)", partial.merge)), partial

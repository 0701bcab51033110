"""The two declarations of each aggregate mean the same: its SQL on Spark, and its Python.

Random records are cut into random chunks; SQL lifts each chunk, merges chunks twice and finishes,
Python folds the records one by one, and Spark's own function has the last word.
"""

from decimal import Decimal
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from muntin.aggregates import FUNCTIONS, aggregate_named, function_named
from muntin.aggregates.columns import Columns, columns_of
from muntin_testing.values import Case, all_cases, folded, same

CASES = [(name, case) for name, case in all_cases() if not FUNCTIONS[name].holistic]


def column(number: int, position: int) -> str:
    return f"c{number}_{position}"


def as_record(case: Case, value: Any) -> tuple[Any, ...]:
    return (value,) if len(case.types) == 1 else value


def schema() -> str:
    inputs = [
        f"{column(number, i)} {kind}"
        for number, (_, case) in enumerate(CASES)
        for i, kind in enumerate(case.types)
    ]
    return ", ".join(["g int", "h int", "c int", *inputs])


def declared() -> Columns:
    """All aggregates at once, each over its own columns."""
    types = {column(n, i): t for n, (_, case) in enumerate(CASES) for i, t in enumerate(case.types)}
    aggregates = [
        aggregate_named(name, *(column(n, i) for i in range(len(case.types)))).alias(f"r{n}")
        for n, (name, case) in enumerate(CASES)
    ]
    return columns_of(aggregates, lambda each: types[each.argument])


def drawn() -> list[list[tuple[Any, ...]]]:
    """Groups of records, one for each example that hypothesis draws."""
    record = st.tuples(*(case.values for _, case in CASES))
    groups: list[list[tuple[Any, ...]]] = []

    @settings(suppress_health_check=list(HealthCheck))
    @given(st.lists(record, min_size=1, max_size=12))
    def keep(records: list[tuple[Any, ...]]) -> None:
        groups.append(records)

    keep()
    return groups


def test_sql_and_python_agree(frugal: SparkSession) -> None:
    groups, random = drawn(), Random(1)
    rows = [
        (
            g,
            random.randrange(2),
            random.randrange(3),
            *(
                each
                for (_, case), value in zip(CASES, record, strict=True)
                for each in as_record(case, value)
            ),
        )
        for g, records in enumerate(groups)
        for record in records
    ]
    table = frugal.createDataFrame(rows, schema())
    columns = declared()
    inputs = [F.expr(each.argument).alias(f"v{i}") for i, each in enumerate(columns.inputs)]
    lifted = table.select("g", "h", "c", *inputs).groupBy("g", "h", "c")
    chunks = lifted.agg(*(F.expr(p.lift).alias(p.name) for p in columns.partials))
    merges = [F.expr(p.merge).alias(p.name) for p in columns.partials]
    twice = chunks.groupBy("g", "h").agg(*merges).groupBy("g").agg(*merges)
    finals = twice.select("g", *(F.expr(r.final).alias(r.name) for r in columns.results))
    natives = table.groupBy("g").agg(*(native(n).alias(f"n{n}") for n in range(len(CASES))))
    found = finals.join(natives, "g").collect()
    assert len(found) == len(groups)
    assert sum(len(records) > 3 for records in groups) > 10
    for row in found:
        for n, (name, case) in enumerate(CASES):
            function = function_named(name)
            values = [record[n] for record in groups[row.g]]
            by_python = function.lower(folded(function, values))
            by_sql, by_spark = row[f"r{n}"], row[f"n{n}"]
            assert same(by_sql, by_spark, 1e-9), (name, case.types, values, by_sql, by_spark)
            assert agree(by_python, by_sql), (name, case.types, values, by_python, by_sql)


def native(number: int) -> Any:
    name, case = CASES[number]
    arguments = [column(number, i) for i in range(len(case.types))]
    return F.expr(function_named(name).native().format(*arguments))


def agree(by_python: Any, by_sql: Any) -> bool:
    """Python's mean of decimals has more digits than the six that Spark's result keeps."""
    if isinstance(by_sql, Decimal) and isinstance(by_python, Decimal):
        return abs(by_python - by_sql) <= Decimal("0.0000005")
    return same(by_python, by_sql, 1e-9)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_partials_are_named_apart_and_merge_only_themselves(name: str) -> None:
    function = function_named(name)
    case = next(case for other, case in all_cases(approximate=True) if other == name)
    if function.holistic:
        return
    partials = function.partials(list(case.types))
    names = [p.name for p in partials]
    assert len(set(names)) == len(names)
    for partial in partials:
        partial.lift.format(*("v" for _ in case.types))
        partial.merge.format(**dict.fromkeys(names, "p"))
    function.final(list(case.types)).format(**dict.fromkeys(names, "p"))

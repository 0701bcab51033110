"""Every operator on everyday queries, on Spark: the rows are those of brute force."""

from functools import reduce
from itertools import cycle
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from conformance.cases import Case, cases_of, query_of, table_of
from conformance.census import Census
from conformance.comparison import by_place, differences, microseconds, of_query
from conformance.everyday import Question, question
from conformance.oracle import Rows, expected, filled, wide
from conformance.selection import SEED, many, most_telling, worth_trying
from conformance.spark_runners import BATCH, FILLED, by_spark_itself

SIDES = 4
"""Plans that one job computes beside Spark's own, each by one operator."""
EACH = 10
"""Questions in a part."""


def frame(spark: SparkSession, asked: Question) -> DataFrame:
    return spark.createDataFrame(table_of(asked)).coalesce(1)


def together(results: dict[str, DataFrame]) -> dict[str, list[dict[str, Any]]]:
    """The rows of several results by their names, computed in one job."""
    named = (each.withColumn("side", F.lit(name)) for name, each in results.items())
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in results}
    for row in reduce(DataFrame.unionAll, named).toArrow().to_pylist():
        found[row.pop("side")].append(row)
    return found


def assert_rows(results: dict[str, DataFrame], asked: Question, rows: Rows) -> None:
    for side, found in together(results).items():
        wrong = differences(by_place(found, asked.keys, side), rows)
        assert not wrong, "\n".join([f"{asked.seed}, {side}: {len(wrong)} differ", *wrong[:8]])


@pytest.mark.parametrize("part", range(many(1, 30)))
def test_every_operator_gives_the_rows_of_brute_force(frugal: SparkSession, part: int) -> None:
    census, runners, ran = Census(), cycle(BATCH), dict.fromkeys(BATCH, 0)
    for number in range(part * EACH, (part + 1) * EACH):
        cases = most_telling(f"{SEED}/spark/{number}", census, rows=25)
        asked = cases[0].question
        df = frame(frugal, asked)
        results = {"spark itself": by_spark_itself(cases[0], df)}
        for case in worth_trying(cases, census, SIDES):
            name, rows = _by_the_next_that_can(case, df, runners)
            results[f"{case.strategy} by {name}"] = rows
            census.note(case.plan, case.query)
            ran[name] += 1
        assert_rows(results, asked, expected(asked.asked(), asked.rows))
    print(f"seeds {SEED}/spark/{part * EACH} and up: {census}; {ran}")
    census.demand(1)
    assert min(ran.values()) >= EACH // 2, ran


def _by_the_next_that_can(
    case: Case, df: DataFrame, runners: "cycle[str]"
) -> tuple[str, DataFrame]:
    """Operators take turns; one that cannot run the plan leaves it to the next."""
    for _ in BATCH:
        name = next(runners)
        rows = BATCH[name](case, df)
        if rows is not None:
            return name, rows
    raise AssertionError(f"no operator runs {case.strategy} of {case.question.seed}")


def test_empty_windows_are_filled_and_wide_rows_have_every_window(frugal: SparkSession) -> None:
    gaps = columns = 0
    for number in range(many(3, 30)):
        asked = question(f"{SEED}/layout/{number}", most_rows=12)
        case, df = cases_of(asked)[-1], frame(frugal, asked)
        rows = filled(asked.asked(), asked.rows)
        results = {name: runner(case, df) for name, runner in FILLED.items()}
        assert_rows({n: r for n, r in results.items() if r is not None}, asked, rows)
        gaps += len(rows) - len(expected(asked.asked(), asked.rows))
        columns += _assert_wide(df, asked)
    assert gaps > 20
    assert columns >= 3 * 2


def _assert_wide(df: DataFrame, asked: Question) -> int:
    """How many columns of results there are."""
    query = query_of(asked)
    found = mt.optimize(query, rate=asked.rate).apply(df, "wide").toArrow().to_pylist()
    rows = {
        (microseconds(row.pop("window_end")), *(row.pop(key) for key in asked.keys)): row
        for row in found
    }
    theirs = wide(expected(asked.asked(), asked.rows))
    names = [f"{a.name}__{w.id}" for w in query.windows for a in query.aggregates]
    missing = dict.fromkeys(names)
    wrong = differences(rows, {place: missing | values for place, values in theirs.items()})
    assert not wrong, "\n".join([asked.seed, *wrong[:8]])
    assert len(rows) == len(found)
    return len(names)


def test_several_queries_give_the_rows_of_each(frugal: SparkSession) -> None:
    for number in range(many(2, 20)):
        asked = question(f"{SEED}/several/{number}", most_rows=25)
        halves = asked.split()
        queries = {id: query_of(half) for id, half in halves.items()}
        found = mt.aggregate(frame(frugal, asked), queries=queries, rate=asked.rate)
        rows = found.toArrow().to_pylist()
        for id, half in halves.items():
            theirs = expected(half.asked(), half.rows)
            wrong = differences(of_query(rows, id, queries[id]), theirs)
            assert not wrong, "\n".join([f"{asked.seed}, query {id}", *wrong[:8]])

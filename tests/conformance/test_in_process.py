"""Every strategy on everyday queries, in process: the rows are those of brute force."""

from itertools import cycle
from typing import Any, Literal

import pandas as pd
import pytest

import muntin as mt
from conformance.cases import Case, cases_of, query_of, table_of
from conformance.census import Census
from conformance.comparison import by_place, differences, of_query, smallest
from conformance.everyday import Question, question
from conformance.oracle import Rows, expected
from conformance.runners import IN_PROCESS
from conformance.selection import SEED, many, worth_trying

EACH = 40
"""Questions in a part; parts can run in several processes."""
COSTS: tuple[Literal["seconds", "rate"], ...] = ("seconds", "rate")


def rows_of(asked: Question) -> Rows:
    return expected(asked.asked(), asked.rows)


@pytest.mark.parametrize(
    "part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, many(2, 40)))]
)
def test_every_plan_gives_the_rows_of_brute_force(part: int) -> None:
    census, runners = Census(), cycle(IN_PROCESS)
    for number in range(part * EACH, (part + 1) * EACH):
        asked = question(f"{SEED}/{number}")
        rows = rows_of(asked)
        for case in worth_trying(cases_of(asked), census, many(2, 6)):
            runner = next(runners)
            wrong = differences(IN_PROCESS[runner](case), rows)
            assert not wrong, report(case, runner, wrong)
            census.note(case.plan, case.query)
    print(f"seeds {SEED}/{part * EACH} and up: {census}")
    census.demand(many(3, 5))


def report(case: Case, runner: str, wrong: list[str]) -> str:
    """What differs, and the smallest question of which any plan differs."""

    def differs(asked: Question) -> bool:
        rows = rows_of(asked)
        cases = cases_of(asked, [case.strategy])
        return any(differences(IN_PROCESS[runner](c), rows) for c in cases)

    place = f"{case.question.seed}, {case.strategy} by {runner}"
    least = smallest(case.question, differs)
    return "\n".join([f"{place}: {len(wrong)} differ", *wrong[:5], f"smallest: {least}"])


def test_auto_gives_the_rows_of_brute_force() -> None:
    """The call that a newcomer makes, and under a cost by which windows feed each other."""
    census = Census()
    for number in range(many(30, 600)):
        asked = question(f"{SEED}/auto/{number}")
        query = query_of(asked)
        known: Any = {"rate": asked.rate, "distinct_keys": asked.distinct_keys, "engine": "sql"}
        plans = {cost: mt.optimize(query, cost=cost, **known) for cost in COSTS}
        for plan in {each.tree: each for each in plans.values()}.values():
            found = plan.apply(table_of(asked))
            wrong = differences(by_place(found.to_pylist(), asked.keys), rows_of(asked))
            assert not wrong, "\n".join([asked.seed, plan.explain(), *wrong[:8]])
            census.note(plan.tree, query)
    print(census)
    census.demand(1, ["tumbling ← hopping", "hopping ← hopping, disjoint", "hopping ← tumbling"])


def test_several_queries_give_the_rows_of_each() -> None:
    ran = 0
    for number in range(many(20, 200)):
        asked = question(f"{SEED}/several/{number}")
        halves = asked.split()
        queries = {id: query_of(half) for id, half in halves.items()}
        rows = mt.aggregate(table_of(asked), queries=queries, rate=asked.rate).to_pylist()
        for id, half in halves.items():
            own = rows_of(half)
            wrong = differences(of_query(rows, id, queries[id]), own)
            assert not wrong, "\n".join([f"{asked.seed}, query {id}", *wrong[:8]])
            ran += len(own) > 0
    assert ran >= 20


KNOWN = [
    (("1 hour", "5 minutes"), ("1 day", "1 day")),
    (("30 minutes", "10 minutes"), ("1 day", "1 hour")),
    (("10 minutes", "5 minutes"), ("1 hour", "1 hour")),
    (("15 minutes", "5 minutes"), ("1 hour", "1 hour")),
    (("30 minutes", "10 minutes"), ("2 hours", "1 hour")),
    (("2 hours", "1 hour"), ("1 day", "1 day")),
]
"""Sets of which a coarse window once took instances of the finer one that are no piece of it."""


@pytest.mark.parametrize("windows", KNOWN, ids=lambda w: " + ".join("/".join(each) for each in w))
@pytest.mark.parametrize("strategy", ["auto", "subsume"])
def test_every_row_counts_once_in_every_tumbling_window(
    windows: tuple[tuple[str, str], ...], strategy: str
) -> None:
    times = pd.date_range("2024-01-01", periods=500, freq="7min", tz="UTC")
    asked = [mt.hopping(*window) for window in windows]
    found = mt.aggregate(  # type: ignore[call-overload]
        pd.DataFrame({"ts": times}),
        "ts",
        asked,
        [mt.count().alias("n")],
        strategy=strategy,
    )
    counted = found.groupby("window_id")["n"].sum()
    for window in asked:
        copies = sum(len(window.instances_of(t.value // 1000)) for t in times)
        assert counted[window.id] == copies

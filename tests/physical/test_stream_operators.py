"""Which operator a stream is given: by keys and overlap, by what can merge where, or by name."""

import pytest

import muntin as mt
from lab.benchmarks.workload import query_of
from muntin.model.query import Query
from muntin.plan import SharingPlan
from muntin.planner.choice import Choice
from muntin_testing.running import chosen


def planned(query: Query) -> SharingPlan:
    return mt.optimize(query, "shared-pairs").planned


def on_stream(query: Query, keys: float, operator: str | None = None) -> Choice:
    return chosen(planned(query), query, operator, "stream", rate=100, keys=keys)


@pytest.mark.parametrize(
    ("windows", "keys", "best"),
    [
        ("mixed", 1, "native"),
        ("mixed", 100, "native"),
        ("mixed", 20_000, "bucketed"),
        ("overlap", 20_000, "bucketed"),
        ("single", 100, "native"),
    ],
)
def test_few_keys_are_native_and_many_bucketed(windows: str, keys: int, best: str) -> None:
    choice = on_stream(query_of(windows), keys)
    assert choice.operator.name == best
    assert not choice.asked
    [(_, (other, *_))] = choice.others.items()
    assert choice.seconds < other


def test_what_only_spark_merges_is_native_however_many_keys() -> None:
    query = mt.query("ts", query_of("mixed").windows, [mt.count_distinct("value")], keys="device")
    choice = on_stream(query, 20_000)
    assert choice.operator.name == "native"
    assert "merged only by the engine itself" in choice.refusals["bucketed"]


def test_the_operator_asked_for_is_taken_and_shown() -> None:
    query = query_of("mixed")
    choice = on_stream(query, 1, "bucketed")
    assert (choice.operator.name, choice.asked) == ("bucketed", True)
    plan = mt.optimize(query, "shared-pairs", engine="stream", operator="bucketed")
    assert set(plan.explanation().operators.values()) == {"slices", "bucketed: scan"}
    with pytest.raises(mt.MuntinError, match="did you mean 'native'"):
        on_stream(query, 1, "nativ")


def test_explain_of_a_stream_names_its_operator() -> None:
    known = mt.Statistics(rows=1e7, keys=100, rate=1000)
    plan = mt.optimize(query_of("mixed"), "shared-pairs", statistics=known, engine="stream")
    assert plan.explain().startswith("shared-pairs by native: predicted ")
    assert "\nnative: one stateful aggregation of Spark's own; " in plan.explain()

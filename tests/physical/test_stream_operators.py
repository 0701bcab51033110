"""Which operator a stream is given: by keys and overlap, by what can merge where, or by name."""

import pytest

import muntin as mt
from muntin.bench.sets import query_of
from muntin.cost import RateCost
from muntin.physical import choose_for_stream
from muntin.plan import SharingPlan
from muntin.query import Query


def tree(query: Query) -> SharingPlan:
    return mt.optimize(query, "shared-pairs").tree


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
    query = query_of(windows)
    chosen = choose_for_stream(tree(query), query, RateCost(100, keys), None)
    assert chosen.name == best
    assert "predicted cheapest" in chosen.reason


def test_what_only_spark_merges_is_native_however_many_keys() -> None:
    query = mt.query("ts", query_of("mixed").windows, [mt.count_distinct("value")], keys="device")
    assert choose_for_stream(tree(query), query, RateCost(100, 20_000), None).name == "native"


def test_the_operator_asked_for_is_taken_and_shown() -> None:
    query = query_of("mixed")
    chosen = choose_for_stream(tree(query), query, RateCost(100, 1), "bucketed")
    assert (chosen.name, chosen.reason) == ("bucketed", "as asked")
    assert set(chosen.edges.values()) == {"slices", "bucketed"}
    with pytest.raises(mt.MuntinError, match="did you mean 'native'"):
        choose_for_stream(tree(query), query, RateCost(), "nativ")


def test_explain_of_a_stream_names_its_operator() -> None:
    plan = mt.optimize(query_of("mixed"), "shared-pairs", keys=100, engine="stream")
    assert "operator native: predicted cheapest" in plan.explain()

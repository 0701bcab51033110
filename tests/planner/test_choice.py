"""Choices where the data is unknown: never far from the best, whatever it turns out to be like."""

from dataclasses import replace

import pytest

import muntin as mt
from lab.benchmarks.workload import SETS
from muntin.api.optimize import optimize_with
from muntin.cost.statistics import FEW_OR_MANY_KEYS, Statistics
from muntin.model.choices import Engine
from muntin.planner.options import ASSUMED, Options
from muntin_testing.reached import Reached

AGGREGATES = [mt.min("v"), mt.max("v"), mt.avg("v")]


@pytest.mark.parametrize("engine", ["spark", "stream"])
def test_regret_is_what_knowing_the_data_would_have_saved(engine: Engine) -> None:
    """In every case it is at most `regret` times as slow as what knowing the case would choose."""
    reached = Reached()
    for windows in (SETS[name] for name in ("mixed", "overlap", "hundred", "uneven")):
        query = mt.query("ts", windows, AGGREGATES, keys="k")
        unknown = optimize_with(query, Options(statistics=ASSUMED, engine=engine))
        assert unknown.choice.regret is not None
        assert unknown.choice.regret >= 1
        for keys in FEW_OR_MANY_KEYS:
            known = Statistics(1e7, keys, 1e7 / 86_400)
            best = optimize_with(query, Options(statistics=known, engine=engine))
            forced = replace(unknown.options, statistics=known, operator=unknown.operator.name)
            kept = optimize_with(query, replace(forced, strategy=unknown.strategy))
            allowed = max(unknown.choice.regret, 1.3)
            assert kept.seconds <= allowed * best.seconds + 1, (query.windows, keys)
            reached["other than with knowledge"] += best.operator is not unknown.operator
    reached.at_least(1, "other than with knowledge")


def test_explain_says_what_is_unknown_and_what_that_risks() -> None:
    query = mt.query("ts", [mt.hopping("1 hour", "5 minutes")], AGGREGATES, keys="k")
    text = mt.optimize(query, rate=100).explain()
    assert "unknown: rows=, distinct_keys=; chosen to be safe, at most " in text
    told = mt.optimize(query, rate=100, rows=1e6, distinct_keys=10).explain()
    assert "unknown" not in told


def test_a_stream_of_unknown_keys_keeps_columns() -> None:
    """A state by key is slow where keys are many; columns are never much slower."""
    query = mt.query("ts", SETS["mixed"], AGGREGATES, keys="k")
    assert mt.optimize(query, engine="stream").operator.name == "bucketed"
    few = mt.optimize(query, engine="stream", distinct_keys=1, rate=100)
    assert few.operator.name == "native"


def test_what_may_be_slower_than_spark_alone_is_not_chosen_where_something_may_not() -> None:
    """One tumbling window is what Spark's own aggregation does, whatever the keys are."""
    single = mt.query("ts", [mt.tumbling("1 minute")], AGGREGATES, keys="k")
    plan = mt.optimize(single, engine="stream")
    assert plan.operator.name == "native"
    assert not plan.choice.slower
    forced = mt.optimize(single, engine="stream", operator="bucketed")
    assert forced.choice.slower

"""What would change a stream's operator: planning with the value that explain() names shows it."""

import pytest

import muntin as mt
from lab.benchmarks.workload import SETS
from muntin.api.plan import Plan
from muntin.model.choices import Strategy
from muntin.planner.tipping_points import TippingPoint, find_tipping_point
from muntin_testing.reached import Reached

AGGREGATES = [mt.min("v"), mt.max("v"), mt.avg("v")]


def point_of(plan: Plan) -> TippingPoint | None:
    return find_tipping_point(plan.planned, plan.choice, plan.options.question(plan.query))


@pytest.mark.parametrize("strategy", ["shared-pairs", "auto"])
def test_planning_with_that_value_chooses_the_other_operator(strategy: Strategy) -> None:
    reached = Reached()
    for name in ("mixed", "overlap", "single", "uneven"):
        query = mt.query("ts", SETS[name], AGGREGATES, keys="k")
        for rate in (None, 20, 5000):
            plan = mt.optimize(query, strategy, rate, engine="stream")
            point = point_of(plan)
            if point is None:
                reached["none"] += 1
                continue
            assert point.operator != plan.operator.name
            beyond = point.value * (2 if point.below else 0.5)
            by_keys = point.option == "distinct_keys"
            for value, expected in ((point.value, point.operator), (beyond, plan.operator.name)):
                known = mt.optimize(
                    query,
                    strategy,
                    rate if by_keys else value,
                    value if by_keys else None,
                    engine="stream",
                )
                assert known.operator.name == expected, (name, rate, point, value)
            reached[point.option] += 1
    reached.at_least(4, "distinct_keys")


def test_explain_says_it_in_one_line() -> None:
    query = mt.query("ts", SETS["mixed"], AGGREGATES, keys="k")
    text = mt.optimize(query, engine="stream").explain()
    [line] = [line for line in text.splitlines() if "would be chosen" in line]
    assert line.startswith("native would be chosen with distinct_keys <= ")
    assert line.endswith("; give distinct_keys= if you know it")


def test_nothing_is_said_of_what_is_known_or_asked_for() -> None:
    query = mt.query("ts", SETS["mixed"], AGGREGATES, keys="k")
    for plan in (
        mt.optimize(query, engine="stream", distinct_keys=20_000, rate=100),
        mt.optimize(query, engine="stream", operator="bucketed"),
        mt.optimize(query),
    ):
        assert "would be chosen" not in plan.explain()

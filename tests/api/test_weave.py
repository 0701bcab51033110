"""optimize by the cost of weaving: the technique decides Ω, and `auto` stays quick."""

from random import Random

import pytest

import muntin as mt
from muntin.cost import WeaveCost
from muntin.errors import StrategyError
from muntin.strategies import LIMITS

MINUTE = 60_000_000
WINDOWS = [mt.Window(n * k * MINUTE, n * MINUTE) for n, k in ((5, 12), (10, 6), (7, 3), (14, 9))]


def query(aggregate: mt.Aggregate, windows: list[mt.Window] = WINDOWS) -> mt.Query:
    return mt.query("ts", windows, [aggregate])


def test_the_technique_decides_what_a_plan_costs() -> None:
    costs = [
        mt.optimize(query(mt.max("v")), "weave-share", 0.01, cost="weave", technique=name).cost
        for name in ("panes", "flatfat", "flatfit")
    ]
    assert len(set(costs)) == 3
    plain = mt.optimize(query(mt.max("v")), "weave-share", 0.01, cost="weave")
    assert plain.cost == costs[0]
    assert "aggregations/s" in plain.explain()


def test_slick_deque_is_the_one_that_the_aggregates_allow() -> None:
    rows = []
    for aggregate in (mt.count(), mt.max("v")):
        model = mt.optimize(query(aggregate), cost="weave", technique="slick-deque").model
        assert isinstance(model, WeaveCost)
        rows.append(model.row)
    assert rows == ["slick-deque-inv", "slick-deque-non-inv"]


def test_auto_takes_the_cheapest_under_the_cost_asked_for() -> None:
    plan = mt.optimize(query(mt.sum("v")), rate=0.01, cost="weave", technique="flatfit")
    assert plan.cost == min(a.cost for a in plan.alternatives if a.cost is not None)


def test_what_has_no_cost_is_refused_with_the_reason() -> None:
    with pytest.raises(StrategyError, match="'daba' serves one query, so it has no Ω"):
        mt.optimize(query(mt.sum("v")), cost="weave", technique="daba")  # type: ignore[call-overload]
    with pytest.raises(StrategyError, match="only under cost='weave'"):
        mt.optimize(query(mt.sum("v")), technique="flatfit")
    with pytest.raises(StrategyError, match="unknown cost 'weav': did you mean 'weave'"):
        mt.optimize(query(mt.sum("v")), cost="weav")  # type: ignore[call-overload]


@pytest.mark.parametrize("count", [10, 1_000])
def test_auto_skips_what_would_not_finish(count: int) -> None:
    random, found = Random(3), dict[mt.Window, None]()
    while len(found) < count:
        slide = random.choice((1, 2, 5, 7, 10, 15, 30, 60)) * MINUTE
        found[mt.Window(slide * random.randrange(1, 200), slide)] = None
    asked = query(mt.sum("v"), list(found))
    skipped = {a.strategy for a in mt.optimize(asked).alternatives if a.cost is None}
    assert skipped == {name for name, most in LIMITS.items() if count > most}


UNEVEN = [mt.hopping("14 minutes", "8 minutes"), mt.hopping("25 minutes", "10 minutes")]


def test_cutty_serves_every_window_set_and_costs_less_where_open_slices_are_kept() -> None:
    costs = {
        slicing: mt.optimize(
            query(mt.max("v"), UNEVEN), "weave-share", 0.01, cost="weave", slicing=slicing
        ).cost
        for slicing in ("cutty", "pairs")
    }
    assert costs["cutty"] < costs["pairs"]


def test_auto_does_not_take_open_slices_for_cheaper_where_they_are_closed() -> None:
    found = mt.optimize(query(mt.sum("v"), UNEVEN[:1]), engine="sql")
    costs = {a.strategy: a.cost for a in found.alternatives if a.cost is not None}
    assert min(costs, key=lambda name: costs[name]) == "cutty"
    assert found.strategy != "cutty"
    seconds = {a.strategy: a.seconds for a in found.alternatives}
    assert seconds["cutty"] == seconds["shared-pairs"]

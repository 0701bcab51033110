"""optimize by the cost of weaving: the technique decides Ω, and `auto` stays quick."""

import pytest

import muntin as mt
from muntin.aggregates.algebra import FUNCTIONS
from muntin.cost import RateCost, WeaveCost, total
from muntin.cost.variants import variants
from muntin.errors import StrategyError
from muntin.incremental.protocol import TECHNIQUES

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
    rows = []  # type: ignore[var-annotated]
    for aggregate in (mt.count(), mt.max("v")):
        model = mt.optimize(query(aggregate), cost="weave", technique="slick-deque").model
        assert isinstance(model, WeaveCost)
        rows += model.variants
    assert rows == ["slick-deque-inv", "slick-deque-non-inv"]


@pytest.mark.parametrize(
    ("technique", "aggregate", "remedy"),
    [
        (
            "slick-deque",
            mt.var_pop("v"),
            "neither invertible nor selective: use technique='flatfit'",
        ),
        (
            "slick-deque",
            mt.product("v"),
            "neither invertible nor selective: use technique='flatfit'",
        ),
        ("slick-deque-inv", mt.max("v"), "not invertible: use technique='slick-deque'"),
        ("slick-deque-non-inv", mt.sum("v"), "not selective: use technique='slick-deque'"),
    ],
)
def test_a_technique_that_cannot_serve_an_aggregate_is_refused_with_one_that_can(
    technique: str, aggregate: mt.Aggregate, remedy: str
) -> None:
    asked = mt.query("ts", WINDOWS, [mt.count(), mt.max("w"), aggregate.alias("mine")])
    sentence = f"technique '{technique}' cannot serve .*{remedy}"
    with pytest.raises(StrategyError, match=sentence):
        mt.optimize(asked, cost="weave", technique=technique)  # type: ignore[call-overload]
    able = remedy.rpartition("=")[2].strip("'")
    assert mt.optimize(query(aggregate), cost="weave", technique=able).cost > 0  # type: ignore[call-overload]


def test_every_priced_technique_serves_the_aggregate_in_process() -> None:
    priced = refused = 0
    for function in FUNCTIONS.values():
        if function.holistic:
            continue
        aggregate = mt.Aggregate(function(), ("v",) * function.arity)
        for technique in ("panes", "flatfat", "flatfit", "slick-deque"):
            served = TECHNIQUES[technique].refusal(aggregate.function, [2, 3]) is None
            if served:
                assert variants(technique, [aggregate])
                priced += 1
            else:
                with pytest.raises(StrategyError, match="cannot serve"):
                    variants(technique, [aggregate])
                refused += 1
    assert priced > 60
    assert refused > 10


def test_each_aggregate_is_priced_by_the_structure_that_it_has() -> None:
    def cost(*aggregates: mt.Aggregate, technique: str = "slick-deque") -> float:
        asked = mt.query("ts", WINDOWS, list(aggregates))
        plan = mt.optimize(asked, "shared-pairs", 0.01, cost="weave", technique=technique)  # type: ignore[call-overload]
        return plan.cost  # type: ignore[no-any-return]

    total, highest = mt.sum("v"), mt.max("v")
    both = cost(total, highest)
    assert both == pytest.approx(cost(total) + cost(highest))
    assert cost(total, highest, total.alias("again"), mt.median("v")) == both
    assert cost(mt.sum("w"), mt.sum("v"), technique="panes") == pytest.approx(
        2 * cost(total, technique="panes")
    )
    with pytest.raises(StrategyError, match=r"median\(v\) has none: use cost='rate'"):
        cost(mt.median("v"))


def test_many_keys_cost_no_more_than_the_records_fill() -> None:
    asked = query(mt.sum("v"))
    costs = [
        {
            a.strategy: a.cost
            for a in mt.optimize(asked, distinct_keys=keys, cost="weave").alternatives
        }
        for keys in (1e6, 1e9)
    ]
    assert costs[0].keys() == costs[1].keys()
    for name, cost in costs[0].items():
        assert cost == pytest.approx(costs[1][name])
        assert cost <= 100 * 2 * sum(1 + w.overlap for w in WINDOWS)  # type: ignore[operator]


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
    asked = query(mt.sum("v"), UNEVEN[:1])
    counted = mt.optimize(asked, engine="sql", cost="rate")
    costs = {a.strategy: a.cost for a in counted.alternatives if a.cost is not None}
    assert costs["cutty"] == costs["shared-pairs"]
    as_planned = mt.optimize(asked, "cutty", engine="sql", cost="rate").planned
    assert total(RateCost(), as_planned) < costs["cutty"]
    found = mt.optimize(asked, engine="sql", rows=1e12, rate=1.0)  # worth planning to the end
    assert found.strategy != "cutty"
    seconds = {a.strategy: a.seconds for a in found.alternatives}
    assert seconds["cutty"] == seconds["shared-pairs"]

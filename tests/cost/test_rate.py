"""The default cost: properties that any count of operations must have."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.cost import RateCost, node_costs, total
from muntin.errors import StrategyError
from muntin.model.windows import Window
from muntin.plan import SharingPlan
from muntin.plan.coverage import SOURCE, Source, fewest_pieces
from muntin.plan.slicing import shared_pairs
from muntin.plan.tree import slices_node, window_node
from muntin.planner.strategies import Problem
from muntin.planner.strategies.coverage.wcg import covered_node, wcg
from muntin.planner.strategies.slices import direct
from muntin_testing.windows import window_sets, windows

SECOND = 1_000_000
rates = st.sampled_from([0.01, 1.0, 100.0, 1e6])
keys = st.sampled_from([1.0, 10.0, 1e5])


def in_seconds(windows: list[Window]) -> tuple[Window, ...]:
    return tuple(Window(w.range * SECOND, w.slide * SECOND, w.offset * SECOND) for w in windows)


@given(window_sets(), rates, keys)
def test_direct_folds_each_event_into_each_instance_it_falls_in(
    windows: list[Window], rate: float, keys: float
) -> None:
    asked, model = in_seconds(windows), RateCost(rate, keys)
    plan = direct(Problem(asked, True, model))
    expected = {w.id: rate * w.range / w.slide for w in asked}
    assert node_costs(model, plan) == pytest.approx(expected)
    assert total(model, plan) == pytest.approx(sum(expected.values()))


@given(windows())
def test_the_overlap_is_the_mean_number_of_instances_of_an_instant(window: Window) -> None:
    instants = range(window.slide)
    mean = sum(len(window.instances_of(t)) for t in instants) / len(instants)
    assert mean == pytest.approx(window.overlap)


@given(window_sets(), rates, keys)
def test_no_node_holds_more_rows_than_reach_it(
    windows: list[Window], rate: float, keys: float
) -> None:
    asked, model = in_seconds(windows), RateCost(rate, keys)
    assert model.rows(SOURCE) == rate
    assert model.rows(shared_pairs(asked)) <= rate
    for w in asked:
        assert model.rows(w) <= rate * w.overlap
        assert model.rows(w) <= keys * SECOND / w.slide


@given(window_sets(), rates, keys)
def test_more_events_or_keys_never_cost_less(
    windows: list[Window], rate: float, keys: float
) -> None:
    asked = in_seconds(windows)
    slices = shared_pairs(asked)
    plans = [
        wcg(Problem(asked, True, RateCost(rate, keys))),
        SharingPlan.build([slices_node(slices), *(window_node(w, "slices") for w in asked)], True),
    ]
    for plan in plans:
        base = total(RateCost(rate, keys), plan)
        assert total(RateCost(2 * rate, keys), plan) >= base
        assert total(RateCost(rate, 2 * keys), plan) >= base
        assert total(RateCost(2 * rate, 2 * keys), plan) == pytest.approx(2 * base)


@given(window_sets(most=4), rates, keys, st.booleans())
def test_the_coverage_graph_finds_the_cheapest_tree_of_the_windows(
    windows: list[Window], rate: float, keys: float, idempotent: bool
) -> None:
    asked, model = in_seconds(windows), RateCost(rate, keys)
    found = total(model, wcg(Problem(asked, idempotent, model)))
    assert found == pytest.approx(min(total(model, plan) for plan in all_trees(asked, idempotent)))
    assert found <= total(model, direct(Problem(asked, idempotent, model))) * (1 + 1e-12)


def all_trees(windows: tuple[Window, ...], idempotent: bool) -> list[SharingPlan]:
    """Every choice of one parent for each window: by brute force what Algorithm 1 chooses from."""
    disjoint = not idempotent
    parents: list[list[Source | Window]] = [
        [SOURCE, *(p for p in windows if p != w and fewest_pieces(w, p, disjoint) is not None)]
        for w in windows
    ]
    return [
        SharingPlan.build(
            [
                covered_node(child, parent, disjoint, fewest=True)
                for child, parent in zip(windows, chosen, strict=True)
            ],
            idempotent,
        )
        for chosen in product(*parents)
    ]


def test_fewest_pieces_beat_the_covering_set() -> None:
    # 24 hours from 1 hour, both sliding by the minute: 24 merges a result, not 1,381.
    minute = 60 * SECOND
    day, hour = Window(1440 * minute, minute, id="day"), Window(60 * minute, minute, id="hour")
    model = RateCost(rate=1000.0)
    plan = wcg(Problem((day, hour), False, model))
    assert plan.node("day").parent == "hour"
    assert node_costs(model, plan)["day"] == pytest.approx(24 / 60)


def test_a_result_costs_one_merge_for_each_of_its_pieces() -> None:
    # Many events: an hour holds one row for each key and minute; a day begins every 4 hours.
    minute = 60 * SECOND
    hour, day = (
        Window(60 * minute, minute, id="hour"),
        Window(1440 * minute, 240 * minute, id="day"),
    )
    model = RateCost(rate=1e6, keys=7)
    plan = wcg(Problem((hour, day), False, model))
    assert plan.node("day").parent == "hour"
    results = 7 / (240 * 60)
    assert node_costs(model, plan)["day"] == pytest.approx(24 * results)


def test_slices_shrink_nothing_when_keys_outnumber_events() -> None:
    windows = in_seconds([Window(60, 10)])
    slices = shared_pairs(windows)
    assert RateCost(rate=5, keys=1_000).rows(slices) == 5
    assert RateCost(rate=5, keys=1).rows(slices) == pytest.approx(0.1)


@pytest.mark.parametrize("rate", [0, -5.0, float("nan")])
def test_the_rate_must_be_positive(rate: float) -> None:
    with pytest.raises(StrategyError, match=r"rate .* must be positive: events per second"):
        RateCost(rate)


@pytest.mark.parametrize("keys", [0, 0.5, -1, float("nan")])
def test_there_is_at_least_one_key(keys: float) -> None:
    with pytest.raises(StrategyError, match=r"keys .* must be at least 1"):
        RateCost(1.0, keys)

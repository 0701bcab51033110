"""What holds for every strategy of the registry, whatever it does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.cost import (
    CostModel,
    ExpandCost,
    KernelCost,
    PaperCost,
    RateCost,
    Statistics,
    total,
)
from muntin.errors import StrategyError
from muntin.model.windows import Window
from muntin.plan import check, close
from muntin.plan.coverage import EdgeKind
from muntin.plan.slicing import SLICINGS
from muntin.planner.strategies import COST_FREE, STRATEGIES, Problem, strategy_named
from muntin_testing.reached import Reached, built_by, edges_of, fewer
from muntin_testing.records import plan_is_right
from muntin_testing.windows import nested_sets, window_sets

rates = st.sampled_from([0.5, 1e6, 1e7, 1e8])


@pytest.mark.parametrize("name", STRATEGIES)
def test_plans_are_right(name: str) -> None:
    reached = Reached()

    @given(
        asked=st.one_of(window_sets(most=4, longest=16), nested_sets(longest=16)),
        idempotent=st.booleans(),
        rate=rates,
        paper=st.booleans(),
        slicing=st.sampled_from(sorted(SLICINGS)),
    )
    def each(asked: list[Window], idempotent: bool, rate: float, paper: bool, slicing: str) -> None:
        windows = tuple(asked)
        model: CostModel = PaperCost(windows, rate) if paper else RateCost(rate)
        plan = STRATEGIES[name](Problem(windows, idempotent, model, slicing))
        check(plan, windows)
        assert plan_is_right(plan, asked)
        assert total(model, plan) > 0
        lowered = close(plan)
        check(lowered, windows)
        assert plan_is_right(lowered, asked)
        assert not any(node.pieces.kind is EdgeKind.PREFIX for node in lowered.nodes)
        assert [node.id for node in lowered.nodes] == [node.id for node in plan.nodes]
        reached.update(edges_of(plan))

    each()
    reached.at_least(8, *built_by(name))


@pytest.mark.parametrize("name", STRATEGIES)
def test_plans_are_right_for_the_operator_that_will_run(name: str) -> None:
    reached = Reached()

    @given(
        window_sets(most=4, longest=16),
        st.booleans(),
        st.sampled_from([1e3, 1e7]),
    )
    def each(asked: list[Window], idempotent: bool, rows: float) -> None:
        windows = tuple(asked)
        for kind in (ExpandCost, KernelCost):
            model = kind(Statistics(rows, keys=40, rate=1e6), partials=2)
            plan = STRATEGIES[name](Problem(windows, idempotent, model))
            check(plan, windows)
            assert plan_is_right(plan, asked)
            assert 0 < total(model, plan) < float("inf")
            reached.update(edges_of(plan))

    each()
    assert reached.total() >= 40, "edges of plans that were looked at"


@pytest.mark.parametrize("name", STRATEGIES)
def test_one_window_is_enough(name: str) -> None:
    window = Window("1 hour", "7 minutes", "3 minutes")
    plan = STRATEGIES[name](Problem((window,), False, RateCost()))
    check(plan, [window])


@pytest.mark.parametrize("name", STRATEGIES)
def test_the_same_problem_gives_the_same_plan(name: str) -> None:
    windows = tuple(Window(n * 60_000_000, 60_000_000) for n in (5, 10, 30, 45, 60))
    problem = Problem(windows, True, RateCost())
    assert STRATEGIES[name](problem) == STRATEGIES[name](problem)


def test_an_unknown_strategy_gets_the_closest_known_one() -> None:
    with pytest.raises(StrategyError, match=r"unknown strategy 'wgc': did you mean 'wcg'\?"):
        strategy_named("wgc")
    with pytest.raises(StrategyError, match="unknown strategy 'zebra': known: auto, direct, "):
        strategy_named("zebra")


@fewer
@given(asked=window_sets(most=5), idempotent=st.booleans())
def test_strategies_that_are_free_of_cost_have_one_plan(
    asked: list[Window], idempotent: bool
) -> None:
    models = RateCost(rate=5e6), KernelCost(Statistics(1e9, 100, 1e6))
    for name in COST_FREE:
        plans = [STRATEGIES[name](Problem(tuple(asked), idempotent, model)) for model in models]
        assert plans[0] == plans[1], name

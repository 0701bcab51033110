"""wcg-fw: Example 7, and why the better of Algorithms 1 and 2 is taken."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.cost import CostModel, PaperCost, RateCost, node_costs, total
from muntin.model.windows import Window
from muntin.plan import SharingPlan, check
from muntin.planner.strategies import Problem
from muntin.planner.strategies.coverage.factor_windows import (
    best_factors,
    plan_over,
    wcg_fw,
    with_factor_windows,
)
from muntin.planner.strategies.coverage.wcg import wcg
from muntin_testing.reached import Reached
from muntin_testing.windows import window_sets

THREE = tuple(Window(n, n, id=str(n)) for n in (20, 30, 40))


def parents(plan: SharingPlan) -> dict[str, str | None]:
    return {node.id: node.parent for node in plan.nodes}


@pytest.mark.parametrize("idempotent", [True, False])
def test_example_7(idempotent: bool) -> None:
    model = PaperCost(THREE)
    plan = wcg_fw(Problem(THREE, idempotent, model))
    ten = "factor 10 microseconds"
    assert parents(plan) == {ten: None, "20": ten, "30": ten, "40": "20"}
    assert plan.node(ten).hidden
    assert node_costs(model, plan) == {ten: 120, "20": 12, "30": 12, "40": 6}
    assert total(model, plan) == 150


def test_the_period_is_the_users() -> None:
    # A factor window W(7, 7) would make R = 840 if it counted.
    assert PaperCost(THREE).recurrence(Window(7, 7)) == Fraction(120, 7)


def test_algorithm_2_alone_may_be_worse_than_algorithm_1() -> None:
    windows = (Window(2, 1), Window(4, 2), Window(6, 6))
    model = PaperCost(windows)
    problem = Problem(windows, True, model)
    assert total(model, wcg(problem)) == 41
    assert total(model, with_factor_windows(problem)) == 42
    assert total(model, wcg_fw(problem)) == 41


def test_unused_factor_windows_are_dropped_with_all_that_only_they_read() -> None:
    problem = Problem(THREE, False, PaperCost(THREE))
    plan = plan_over(problem, [Window(10, 10), Window(7, 7), Window(14, 14)])
    assert [node.id for node in plan.nodes if node.hidden] == ["factor 10 microseconds"]


def test_a_factor_window_never_takes_a_users_id() -> None:
    windows = (Window(20, 20), Window(30, 30), Window(40, 40, id="factor 10 microseconds"))
    plan = wcg_fw(Problem(windows, True, PaperCost(windows)))
    assert [node.id for node in plan.nodes if node.hidden] == ["factor 10 microseconds′"]
    check(plan, windows)


def test_factor_windows_follow_offsets() -> None:
    minute = 60_000_000
    windows = tuple(Window(n * minute, n * minute, 7 * minute) for n in (20, 30))
    plan = wcg_fw(Problem(windows, False, RateCost()))
    hidden = [node.shape for node in plan.nodes if node.hidden]
    assert hidden == [Window(10 * minute, 10 * minute, 7 * minute)]


def test_a_hopping_factor_window_serves_sums() -> None:
    minute = 60_000_000
    day = (Window(minute, minute), Window(1440 * minute, minute))
    plan = wcg_fw(Problem(day, False, RateCost()))
    assert any(
        n.hidden and isinstance(n.shape, Window) and not n.shape.tumbling for n in plan.nodes
    )
    check(plan, day)


def test_never_worse_than_algorithm_1() -> None:
    """Windows of a few units: at 1e6 events a second, one a unit, sharing begins to pay."""
    reached = Reached()

    @given(window_sets(most=6), st.booleans(), st.booleans(), st.sampled_from([0.5, 1.0, 20.0]))
    def each(asked: list[Window], idempotent: bool, paper: bool, eta: float) -> None:
        windows = tuple(asked)
        model: CostModel = PaperCost(windows, eta) if paper else RateCost(1e6 * eta)
        problem = Problem(windows, idempotent, model)
        plan = wcg_fw(problem)
        check(plan, windows)
        plain = total(model, wcg(problem))
        assert total(model, plan) <= plain
        assert not set(best_factors(problem)) & set(windows)
        reached[f"better under {model.name}"] += total(model, plan) < plain * (1 - 1e-9)

    each()
    reached.at_least(2, "better under paper", "better under rate")

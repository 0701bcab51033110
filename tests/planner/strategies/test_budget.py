"""The planning budget: who has how much of it, and what it is enough for."""

import pytest

from lab.benchmarks.planning import hostile_windows
from muntin.cost import KernelCost, Statistics
from muntin.plan import check
from muntin.planner.strategies import SHARES, STRATEGIES, Problem, budget_for
from muntin.planner.strategies.problem import BASE, EACH, MANY, NAMED


def test_shares_are_those_of_strategies() -> None:
    assert SHARES.keys() <= STRATEGIES.keys()


@pytest.mark.parametrize("shares", [0, 1, 2])
def test_a_budget_grows_with_the_windows_and_then_no_more(shares: int) -> None:
    limits = [budget_for(count, shares).limit for count in (1, 20, MANY, 10 * MANY)]
    assert limits == sorted(limits)
    assert limits[-1] == limits[-2]
    assert limits[0] >= BASE


@pytest.mark.parametrize("shares", [0, 1, 2])
def test_who_is_named_has_a_whole_share_at_least(shares: int) -> None:
    named = budget_for(500, shares, named=True).limit
    assert named == NAMED * max(shares, 1) * (BASE + 500 * EACH)
    assert named >= NAMED * budget_for(500, shares).limit


@pytest.mark.parametrize("name", ["weave-share", "tri-weave"])
@pytest.mark.parametrize(
    "kind", ["long overlaps", pytest.param("microsecond offsets", marks=pytest.mark.long)]
)
def test_a_thousand_windows_are_woven_within_the_budget(name: str, kind: str) -> None:
    windows, model = hostile_windows(kind, 1_000), KernelCost(Statistics(keys=100), partials=2)
    budget = budget_for(len(windows), SHARES[name])
    plan = STRATEGIES[name](Problem(windows, False, model, budget=budget))
    check(plan, windows)
    assert 0 < budget.spent <= budget.limit

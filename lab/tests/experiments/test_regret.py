"""The regret of strategies: never below the optimum, and none to speak of for steiner."""

from lab.experiments.optimality_regret import (
    OPERATORS,
    regret_problem,
    regret_table,
    regrets,
)
from lab.experiments.optimum import optimum
from lab.experiments.optimum_slices import all_slices, optimum_with_slices
from muntin.cost import KernelCost, RateCost, Statistics, total
from muntin.model.windows import Window
from muntin.planner.strategies import STRATEGIES, Problem, strategy_named

SETS = (1, 4, 16, 23)


def test_regrets_of_a_few_sets() -> None:
    found = [regrets(number, seed=3) for number in SETS]
    for each in found:
        assert each.keys() == {(name, operator) for name in STRATEGIES for operator in OPERATORS}
        assert min(each.values()) > -1e-7
        assert max(each["steiner", operator] for operator in OPERATORS) < 0.03
    table = regret_table(found)
    assert table.row_count == len(STRATEGIES)


def test_slices_only_lower_the_optimum() -> None:
    windows = tuple(Window(n, n) for n in (4, 6, 9))
    problem = Problem(windows, False, RateCost(rate=1e6))
    assert optimum_with_slices(problem) <= optimum(problem) * (1 + 1e-9)
    known = total(problem.cost, strategy_named("exhaustive")(problem))
    assert optimum_with_slices(problem, known) <= known
    assert len(all_slices(windows)) == 3 + 3 + 1 + 3  # three shared panes, of which two are equal


def test_problems_differ_by_number_and_seed() -> None:
    one = regret_problem(1, 1, "kernel")
    assert isinstance(one.cost, KernelCost)
    assert isinstance(one.cost.statistics, Statistics)
    assert one == regret_problem(1, 1, "kernel") != regret_problem(1, 2, "kernel")

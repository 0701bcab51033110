"""Optimality: files, tables, and regrets, of which steiner has none to speak of."""

import io
from pathlib import Path

from rich.console import Console

from lab.costs.optimality import OPERATORS, regret_problem, regret_table, regrets, run
from lab.costs.optimum import all_slices, optimum, optimum_with_slices
from lab.registry import Options
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


def test_optimality_prints_and_writes(tmp_path: Path) -> None:
    console = Console(width=120, record=True, file=io.StringIO())
    found = run(Options(tmp_path, seed=1, sets=2), console)
    assert len(found) == 2
    text = console.export_text()
    assert "Cost above the true optimum" in text
    assert "Processor time" in text
    assert len((tmp_path / "optimality.csv").read_text().splitlines()) == 3
    assert (tmp_path / "optimality.png").stat().st_size > 10_000

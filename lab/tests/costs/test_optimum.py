"""The mixed-integer programme against all subsets of all candidates."""

from itertools import combinations
from random import Random

import pytest

from lab.costs.optimality import Gaps, case_number, measure, times
from lab.costs.optimum import all_candidates, optimum
from lab.factor_windows.workload import Sizes, random_gen
from muntin.cost import CostModel, PaperCost, RateCost, total
from muntin.cost.arrays import WindowArrays, source_costs
from muntin.model.windows import Window, common_unit
from muntin.plan.coverage import fewest_pieces
from muntin.planner.strategies import Problem
from muntin.planner.strategies.coverage.edge_costs import edge_costs
from muntin.planner.strategies.coverage.steiner import window_tree
from muntin.planner.strategies.coverage.steiner_search import SteinerSearch
from muntin_testing.windows import all_windows


def by_all_subsets(problem: Problem) -> float:
    nodes = WindowArrays.of(problem.windows).join(all_candidates(problem))
    asked, count = len(problem.windows), len(nodes)
    assert count - asked <= 13, "too many subsets"
    costs = edge_costs(problem.cost, nodes, nodes, problem.idempotent, fewest=True)
    search = SteinerSearch(costs, source_costs(problem.cost, nodes), asked)
    least = float("inf")
    for size in range(count - asked + 1):
        for subset in combinations(range(asked, count), size):
            search.start(subset)
            least = min(least, search.total)
    return least


@pytest.mark.parametrize("idempotent", [True, False])
@pytest.mark.parametrize("paper", [True, False])
def test_the_programme_finds_the_cheapest_of_all_trees(idempotent: bool, paper: bool) -> None:
    tried = 0
    for seed in range(30):
        windows = random_gen(Random(seed), 3, Sizes(6, 3 if not idempotent else 2))
        model: CostModel = PaperCost(windows, 2.0) if paper else RateCost(2e6)
        problem = Problem(windows, idempotent, model)
        if len(all_candidates(problem)) > 8:
            continue
        tried += 1
        least = by_all_subsets(problem)
        known = total(model, window_tree(problem))
        assert optimum(problem) == pytest.approx(least)
        assert optimum(problem, known) == pytest.approx(least)
        assert optimum(problem, 2 * known) == pytest.approx(least)
    assert tried >= 5


@pytest.mark.parametrize("idempotent", [True, False])
def test_no_covering_window_is_missing_among_the_candidates(idempotent: bool) -> None:
    for seed in range(20):
        asked = random_gen(Random(seed), 3, Sizes(6, 2))
        problem = Problem(asked, idempotent, RateCost())
        unit = common_unit(asked)
        expected = {
            (w.range, w.slide, w.offset)
            for w in all_windows(longest=12)
            if w not in asked
            and w.slide % unit == w.range % unit == 0
            and any(fewest_pieces(a, w, disjoint=not idempotent) for a in asked)
        }
        assert set(all_candidates(problem).triples()) == expected


def test_cases_are_a_cycle_of_all_kinds() -> None:
    cases = [case_number(n, seed=1) for n in range(32)]
    kinds = {(c.generator, c.shape, c.problem.idempotent, c.problem.cost.name) for c in cases}
    assert len(kinds) == 32
    assert case_number(7, 1) == case_number(7, 1) != case_number(7, 2)


def test_a_measurement_never_beats_the_optimum() -> None:
    for number in (4, 5, 6, 7):  # disjoint pieces: quick
        found = measure(case_number(number, seed=5))
        assert -1e-9 < found.gap <= found.greedy_gap + 1e-9


def test_times_name_every_strategy() -> None:
    found = times(5, seed=1)
    names = ("wcg", "wcg-fw", "steiner")
    assert set(found.seconds) == {(name, both) for name in names for both in (True, False)}
    assert all(found.costs["steiner", i] <= found.costs["wcg-fw", i] for i in (True, False))


def test_gaps() -> None:
    assert Gaps.of([0.0, 0.5]) == Gaps(sets=2, optimal=1, mean=0.25, worst=0.5)


def test_windows_of_one_problem_are_asked_once() -> None:
    hour = (Window(6, 6), Window(12, 6))
    rows = set(all_candidates(Problem(hour, True, RateCost())).triples())
    assert not rows & {(6, 6, 0), (12, 6, 0)}

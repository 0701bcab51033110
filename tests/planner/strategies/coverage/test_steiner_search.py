"""The search: what a move promises is what it saves."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.planner.strategies.coverage.steiner_search import SteinerSearch


def random_search(seed: int, asked: int, factors: int) -> SteinerSearch:
    """A random acyclic problem: a node is computed from factor windows of higher number only."""
    random = np.random.default_rng(seed)
    count = asked + factors
    cost = np.full((count, count), np.inf)
    for child in range(count):
        for parent in range(child + 1, count):
            if random.random() < 0.6:
                cost[parent, child] = random.integers(1, 20)
    return SteinerSearch(cost, random.integers(10, 60, count).astype(float), asked)


def after(search: SteinerSearch, chosen: list[int]) -> float:
    search.start(chosen)
    return search.total


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 6), st.data())
def test_every_move_saves_what_it_says(
    seed: int, asked: int, factors: int, data: st.DataObject
) -> None:
    search = random_search(seed, asked, factors)
    nodes = range(asked, asked + factors)
    chosen = sorted(data.draw(st.sets(st.sampled_from(nodes))))
    search.start(chosen)
    add, drop, swap, total = search.moves()
    assert total == pytest.approx(search.total)
    for f in nodes:
        if f in chosen:
            assert add[f - asked] == -np.inf
            continue
        assert total - after(search, [*chosen, f]) == pytest.approx(add[f - asked])
        for place, g in enumerate(chosen):
            without = [c for c in chosen if c != g]
            assert total - after(search, without) == pytest.approx(drop[place])
            swapped = total - after(search, [*without, f])
            assert swapped == pytest.approx(swap[f - asked, place])


@given(st.integers(0, 10_000))
def test_descent_ends_where_no_single_move_saves(seed: int) -> None:
    search = random_search(seed, asked=3, factors=6)
    start = search.total
    search.improve()
    assert search.total <= start
    add, drop, swap, total = search.moves()
    best = max(add.max(), drop.max(initial=-np.inf), swap.max(initial=-np.inf))
    assert best <= 1e-6 * total


def test_small_problems_are_nearly_always_solved() -> None:
    optimal = 0
    for seed in range(60):
        search = random_search(seed, asked=3, factors=6)
        subsets = [c for size in range(7) for c in combinations(range(3, 9), size)]
        least = min(after(search, list(subset)) for subset in subsets)
        ends = []
        for start in ([], list(range(3, 9))):
            search.start(start)
            search.improve()
            ends.append(search.total)
        assert min(ends) >= least - 1e-9
        optimal += min(ends) <= least + 1e-9
    assert optimal >= 58


def test_a_spent_budget_ends_the_search_with_a_valid_set() -> None:
    search = random_search(5, asked=4, factors=6)
    search.budget = 1.0
    search.start(range(4, 10))
    search.improve()
    assert set(range(4)) <= set(search.chosen.tolist())


def test_many_poor_factor_windows_are_dropped_in_few_steps() -> None:
    count = 400
    source = np.ones(count)
    search = SteinerSearch(np.full((count, count), np.inf), source, asked=1)
    search.start(range(1, count))
    before = search.budget
    search.descend()
    assert search.chosen.tolist() == [0]
    assert before - search.budget < 60 * (30_000 + 4 * count * count)

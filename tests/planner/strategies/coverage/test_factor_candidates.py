"""Candidates: few, and yet the best factor window of all is among them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.cost import CostModel, PaperCost, RateCost
from muntin.model.windows import Window, common_unit
from muntin.plan.coverage import SOURCE, EdgePieces, Source, covering_pieces, every, fewest_pieces
from muntin.planner.strategies import Problem
from muntin.planner.strategies.coverage.divisors import divisors, divisors_between
from muntin.planner.strategies.coverage.factor_candidates import MANY, candidates, fewer_pieces
from muntin.planner.strategies.coverage.factor_windows import best_factor
from muntin_testing.reached import Reached
from muntin_testing.windows import all_windows, window_sets

EVERY = all_windows(longest=14)


def change(
    problem: Problem, factor: Window, target: Source | Window, children: list[Window]
) -> float | None:
    """Cost with the factor window less cost without it, edge by edge; None if it does not fit."""

    def edge(parent: Source | Window, child: Window) -> float:
        pieces: EdgePieces | None = every(child.range)
        if isinstance(parent, Window):
            take = fewest_pieces if problem.cost.fewest else covering_pieces
            pieces = take(child, parent, disjoint=not problem.idempotent)
        return float("inf") if pieces is None else problem.cost.edge(parent, child, pieces)

    total = edge(target, factor) + sum(edge(factor, child) for child in children)
    return total - sum(edge(target, child) for child in children) if total < 1e300 else None


def test_no_window_at_all_is_better_than_the_best_candidate() -> None:
    reached = Reached()

    @given(
        asked=window_sets(least=1, most=3, longest=14),
        idempotent=st.booleans(),
        paper=st.booleans(),
        eta=st.sampled_from([1.0, 3.0, 20.0]),
    )
    def each(asked: list[Window], idempotent: bool, paper: bool, eta: float) -> None:
        windows = tuple(asked)
        model: CostModel = PaperCost(windows, eta) if paper else RateCost(1e6 * eta)
        problem = Problem(windows, idempotent, model)
        found = best_factor(problem, SOURCE, asked)
        unit = common_unit(windows)
        others = [w for w in EVERY if w not in windows and w.slide % unit == w.range % unit == 0]
        if paper and not idempotent:
            others = [w for w in others if w.tumbling]
        changes = [c for w in others if (c := change(problem, w, SOURCE, asked)) is not None]
        best = min(changes, default=1.0)
        if found is not None:
            ours = change(problem, found, SOURCE, asked)
            assert ours is not None
            assert ours <= min(best, 0) + 1e-6 * abs(best)
            reached[f"one helps, {model.name}"] += 1
        elif paper and not idempotent and any(change(problem, w, SOURCE, asked) for w in windows):
            reached["one that is asked does its work"] += 1  # which Algorithm 4 leaves at that
        else:
            assert best > -1e-9
            reached["none helps"] += 1

    each()
    reached.at_least(5, "none helps", "one helps, paper", "one helps, rate")


def test_ranges_need_not_be_multiples_of_the_slide() -> None:
    child = Window(14, 8)
    found = candidates(SOURCE, [child], frozenset([child]), 2, idempotent=True, fewest=True)
    assert (6, 4, 0) in found  # 6 mod 4 ≠ 0, but 6 ≡ 14 (mod 4)
    assert fewest_pieces(child, Window(6, 4), disjoint=False) is not None
    assert all(length % slide == 14 % slide for length, slide, _ in found)


def test_a_target_bounds_slides_and_ranges_from_below() -> None:
    target, child = Window(6, 2), Window(24, 12)
    found = candidates(target, [child], frozenset([target, child]), 2, True, True)
    assert found
    assert all(length >= 6 and slide % 2 == 0 for length, slide, _ in found)


def test_microseconds_are_counted_in_the_common_unit() -> None:
    day = 86_400_000_000
    pair = [Window(day, day), Window(day // 2, day // 2)]
    found = candidates(SOURCE, pair, frozenset(pair), day // 2, idempotent=False, fewest=False)
    assert found == []  # the half day is asked for, and is the unit


@given(st.integers(1, MANY))
def test_between_two_lengths_nothing_needs_fewer_pieces(steps: int) -> None:
    lengths = fewer_pieces(steps)
    for a in {*range(1, min(steps, 60)), steps}:
        shorter = max(length for length in lengths if length <= a)
        assert -(-steps // shorter) == -(-steps // a)


def test_very_long_ranges_get_few_lengths() -> None:
    lengths = fewer_pieces(86_400)
    assert len(lengths) < 150
    assert {1, 86_400, 43_200, 28_800} <= set(lengths)


@given(st.integers(1, 5000))
def test_divisors(number: int) -> None:
    assert divisors(number) == tuple(d for d in range(1, number + 1) if number % d == 0)


@pytest.mark.parametrize(("multiple", "expected"), [(6, [6, 12, 18, 36]), (5, [])])
def test_divisors_between(multiple: int, expected: list[int]) -> None:
    assert divisors_between(multiple, 36) == expected


def test_a_number_of_large_primes_is_not_waited_for() -> None:
    first, second = 1_000_000_007, 998_244_353  # beyond what is told apart
    assert divisors(12 * first * second) == tuple(
        sorted(d * rest for d in (1, 2, 3, 4, 6, 12) for rest in (1, first * second))
    )

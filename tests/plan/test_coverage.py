"""Definitions 1–5 and Theorems 1–4 against brute force over explicit intervals.

Every pair of windows with range ≤ 7 is looked at, and thousands of random larger ones; offsets and
ranges that are no multiple of their slide are among them.
"""

from itertools import pairwise
from math import inf, lcm
from random import Random

import pytest
from hypothesis import given

from muntin.errors import PlanError
from muntin.model.windows import Window
from muntin.plan.coverage import (
    EdgePieces,
    Progression,
    covered_by,
    covering_pieces,
    every,
    fewest_pieces,
    multiplier,
    partitioned_by,
)
from muntin_testing.windows import (
    Interval,
    all_windows,
    intervals,
    one_period,
    related_pair,
    windows,
)

SMALL = [(child, parent) for child in all_windows(7) for parent in all_windows(7)]


def random_pairs(count: int, seed: int = 2022) -> list[tuple[Window, Window]]:
    random = Random(seed)
    return [related_pair(random) for _ in range(count)]


PAIRS = SMALL + random_pairs(4_000)


def covering_set(instance: Interval, of: set[Interval]) -> list[Interval]:
    """Definition 2: the parent's intervals between the two ends, oldest first."""
    begin, end = instance
    return sorted((u, v) for u, v in of if begin <= u and v <= end)


def is_covered(child: Window, parent: Window) -> bool:
    """Definition 1, word by word, with range1 ≥ range2 for the special case of equal windows."""
    instances, of = one_period(child, parent)
    return child.range >= parent.range and all(
        (begin, begin + parent.range) in of and (end - parent.range, end) in of
        for begin, end in instances
    )


def union(pieces: list[Interval]) -> set[int]:
    return {instant for begin, end in pieces for instant in range(begin, end)}


def disjoint(pieces: list[Interval]) -> bool:
    return sum(end - begin for begin, end in pieces) == len(union(pieces))


def test_covered_by_is_definition_1() -> None:
    verdicts = [(covered_by(*pair), is_covered(*pair), pair) for pair in PAIRS]
    wrong = [pair for ours, brute, pair in verdicts if ours != brute]
    assert not wrong
    assert sum(ours for ours, _, _ in verdicts) > 1_500, "too few pairs are related to prove much"


def test_covering_sets_are_definitions_2_to_5_and_their_size_is_theorem_3() -> None:
    partitions = 0
    for child, parent in PAIRS:
        if not covered_by(child, parent):
            assert covering_pieces(child, parent, disjoint=False) is None
            assert not partitioned_by(child, parent)
            continue
        instances, of = one_period(child, parent)
        pieces = covering_pieces(child, parent, disjoint=False)
        assert pieces is not None
        for begin, end in instances:
            between = covering_set((begin, end), of)
            assert union(between) == set(range(begin, end))  # Definition 3
            assert len(between) == multiplier(child, parent) == pieces.count  # Theorem 3
            assert [u - begin for u, _ in between] == list(pieces.offsets())
            assert disjoint(between) == partitioned_by(child, parent)  # Definitions 4 and 5
        partitions += partitioned_by(child, parent)
        expected = pieces if partitioned_by(child, parent) else None
        assert covering_pieces(child, parent, disjoint=True) == expected
    assert partitions > 500


def fewest_by_search(child: Window, parent: Window, apart: bool) -> float:
    """The least number of parent instances, at the same offsets for every child instance.

    Over positions t: the fewest pieces whose union is [0, t), by dynamic programming.
    """
    period = lcm(child.slide, parent.slide)
    begins = {b for b, _ in intervals(parent, 0, 2 * period + child.range)}
    usable = [
        offset
        for offset in range(child.range - parent.range + 1)
        if all(b + offset in begins for b, _ in intervals(child, 0, period))
    ]
    best = {0: 0.0}
    for offset in usable:
        end = offset + parent.range
        earlier = [offset] if apart else range(offset, end)
        best[end] = min([best.get(end, inf)] + [best.get(t, inf) + 1 for t in earlier])
    return best.get(child.range, inf)


@pytest.mark.parametrize("apart", [True, False], ids=["disjoint", "overlapping"])
def test_fewest_pieces_cover_and_none_fewer_do(apart: bool) -> None:
    found = 0
    for child, parent in PAIRS:
        pieces = fewest_pieces(child, parent, disjoint=apart)
        assert (pieces.count if pieces else inf) == fewest_by_search(child, parent, apart)
        if pieces is None:
            continue
        found += 1
        instances, of = one_period(child, parent)
        for begin, end in instances:
            taken = [(begin + d, begin + d + parent.range) for d in pieces.offsets()]
            assert set(taken) <= of
            assert union(taken) == set(range(begin, end))
            assert not apart or disjoint(taken)
    assert found > 1_000


@given(windows())
def test_theorem_2_reflexive(window: Window) -> None:
    assert covered_by(window, window)
    assert multiplier(window, window) == 1


def test_theorem_2_antisymmetric() -> None:
    both = [(a, b) for a, b in PAIRS if covered_by(a, b) and covered_by(b, a)]
    assert all(child == parent for child, parent in both)
    assert {child for child, _ in both} >= set(all_windows(7)), "each covers itself"


def test_theorem_2_transitive() -> None:
    chains = 0
    small = all_windows(6)
    above = {w: [p for p in small if covered_by(w, p)] for w in small}
    for child, parents in above.items():
        for parent in parents:
            for grandparent in above[parent]:
                assert covered_by(child, grandparent)
                chains += 1
    assert chains > 1_000


def test_example_2_covered_but_not_partitioned() -> None:
    assert covered_by(Window(10, 2), Window(8, 2))
    assert multiplier(Window(10, 2), Window(8, 2)) == 2
    assert not partitioned_by(Window(10, 2), Window(8, 2))  # Example 5


def test_example_6_multipliers() -> None:
    ten, twenty, thirty, forty = (Window(n, n) for n in (10, 20, 30, 40))
    edges = [(twenty, ten), (thirty, ten), (forty, ten), (forty, twenty)]
    assert [multiplier(child, parent) for child, parent in edges] == [2, 3, 4, 2]


class TestWhereThePaperIsWrongOrSilent:
    """Counterexamples of DESIGN section 6."""

    def test_theorem_1_needs_the_longer_range_in_the_child(self) -> None:
        # Both conditions of the text hold: 2 divides 2, and 4 - 8 is a multiple of 2.
        assert not covered_by(Window(4, 2), Window(8, 2))
        assert not is_covered(Window(4, 2), Window(8, 2))

    def test_equal_ranges_with_a_dividing_slide_are_one_piece_for_every_aggregate(self) -> None:
        child, parent = Window(6, 4), Window(6, 2)
        assert partitioned_by(child, parent)  # Theorem 4 wants a tumbling parent
        for apart in (True, False):
            pieces = fewest_pieces(child, parent, disjoint=apart)
            assert pieces is not None
            assert list(pieces.offsets()) == [0]
            assert covering_pieces(child, parent, disjoint=apart) is not None

    def test_offsets_must_differ_by_a_multiple_of_the_parents_slide(self) -> None:
        assert covered_by(Window(12, 4, 2), Window(4, 2))
        assert not covered_by(Window(12, 4, 1), Window(4, 2))
        assert covered_by(Window(12, 4, 3), Window(4, 2, 1))

    def test_a_day_takes_24_hours_not_1381_and_serves_sums(self) -> None:
        day, hour = Window(24 * 60, 1), Window(60, 1)
        assert multiplier(day, hour) == 1_381
        assert not partitioned_by(day, hour)
        for apart in (True, False):
            pieces = fewest_pieces(day, hour, disjoint=apart)
            assert pieces is not None
            assert pieces.count == 24

    def test_an_uneven_range_may_be_covered_by_an_uneven_parent(self) -> None:
        # r_f ≡ r_j (mod s_f) is what counts, not r_f % s_f = 0.
        assert covered_by(Window(9, 2), Window(5, 2))
        pieces = fewest_pieces(Window(9, 2), Window(5, 2), disjoint=False)
        assert pieces is not None
        assert list(pieces.offsets()) == [0, 4]
        assert fewest_pieces(Window(9, 2), Window(5, 2), disjoint=True) is None

    def test_three_times_the_range_is_no_tiling_if_the_slide_does_not_divide_the_range(
        self,
    ) -> None:
        assert covered_by(Window(9, 2), Window(3, 2))
        assert fewest_pieces(Window(9, 2), Window(3, 2), disjoint=True) is None


def test_the_coverage_of_a_year_in_microseconds_is_as_small_as_any() -> None:
    second = 1_000_000
    year = Window(365 * 86_400 * second, second)
    pieces = fewest_pieces(year, Window(60 * second, second), disjoint=True)
    assert pieces is not None
    assert (pieces.count, len(pieces.progressions)) == (525_600, 1)


@given(windows(longest=20))
def test_every_is_each_offset_of_the_range(window: Window) -> None:
    assert list(every(window.range).offsets()) == list(range(window.range))
    assert every(window.range).count == window.range


def test_offsets_of_several_progressions() -> None:
    pieces = EdgePieces((Progression(0, 4, 3), Progression(9, 4, 1)))
    assert (list(pieces.offsets()), pieces.count) == ([0, 4, 8, 9], 4)
    assert all(b > a for a, b in pairwise(pieces.offsets()))


@pytest.mark.parametrize(("stride", "count"), [(0, 2), (-1, 2), (1, 0), (1, -3)])
def test_a_progression_goes_forward_and_has_a_piece(stride: int, count: int) -> None:
    with pytest.raises(PlanError, match="stride and a count of at least 1"):
        Progression(0, stride, count)


@pytest.mark.long
def test_a_hundred_thousand_random_pairs() -> None:
    for child, parent in random_pairs(100_000, seed=7):
        assert covered_by(child, parent) == is_covered(child, parent)
        for apart in (True, False):
            pieces = fewest_pieces(child, parent, disjoint=apart)
            count = pieces.count if pieces else inf
            assert count == fewest_by_search(child, parent, apart)

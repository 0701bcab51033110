"""Slices against explicit begins and ends, and the papers' figures."""

from itertools import pairwise
from math import gcd, lcm

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.errors import WindowError
from muntin.model.windows import Window
from muntin.plan.slicing import (
    Cut,
    Slices,
    cut_everywhere,
    pairs,
    panes,
    shared_pairs,
    shared_panes,
)
from muntin.plan.slicing.cuts import begins, ends
from muntin_testing.windows import intervals, window_sets, windows

cut_sets = st.lists(
    st.integers(1, 12).flatmap(
        lambda step: st.builds(Cut, st.just(step), st.integers(0, step - 1))
    ),
    min_size=1,
    max_size=5,
)


def edges(slices: Slices, first: int, last: int) -> list[int]:
    """Where slices begin in [first, last)."""
    return [t for t in range(first, last) if slices.start_of(t) == t]


def begins_and_ends(of: list[Window], first: int, last: int) -> list[int]:
    """Where instances begin and end in [first, last), from explicit intervals."""
    around = max(w.range for w in of)
    found = {t for w in of for interval in intervals(w, first - around, last) for t in interval}
    return sorted(t for t in found if first <= t < last)


def partials(window: Window, slices: Slices) -> set[int]:
    """How many slices one instance holds, for every instance of a period."""
    period = lcm(window.slide, *(cut.step for cut in slices.cuts))
    return {len(edges(slices, begin, end)) for begin, end in intervals(window, 0, period)}


class TestFiguresOfThePapers:
    """DESIGN section 6."""

    @pytest.mark.parametrize(
        ("window", "fragments"),
        [(Window(14, 8), [6, 2]), (Window(12, 9), [3, 6]), (Window(10, 6), [4, 2])],
        ids=str,
    )
    def test_pairs_are_the_remainder_then_the_rest(
        self, window: Window, fragments: list[int]
    ) -> None:
        found = edges(pairs(window), 0, window.slide + 1)
        assert [after - before for before, after in pairwise(found)] == fragments

    def test_two_pairs_compose(self) -> None:
        slices = shared_pairs([Window(12, 9), Window(10, 6)])
        assert edges(slices, 1, 19) == [3, 4, 6, 9, 10, 12, 16, 18]

    def test_two_queries_of_slides_2_and_4(self) -> None:
        first, second = Window(6, 2), Window(8, 4)
        slices = shared_pairs([first, second])
        assert edges(slices, 1, 5) == [2, 4]  # composite slide 4
        assert (partials(first, slices), partials(second, slices)) == ({3}, {4})

    @given(windows(longest=60))
    def test_partials_in_a_window(self, window: Window) -> None:
        r, s = window.range, window.slide
        assert partials(window, panes(window)) == {r // gcd(r, s)}
        assert partials(window, pairs(window)) == {r // s if r % s == 0 else 2 * (r // s) + 1}

    @given(windows(longest=60))
    def test_pairs_are_two_a_slide_or_one(self, window: Window) -> None:
        expected = 1 if window.range % window.slide == 0 else 2
        assert len(edges(pairs(window), 0, window.slide)) == expected


@given(windows())
def test_pairs_cut_where_instances_begin_and_end_and_nowhere_else(window: Window) -> None:
    assert edges(pairs(window), -30, 60) == begins_and_ends([window], -30, 60)


@given(window_sets())
def test_shared_pairs_cut_where_any_instance_begins_or_ends(windows: list[Window]) -> None:
    assert edges(shared_pairs(windows), -30, 60) == begins_and_ends(windows, -30, 60)


@given(window_sets())
def test_shared_panes_are_equal_and_serve_every_window(windows: list[Window]) -> None:
    slices = shared_panes(windows)
    step = gcd(*(n for w in windows for n in (w.range, w.slide, w.offset)))
    found = edges(slices, -30, 60)
    assert found == [t for t in range(-30, 60) if t % step == 0]
    assert set(begins_and_ends(windows, -30, 60)) <= set(found)


@given(windows())
def test_panes_serve_their_window(window: Window) -> None:
    found = edges(panes(window), -30, 60)
    assert set(begins_and_ends([window], -30, 60)) <= set(found)
    assert {b - a for a, b in pairwise(found)} == {gcd(window.range, window.slide)}


@given(cut_sets, st.integers(-50, 50))
def test_the_slice_of_an_instant_begins_at_the_latest_cut(cuts: list[Cut], instant: int) -> None:
    at = [
        t
        for t in range(instant - 12, instant + 1)
        if any((t - c.phase) % c.step == 0 for c in cuts)
    ]
    assert cut_everywhere(cuts).start_of(instant) == at[-1]
    assert Slices(tuple(cuts)).start_of(instant) == at[-1]


def lies_within(cut: Cut, other: Cut) -> bool:
    """Whether every instant of the class is one of the other."""
    return cut.step % other.step == 0 and (cut.phase - other.phase) % other.step == 0


@given(cut_sets)
def test_a_class_within_another_is_left_out_and_no_cut_is_lost(cuts: list[Cut]) -> None:
    slices = cut_everywhere(cuts)
    assert edges(slices, -40, 40) == edges(Slices(tuple(cuts)), -40, 40)
    assert not any(a != b and lies_within(b, a) for a in slices.cuts for b in slices.cuts)
    assert len(set(slices.cuts)) == len(slices.cuts)


@given(cut_sets, st.integers(1, 24).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n - 1))))
def test_cuts_at_is_true_exactly_where_all_instants_are_cuts(
    cuts: list[Cut], other: tuple[int, int]
) -> None:
    slices, asked = cut_everywhere(cuts), Cut(*other)
    period = lcm(asked.step, *(c.step for c in cuts))
    every = range(asked.phase, asked.phase + period, asked.step)
    assert slices.cuts_at(asked) == all(slices.start_of(t) == t for t in every)


def test_several_classes_may_cut_a_class_together() -> None:
    # 2ℤ is neither 4ℤ nor 2 mod 4, but it is both together.
    slices = Slices((Cut(4, 0), Cut(4, 2)))
    assert slices.cuts_at(Cut(2, 0))
    assert not slices.cuts_at(Cut(2, 1))
    thirds = [Cut(3, phase) for phase in range(3)]  # none contains 2ℤ, and they just suffice
    assert Slices(tuple(thirds)).cuts_at(Cut(2, 0))
    assert not Slices(tuple(thirds[1:])).cuts_at(Cut(2, 0))


def test_cuts_at_never_walks_an_astronomical_period() -> None:
    slices = Slices(tuple(Cut(p, 1) for p in (10_007, 10_009, 10_037, 10_039)))
    assert not slices.cuts_at(Cut(10_061, 0))
    assert slices.cuts_at(Cut(10_007 * 2, 1))


@given(windows())
def test_begins_and_ends_are_classes_of_the_slide(window: Window) -> None:
    for begin, end in intervals(window, -40, 40):
        assert (begin - begins(window).phase) % begins(window).step == 0
        assert (end - ends(window).phase) % ends(window).step == 0


@pytest.mark.parametrize(("step", "phase"), [(0, 0), (-4, 0), (4, 4), (4, -1)])
def test_a_cut_is_checked(step: int, phase: int) -> None:
    with pytest.raises(WindowError, match="a cut needs 0 ≤ phase < step"):
        Cut(step, phase)


def test_the_kind_is_only_a_label() -> None:
    assert panes(Window(10, 5)) == shared_panes([Window(10, 5)])
    assert (panes(Window(10, 5)).kind, pairs(Window(10, 4)).kind) == ("panes", "pairs")


def test_slices_in_words() -> None:
    assert str(shared_pairs([Window(12, 9), Window(10, 6)])) == "6ℤ ∪ 4 mod 6 ∪ 9ℤ ∪ 3 mod 9"


def test_slices_without_a_cut_are_refused() -> None:
    with pytest.raises(WindowError, match="slices need at least one cut"):
        shared_pairs([])
    with pytest.raises(WindowError, match="a cut needs"):
        shared_panes([])

"""Edge rates by bit set, F1 with and without its 2ⁿ terms, and counting by hand."""

from fractions import Fraction
from math import lcm
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.model.windows import Window
from muntin.plan.slicing import (
    Cut,
    Slices,
    cut_everywhere,
    edge_rate,
    pairs,
    shared_pairs,
    shared_panes,
    weavability,
)
from muntin.plan.slicing.cuts import coarsest
from muntin.plan.slicing.edges import (
    DIGITS,
    TooManyTerms,
    by_bit_set,
    by_inclusion_exclusion,
    by_pairs,
    by_residues,
    by_sampling,
    edge_work,
    forget,
)
from muntin_testing.windows import random_window, window_sets


def counted(slices: Slices) -> Fraction:
    """Edges in one common period, one instant after the other."""
    period = lcm(*(cut.step for cut in slices.cuts))
    return Fraction(sum(slices.start_of(t) == t for t in range(period)), period)


@pytest.mark.parametrize(
    ("windows", "rate"),
    [
        ([Window(12, 9)], Fraction(2, 9)),
        ([Window(10, 6)], Fraction(2, 6)),
        ([Window(12, 9), Window(10, 6)], Fraction(8, 18)),
        ([Window(6, 2), Window(8, 4)], Fraction(2, 4)),
        ([Window(14, 8)], Fraction(2, 8)),
    ],
    ids=str,
)
def test_rates_of_the_papers(windows: list[Window], rate: Fraction) -> None:
    assert edge_rate(shared_pairs(windows)) == rate


@given(window_sets(most=6))
def test_all_ways_agree(windows: list[Window]) -> None:
    slices = shared_pairs(windows)
    rates = {
        edge_rate(slices),
        by_bit_set(slices.cuts),
        by_inclusion_exclusion(slices.cuts),
        by_residues(slices.cuts),
        counted(slices),
    }
    assert len(rates) == 1


@given(
    st.lists(
        st.integers(1, 20).flatmap(
            lambda step: st.builds(Cut, st.just(step), st.integers(0, step - 1))
        ),
        min_size=1,
        max_size=7,
    )
)
def test_all_ways_agree_on_any_classes_even_repeated_ones(cuts: list[Cut]) -> None:
    ways = (by_bit_set, by_inclusion_exclusion, by_residues)
    assert {way(cuts) for way in ways} == {edge_rate(Slices(tuple(cuts)))}


@given(window_sets(most=4, longest=12), st.integers(0, 1_000), st.sampled_from([1, 7, 60_000_000]))
def test_a_rate_scales_with_the_unit_and_ignores_a_common_shift(
    windows: list[Window], shift: int, unit: int
) -> None:
    slices = shared_pairs(windows)
    moved = cut_everywhere(
        Cut(c.step * unit, (c.phase * unit + shift) % (c.step * unit)) for c in slices.cuts
    )
    assert edge_rate(moved) * unit == edge_rate(slices)


def test_long_periods_are_counted_without_being_written_out() -> None:
    # Slides of pairwise coprime lengths: the period is about 10²⁴.
    slides = [10_007, 10_009, 10_037, 10_039, 10_061, 10_067]
    rate = edge_rate(cut_everywhere(Cut(s, 0) for s in slides))
    uncut = Fraction(1)
    for s in slides:
        uncut *= 1 - Fraction(1, s)
    assert rate == 1 - uncut


def test_a_rate_is_never_below_one_of_its_windows_nor_above_their_sum() -> None:
    random = Random(3)
    for _ in range(300):
        windows = [random_window(random) for _ in range(3)]
        apart = [edge_rate(pairs(w)) for w in windows]
        together = edge_rate(shared_pairs(windows))
        assert max(apart) <= together <= sum(apart)
        assert together <= edge_rate(shared_panes(windows))


def test_hundreds_of_windows_in_microseconds() -> None:
    minute = 60_000_000
    small, large = (
        shared_pairs([random_window(random, unit) for _ in range(400)])
        for random, unit in ((Random(11), 1), (Random(11), minute))
    )
    assert edge_rate(large) == counted(small) / minute


@pytest.mark.parametrize("count", [20, 32])
def test_windows_with_a_long_common_period_take_little_time(count: int) -> None:
    # Slides from 1 to 97 minutes with offsets: too long for the bit set.
    random = Random(13)
    slides = [random.randrange(1, 98) for _ in range(count)]
    windows = [Window(s * random.randrange(1, 5), s, random.randrange(s)) for s in slides]
    slices = shared_pairs(windows)
    assert lcm(*(c.step for c in slices.cuts)) > 4_000_000
    rate = edge_rate(slices)
    sample = [random.randrange(10**12) for _ in range(20_000)]
    seen = sum(slices.start_of(t) == t for t in sample) / len(sample)
    assert abs(seen - rate) < 0.02


@given(
    st.lists(st.sampled_from([d for d in range(1, 5_041) if 5_040 % d == 0]), min_size=1),
    st.integers(0, 10_000),
)
def test_slides_from_the_factors_of_a_number(slides: list[int], shift: int) -> None:
    cuts = [Cut(s, shift % s) for s in slides]
    assert by_residues(cuts) == by_bit_set(cuts)


def test_related_slides_do_not_enumerate_all_their_subsets() -> None:
    # 239 factors: inclusion and exclusion over a hundred of them could have 2¹⁰⁰ terms.
    factors = [d for d in range(20, 720_721) if 720_720 % d == 0]
    cuts = [Cut(d, 0) for d in Random(5).sample(factors, 100)]
    assert by_residues(cuts, limit=2_000) == by_bit_set(cuts)


def test_unrelated_slides_with_offsets_are_estimated_rather_than_waited_for() -> None:
    random = Random(2)
    steps = [random.randrange(40, 400) for _ in range(150)]
    cuts = [Cut(s, random.randrange(s)) for s in steps]
    with pytest.raises(TooManyTerms):
        by_residues(cuts, limit=50)
    rate = edge_rate(cut_everywhere(cuts))
    instants = [random.randrange(10**15) for _ in range(15_000)]
    slices = cut_everywhere(cuts)
    seen = sum(slices.start_of(t) == t for t in instants) / len(instants)
    assert abs(seen - rate) < 0.025


@given(window_sets(most=6))
def test_an_estimate_is_near_the_rate(windows: list[Window]) -> None:
    cuts = shared_pairs(windows).cuts
    assert abs(by_sampling(cuts) / by_bit_set(cuts) - 1) < 0.12


@given(window_sets(least=2, most=5))
def test_weavability_is_common_edges_over_all_edges(windows: list[Window]) -> None:
    sets = [pairs(w) for w in windows]
    period = lcm(*(w.slide for w in windows))
    marks = [sum(s.start_of(t) == t for s in sets) for t in range(period)]
    assert weavability(sets) == Fraction(sum(m > 1 for m in marks), sum(m > 0 for m in marks))


def test_equal_cuts_weave_perfectly_and_disjoint_ones_not_at_all() -> None:
    assert weavability([pairs(Window(6, 2)), pairs(Window(8, 2))]) == 1
    assert weavability([pairs(Window(6, 6)), pairs(Window(6, 6, 1))]) == 0


@given(window_sets(most=6))
def test_bounds_from_pairs_hold(windows: list[Window]) -> None:
    cuts = shared_pairs(windows).cuts
    least, most = by_pairs(cuts)
    assert least * (1 - 1e-9) <= by_bit_set(cuts) <= most * (1 + 1e-9)


def test_unrelated_windows_are_estimated_within_a_thousandth_from_pairs() -> None:
    random = Random(4)
    steps = [random.randrange(300, 2_000) for _ in range(12)]
    cuts = cut_everywhere(Cut(s, random.randrange(s)) for s in steps)
    estimate = edge_rate(cuts, limit=1)
    assert estimate == pytest.approx(float(by_residues(cuts.cuts)), rel=1e-3)


def test_a_rate_and_its_steps_depend_on_the_cuts_alone() -> None:
    random = Random(8)
    steps = [random.randrange(2, 120) * 1_000_000 for _ in range(14)]
    cuts = [Cut(s, random.randrange(s)) for s in steps]
    slices = cut_everywhere(cuts)
    forget()
    cold = edge_rate(slices), edge_work(slices)
    forget()
    for part in range(3, 14):  # most of its sub-problems have been met before
        edge_rate(cut_everywhere(cuts[:part]))
    assert (edge_rate(slices), edge_work(slices)) == cold


def test_a_thousand_coprime_steps_have_a_rate_of_few_digits() -> None:
    primes = [n for n in range(3, 8_000, 2) if all(n % d for d in range(3, int(n**0.5) + 1, 2))]
    rate = by_residues([(p, 0) for p in primes[-900:]])
    uncut = 1.0
    for p in primes[-900:]:
        uncut *= 1 - 1 / p
    assert float(rate) == pytest.approx(1 - uncut)
    assert rate.denominator.bit_length() <= DIGITS


def test_a_step_beyond_every_sample_is_no_error() -> None:
    cuts = [Cut(2**62 - 1 - n, 0) for n in range(6)]
    assert float(by_sampling(cuts)) == pytest.approx(sum(1 / c.step for c in cuts))


@given(
    st.lists(
        st.integers(1, 30).flatmap(lambda step: st.tuples(st.just(step), st.integers(0, step - 1))),
        max_size=12,
    )
)
def test_the_coarsest_classes_lie_within_no_other(classes: list[tuple[int, int]]) -> None:
    kept = coarsest(classes)
    cuts = [Cut(*one) for one in set(classes)]
    inside = {c for c in cuts if any(o != c and Slices((o,)).cuts_at(c) for o in cuts)}
    assert kept == sorted(set(cuts) - inside)

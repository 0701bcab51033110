"""Ω: the equations by hand, their slips, and the better estimates against counted operations."""

from fractions import Fraction
from math import e, lcm, log2
from random import Random

import numpy as np
import pytest
from hypothesis import given

import muntin as mt
from muntin.cost.omega import (
    COUNTED,
    PAPER,
    Load,
    counted_omega,
    harmonic,
    instance_partials,
    load_of,
    mean_cover,
    omega_name,
    paper_omega,
)
from muntin.errors import StrategyError
from muntin.incremental import TECHNIQUES, Counting, FlatFAT, FlatFIT, SlickDeque
from muntin.model.windows import Window
from muntin.plan.slicing import shared_pairs
from muntin_testing.windows import window_sets


def every_slide(*ranges: int) -> Load:
    """Windows answered at every edge, with as many partials as their ranges."""
    return load_of([Window(r, 1) for r in ranges])


def test_the_equations_by_hand() -> None:
    load = load_of([Window(6, 2), Window(8, 4)])  # Example 2: 3 and 4 partials of length 2
    assert list(map(int, load.partials)) == [3, 4]
    assert list(load.answered) == [Fraction(1), Fraction(1, 2)]
    assert paper_omega("panes", load) == 3 + 2
    assert paper_omega("flatfat", load) == (1 + 2 / 2) + (1 + 3 / 4)
    assert paper_omega("flatfit", load) == 6
    assert paper_omega("slick-deque", load, invertible=True) == 4
    factorials = 1 + 1 / 2 + 1 / 6 + 1 / 24
    assert paper_omega("slick-deque", load) == pytest.approx(2 - 2 / 4 + 2 + factorials)


def test_flatfat_at_one_partial_costs_nothing_instead_of_having_no_value() -> None:
    assert paper_omega("flatfat", every_slide(1)) == 0
    mixed = load_of([Window(3, 2), Window(2, 2)])  # 3·1 and 2·1 partials: pairs of length 1
    assert paper_omega("flatfat", mixed) == (1 + 2 / 2) + (0 + 1 / 2)
    between = Load((Window(3, 2),), shared_pairs([Window(2, 2)]))  # 1.5 partials
    assert paper_omega("flatfat", between) == 0.5


@pytest.mark.parametrize("p", [4, 64, 1024])
def test_flatfat_for_one_query_is_about_the_height_of_the_tree(p: int) -> None:
    assert log2(p) - 1 < paper_omega("flatfat", every_slide(p)) < log2(p)


def test_the_papers_deque_length_is_bounded_and_wrong() -> None:
    """Σ1/i! stays below e - 1; the mean number of suffix maxima of P random values is H_P."""
    long = every_slide(10_000)
    assert paper_omega("slick-deque", long) == pytest.approx(3 + e - 1, abs=1e-3)
    assert harmonic(10_000) > 9
    random = np.random.default_rng(3)
    maxima = [np.unique(np.maximum.accumulate(random.random(500))).size for _ in range(2000)]
    assert np.mean(maxima) == pytest.approx(harmonic(500), rel=0.03)


def test_omega_exists_for_five_techniques_only() -> None:
    assert set(PAPER) == set(COUNTED)
    assert len(PAPER) == 5
    has = {name for name in TECHNIQUES if name in PAPER or name == "slick-deque"}
    assert has == {"panes", "flatfat", "flatfit", "slick-deque"}
    for name in set(TECHNIQUES) - has:
        with pytest.raises(StrategyError, match="has no Ω"):
            omega_name(name, invertible=False)
        with pytest.raises(StrategyError, match="has no Ω"):
            counted_omega(name, every_slide(4))
    with pytest.raises(StrategyError, match="did you mean 'flatfat'"):
        paper_omega("flatfatt", every_slide(4))


@given(window_sets(1, 4))
def test_partials_of_instances_are_what_the_slices_say(windows: list[Window]) -> None:
    load = load_of(windows)
    period = lcm(*(w.slide for w in windows))
    edges = [t for t in range(-60, 3 * period + 60) if load.slices.start_of(t) == t]
    for window, counts in zip(windows, instance_partials(load), strict=True):
        starts = range(window.offset, period + window.offset, window.slide)
        expected = [sum(s <= t < s + window.range for t in edges) for s in starts]
        assert sorted(counts) == sorted(expected)


def test_pairs_have_fewer_partials_than_range_over_mean_length() -> None:
    load = load_of([Window(14, 8)])
    assert load.partials == (Fraction(7, 2),)
    assert instance_partials(load)[0].tolist() == [3]


@pytest.mark.parametrize("circle", [33, 48, 64])
@pytest.mark.parametrize("leaves", [1, 2, 3, 5, 8, 13, 21, 32])
def test_the_mean_cover_of_leaves_by_nodes(leaves: int, circle: int) -> None:
    tree = FlatFAT(mt.max("v"), ranges=[circle])
    sizes = [
        len(tree._cover(first, min(first + leaves, circle)))
        + len(tree._cover(0, max(0, first + leaves - circle)))
        for first in range(circle)
    ]
    assert np.mean(sizes) == pytest.approx(mean_cover(leaves, circle))


def counted(name: str, ranges: list[int]) -> float:
    """Operations per slide when every range is answered at every slide."""
    technique, aggregate = {
        "flatfat": (FlatFAT, mt.max("v")),
        "flatfit": (FlatFIT, mt.max("v")),
        "slick-deque-inv": (SlickDeque, mt.sum("v")),
        "slick-deque-non-inv": (SlickDeque, mt.max("v")),
    }[name]
    counting, random = Counting(aggregate), Random(len(ranges))
    window, slides = technique(counting, ranges=ranges), 3000
    for step in range(2 * max(ranges) + slides):
        if step == 2 * max(ranges):
            before = counting.operations + getattr(window, "steps", 0)
        window.slide(random.randrange(10**9))
        window.query_all()
    return (counting.operations + getattr(window, "steps", 0) - before) / slides


@pytest.mark.parametrize("ranges", [[64], [17, 64], [5, 12, 40, 63, 75], list(range(4, 65, 4))])
@pytest.mark.parametrize(
    ("name", "tolerance"),
    [("flatfat", 0.02), ("flatfit", 0.35), ("slick-deque-inv", 0), ("slick-deque-non-inv", 0.05)],
)
def test_the_better_estimate_is_close_to_the_count(
    name: str, tolerance: float, ranges: list[int]
) -> None:
    count, estimate = counted(name, ranges), counted_omega(name, every_slide(*ranges))
    assert estimate == pytest.approx(count, rel=tolerance)

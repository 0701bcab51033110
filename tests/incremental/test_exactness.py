"""Running aggregates: exact, or refused; approximate only when asked, and never poisoned."""

import decimal
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from math import isclose, isfinite, isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from muntin.errors import AggregateError
from muntin.incremental import PanesInv, SlickDeque, Technique
from muntin_testing.monoids import EXACT_NUMBERS, NAN, recomputed
from muntin_testing.reached import fewer

INVERTING = [PanesInv, SlickDeque, partial(SlickDeque, ranges=[2, 3])]
inverting = pytest.mark.parametrize("make", INVERTING, ids=["panes-inv", "slick", "slick ranges"])
INF = float("inf")


@inverting
@pytest.mark.parametrize("bad", [0.5, NAN, INF, np.float32(2), 1j, Decimal("NaN"), Decimal("Inf")])
def test_what_cannot_be_taken_out_exactly_is_refused_and_changes_nothing(
    make: Callable[..., Technique], bad: object
) -> None:
    window: Technique = make(mt.sum("v"))
    window.insert(3)
    with pytest.raises(AggregateError, match=r"not exact for .* or approximate=True"):
        window.insert(bad)
    assert (len(window), window.query()) == (1, 3)


@inverting
def test_a_count_of_floats_is_exact(make: Callable[..., Technique]) -> None:
    window: Technique = make(mt.count("v"))
    for value in (0.5, NAN, None, INF):
        window.insert(value)
    window.evict()
    assert window.query() == 2


@inverting
@pytest.mark.parametrize("kind", EXACT_NUMBERS)
@fewer
@given(data=st.data())
def test_exact_numbers_are_taken_out_without_loss(
    make: Callable[..., Technique], kind: str, data: st.DataObject
) -> None:
    values = data.draw(st.lists(EXACT_NUMBERS[kind], max_size=12))
    window: Technique = make(mt.sum("v"))
    for i, value in enumerate(values):
        window.insert(value)
        if i >= 4:
            window.evict()
        held = values[: i + 1][-min(i + 1, 4) if i >= 4 else -(i + 1) :]
        assert window.query() == recomputed(window.monoid, held)
        assert all(window.query(r) == recomputed(window.monoid, held[-r:]) for r in window.ranges)


@inverting
def test_decimals_that_would_be_rounded_are_refused(make: Callable[..., Technique]) -> None:
    window: Technique = make(mt.sum("v"))
    window.insert(Decimal("1e28"))
    with pytest.raises(
        AggregateError, match=r"needs more than 28 digits: raise decimal\.getcontext"
    ):
        window.insert(Decimal("0.1"))
    assert (len(window), window.query()) == (1, Decimal("1e28"))
    with decimal.localcontext() as context:
        context.prec = 38
        window.insert(Decimal("0.1"))
        window.evict()
        assert window.query() == Decimal("0.1")


@inverting
def test_an_evict_that_would_round_is_refused_and_changes_nothing(
    make: Callable[..., Technique],
) -> None:
    window: Technique = make(mt.sum("v"))
    window.insert(Decimal("-1e28"))
    window.insert(Decimal("1e28"))
    if window.ranges:  # a range of two has to round when the third value comes
        with pytest.raises(AggregateError, match="more than 28 digits"):
            window.insert(Decimal("0.1"))
        assert (len(window), window.query()) == (2, 0)
    else:
        window.insert(Decimal("0.1"))
        with pytest.raises(AggregateError, match="more than 28 digits"):
            window.evict()
        assert (len(window), window.query()) == (3, Decimal("0.1"))


@inverting
@pytest.mark.parametrize("poison", [NAN, INF, -INF])
def test_approximate_is_never_poisoned(make: Callable[..., Technique], poison: float) -> None:
    window: Technique = make(mt.sum("v"), approximate=True)
    values = [1.5, poison, 2.5, poison, -poison, 0.25, 1.0, 2.0, 4.0]
    for i, value in enumerate(values):
        window.insert(value)
        if i >= 3:
            window.evict()
    assert isclose(window.query(), 7.0)
    assert all(isclose(window.query(r), sum(values[-r:])) for r in window.ranges)


@inverting
def test_approximate_recovers_from_an_overflow(make: Callable[..., Technique]) -> None:
    window: Technique = make(mt.sum("v"), approximate=True)
    for value in (1e308, 1e308, 1.0):
        window.insert(value)
    assert window.query() == INF
    window.evict()
    assert isfinite(window.query())


@inverting
def test_nan_shows_while_it_is_in_the_window(make: Callable[..., Technique]) -> None:
    window: Technique = make(mt.avg("v"), approximate=True)
    window.insert(NAN)
    window.insert(1.0)
    assert isnan(window.query())
    window.evict()
    assert window.query() == 1.0
    window.evict()
    assert window.query() is None


def test_fractions_and_integers_mix() -> None:
    window = SlickDeque(mt.sum("v"))
    window.insert(1)
    window.insert(Fraction(1, 3))
    window.evict()
    assert window.query() == Fraction(1, 3)

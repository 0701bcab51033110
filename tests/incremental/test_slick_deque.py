"""SlickDeque: the worst inputs, ties, nulls and NaN; which variant is taken."""

import copy
import pickle
from typing import Any

import pytest

import muntin as mt
from muntin.errors import AggregateError
from muntin.incremental import Counting, SlickDeque
from muntin.incremental.slick_deque import SlickDequeInv, SlickDequeNonInv
from muntin_testing.monoids import NAN, ArgMin, Earliest

N = 64


def slid(window: SlickDeque, values: list[Any]) -> list[object]:
    answers = []
    for value in values:
        window.slide(value)
        answers.append(window.query())
    return answers


def held(window: SlickDeque) -> Any:
    """The deque of the variant for what cannot be inverted."""
    assert isinstance(window, SlickDequeNonInv)
    return window._kept


def test_the_aggregate_decides_the_variant() -> None:
    assert type(SlickDeque(mt.sum("v"))) is SlickDequeInv
    assert type(SlickDeque(mt.max("v"))) is SlickDequeNonInv
    assert isinstance(SlickDeque(mt.max("v")), SlickDeque)
    with pytest.raises(AggregateError, match=r"neither invertible .* nor selective .* FlatFIT"):
        SlickDeque(mt.var_pop("v"))


def test_falling_input_keeps_everything_and_a_peak_drops_it_at_once() -> None:
    counting = Counting(mt.max("v"))
    window = SlickDeque(counting, ranges=[N])
    falling = [float(-i) for i in range(2 * N)]
    assert slid(window, falling) == [float(-max(0, i - N + 1)) for i in range(2 * N)]
    assert len(held(window)) == N
    before = counting.operations
    assert slid(window, [1.0]) == [1.0]
    assert counting.operations - before == N - 1  # the oldest left, all the others lost
    assert len(held(window)) == 1


def test_rising_input_keeps_one() -> None:
    window = SlickDeque(mt.max("v"), ranges=[N])
    assert slid(window, [float(i) for i in range(3 * N)]) == [float(i) for i in range(3 * N)]
    assert len(held(window)) == 1


def test_equal_values_answer_with_the_oldest() -> None:
    ones = [float(f"1.{'0' * i}") for i in range(3 * N)]  # equal, yet different objects
    window = SlickDeque(mt.max("v"), ranges=[N])
    for i, answer in enumerate(slid(window, ones)):
        assert answer is ones[max(0, i - N + 1)]


def test_ties_of_argmin_go_to_the_older_in_every_range() -> None:
    window = SlickDeque(ArgMin(), ranges=[2, 3, 4])
    for pair in [(1, "a"), (1, "b"), (2, "c"), (1, "d")]:
        window.insert(pair)
    assert window.query() == (1, "a")
    assert window.query_all() == {4: (1, "a"), 3: (1, "b"), 2: (1, "d")}


def test_minus_zero_and_zero_are_a_tie() -> None:
    window = SlickDeque(mt.max("v"), ranges=[1, 2])
    window.insert(-0.0)
    window.insert(0.0)
    assert [str(v) for v in window.query_all().values()] == ["-0.0", "0.0"]


def test_nulls_and_nan() -> None:
    window = SlickDeque(mt.max("v"), ranges=[3])
    assert window.query_all() == {3: None}
    window.slide(None)
    assert window.query() is None
    assert str(slid(window, [NAN, 5.0, None, None, None, None])) == str(
        [NAN, NAN, NAN, 5.0, None, None]
    )
    smallest = SlickDeque(mt.min("v"), ranges=[2])
    assert str(slid(smallest, [NAN, 5.0, NAN, NAN, 4.0])) == str([NAN, 5.0, 5.0, NAN, 4.0])


def test_one_traversal_answers_all_ranges() -> None:
    window = SlickDeque(Earliest(), ranges=range(1, N + 1))
    for i in range(N):
        window.insert(i)
    assert window.query_all() == {r: N - r for r in range(N, 0, -1)}
    assert isinstance(window, SlickDequeNonInv)
    assert window.steps == N + (N - 1)  # each range looked at once, each entry passed once


@pytest.mark.parametrize("aggregate", [mt.max("v"), mt.sum("v")], ids=repr)
def test_a_window_can_be_copied_and_pickled(aggregate: mt.Aggregate) -> None:
    window = SlickDeque(aggregate, ranges=[2, 4])
    for value in (3, 1, 2):
        window.insert(value)
    for twin in copy.deepcopy(window), pickle.loads(pickle.dumps(window)):
        twin.insert(1)
        assert (twin.query(), len(twin), len(window)) == (window.query() + (twin.query() > 3), 4, 3)

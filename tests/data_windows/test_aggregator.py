"""Slices begin only where windows begin, and no more are kept than windows are open."""

from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.data_windows import Aggregator
from muntin.data_windows.aggregator import CUTS
from muntin.data_windows.store import STORES
from muntin.errors import StrategyError
from muntin_testing.monoids import Concat

STEPS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=60)
"""For each record: how many windows of a function end before it and begin with it."""


def letters(count: int) -> str:
    return "".join(chr(97 + i % 26) for i in range(count))


@given(STEPS, st.sampled_from(sorted(STORES)), st.sampled_from(CUTS))
def test_one_function_keeps_no_more_slices_than_windows(
    steps: list[tuple[int, int]], store: str, cut: str
) -> None:
    aggregator, open_windows = Aggregator(Concat(), store, cut), deque[int]()
    text, appended = letters(len(steps)), 0
    for i, (ends, begins) in enumerate(steps):
        leaving = [open_windows.popleft() for _ in range(min(ends, len(open_windows)))]
        assert aggregator.end(leaving) == [text[w // 4 : i] for w in leaving]
        entering = [4 * i + k for k in range(begins)]
        aggregator.begin(entering)
        open_windows += entering
        aggregator.fold(text[i])
        appended += bool(begins)
        if cut == "begins":
            assert aggregator.partials <= len(open_windows)
            assert aggregator.partials <= appended
    assert aggregator.end(open_windows) == [text[w // 4 :] for w in open_windows]
    assert aggregator.partials == 0


SEVERAL = st.lists(
    st.tuples(*[st.tuples(st.integers(0, 1), st.integers(0, 1))] * 3), min_size=1, max_size=60
)


@given(SEVERAL, st.sampled_from(sorted(STORES)), st.booleans())
def test_several_functions_coalesce_what_no_open_window_begins(
    steps: list[tuple[tuple[int, int], ...]], store: str, coalesce: bool
) -> None:
    aggregator = Aggregator(Concat(), store, coalesce=coalesce)
    queues: list[deque[tuple[int, int]]] = [deque(), deque(), deque()]
    text, number = letters(len(steps)), 0
    for i, marks in enumerate(steps):
        leaving = [q.popleft() for q, (ends, _) in zip(queues, marks, strict=True) if ends and q]
        assert aggregator.end(w for w, _ in leaving) == [text[begun:i] for _, begun in leaving]
        entering = []
        for q, (_, begins) in zip(queues, marks, strict=True):
            if begins:
                q.append((number, i))
                entering.append(number)
                number += 1
        aggregator.begin(entering)
        aggregator.fold(text[i])
        if coalesce:
            assert aggregator.partials <= len({begun for q in queues for _, begun in q})


def test_without_coalescing_a_long_window_keeps_every_slice_after_it() -> None:
    kept = {}
    for coalesce in (False, True):
        aggregator = Aggregator(Concat(), "eager", coalesce=coalesce)
        aggregator.begin([0])
        for i in range(1, 200):
            aggregator.fold("x")
            aggregator.begin([i])
            aggregator.fold("y")
            aggregator.end([i])
        kept[coalesce] = aggregator.partials
        assert aggregator.end([0]) == ["xy" * 199]
    assert kept[False] > 190
    assert kept[True] <= 2


def test_the_store_doubles_and_halves() -> None:
    aggregator = Aggregator(Concat(), "eager")
    for i in range(100):
        aggregator.begin([i])
        aggregator.fold("a")
    most = aggregator.store.space
    for i in range(95):
        aggregator.end([i])
    assert (most, aggregator.store.space < most // 8) == (255, True)
    assert aggregator.end(range(95, 100)) == ["aaaaa", "aaaa", "aaa", "aa", "a"]


@pytest.mark.parametrize(("option", "value"), [("store", "lasy"), ("cut", "begin")])
def test_an_unknown_option_is_refused_with_the_closest(option: str, value: str) -> None:
    with pytest.raises(StrategyError, match="did you mean"):
        Aggregator(Concat(), **{option: value})  # type: ignore[arg-type]  # either takes a text

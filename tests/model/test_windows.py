"""Windows: validation, identity, and the instances of an instant by brute force."""

import pickle
from dataclasses import FrozenInstanceError, replace
from datetime import timedelta
from math import gcd

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.errors import WindowError
from muntin.model.windows import Window, common_unit, hopping, parse_window, tumbling
from muntin_testing.windows import intervals, starts, windows

MINUTE = 60_000_000


@given(windows(), st.integers(-200, 200))
def test_instances_of_an_instant_are_those_that_contain_it(window: Window, instant: int) -> None:
    around = intervals(window, instant - 100, instant + 100)
    expected = [begin for begin, end in around if begin <= instant < end]
    assert window.instances_of(instant) == expected


@given(windows(), st.integers(-10, 10))
def test_starts_at_agrees_with_the_definition(window: Window, turn: int) -> None:
    begins = set(starts(window, -300, 300))
    for instant in range(-60 + turn, 60 + turn):
        assert window.starts_at(instant) == (instant in begins)


def test_spark_rule_for_the_last_start() -> None:
    # start = ts − ((ts − offset) mod slide, made non-negative): DESIGN section 4
    assert Window(10, 4, 3).instances_of(-1) == [-9, -5, -1]
    assert Window(10, 4).instances_of(-1) == [-8, -4]


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        (tumbling("10 minutes"), "10 minutes"),
        (hopping("1 hour", "5 minutes"), "1 hour/5 minutes"),
        (hopping("1 hour", "5 minutes", offset="2 minutes"), "1 hour/5 minutes@2 minutes"),
        (hopping("60 minutes", "300 seconds", "-3 minutes"), "1 hour/5 minutes@2 minutes"),
        (tumbling("24 hours"), "1 day"),
        (tumbling(timedelta(days=7)), "1 week"),
        (tumbling("90 seconds"), "90 seconds"),
        (tumbling("1 day", offset="6 hours", id="mine"), "mine"),
    ],
)
def test_default_ids_are_in_the_largest_whole_units(window: Window, expected: str) -> None:
    assert window.id == expected


def test_the_id_is_only_a_label() -> None:
    one, two = tumbling("10 minutes", id="one"), tumbling("600 seconds", id="two")
    assert one == two
    assert len({one, two}) == 1
    assert tumbling("10 minutes", offset="-1 minute") == tumbling("10 minutes", offset="9 minutes")
    assert tumbling("10 minutes") != hopping("10 minutes", "5 minutes")
    assert tumbling("10 minutes") != tumbling("10 minutes", offset="1 minute")


def test_a_window_is_a_value() -> None:
    window = hopping("1 hour", "5 minutes", "1 minute", id="w")
    with pytest.raises(FrozenInstanceError):
        window.range = 5  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(window)) == window
    assert replace(window, id="other") == window
    assert replace(window, id="other").id == "other"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 1), r"range 0 must be positive"),
        (("-1 minute", "1 minute"), r"range '-1 minute' must be positive"),
        ((10, 0), r"slide 0 must be positive"),
        ((10, -5), r"slide -5 must be positive"),
        (("5 minutes", "10 minutes"), r"slide '10 minutes' is longer than range '5 minutes'.*most"),
        ((10, 5, 5), r"offset 5 must be shorter than slide 5"),
        ((10, 5, -5), r"offset -5 must be shorter than slide 5"),
        (("1 hour", "10 minutes", "12 minutes"), r"'2 minutes' gives the same instances"),
        (("1 month", "1 day"), r"range '1 month' uses month, whose length varies"),
        (("1 day", "1 month"), r"slide '1 month' uses month"),
        (("1 day", "1 day", "1 month"), r"offset '1 month' uses month"),
        ((True, 1), r"range True is a boolean"),
        ((10, 5, 0, ""), r"window id '' must be a non-empty text"),
        ((10, 5, 0, 7), r"window id 7 must be a non-empty text"),
    ],
)
def test_bad_windows_name_the_value_and_the_remedy(
    arguments: tuple[object, ...], message: str
) -> None:
    with pytest.raises(WindowError, match=message):
        Window(*arguments)  # type: ignore[arg-type]


@given(windows())
def test_a_default_id_reads_back_as_its_window(window: Window) -> None:
    assert parse_window(window.id) == window
    named = parse_window(f"my id = {window.id}")
    assert (named, named.id) == (window, "my id")


@pytest.mark.parametrize("text", ["", "=", "@1 minute", "/5 minutes", "five", "5 minutes/"])
def test_parsing_refuses_what_is_no_window(text: str) -> None:
    if text == "5 minutes/":  # an empty slide is the range: forgiving, and pinned here
        assert parse_window(text) == tumbling("5 minutes")
        return
    with pytest.raises(WindowError, match="cannot be read"):
        parse_window(text)


@given(st.lists(windows(), min_size=1, max_size=4))
def test_common_unit_divides_everything_and_is_largest(given: list[Window]) -> None:
    unit = common_unit(tuple(given))
    numbers = [n for w in given for n in (w.range, w.slide, w.offset)]
    assert all(n % unit == 0 for n in numbers)
    assert gcd(*(n // unit for n in numbers)) == 1


def test_overlap_and_tumbling() -> None:
    assert (Window(12, 4).overlap, Window(12, 4).tumbling) == (3.0, False)
    assert (Window(4, 4, 1).overlap, Window(4, 4, 1).tumbling) == (1.0, True)
    assert str(Window(10, 2)) == "W(10, 2)"
    assert str(Window(10, 2, 1)) == "W(10, 2, 1)"

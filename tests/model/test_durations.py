"""Durations: what is read, what is refused and with which remedy."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from muntin.errors import MuntinError, WindowError, shown
from muntin.model.durations import (
    ABBREVIATIONS,
    LONGEST,
    UNITS,
    Duration,
    duration_text,
    microseconds,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10 minutes", 600_000_000),
        ("1 minute", 60_000_000),
        ("INTERVAL 2 Hours", 7_200_000_000),
        ("  interval   1 day  ", 86_400_000_000),
        ("1 hour 30 minutes", 5_400_000_000),
        ("1 week -1 day", 518_400_000_000),
        ("1.5 seconds", 1_500_000),
        ("0.000001 seconds", 1),
        ("250 milliseconds", 250_000),
        ("3 microseconds", 3),
        ("-5 minutes", -300_000_000),
        ("+5 minutes", 300_000_000),
        ("1day", 86_400_000_000),
        ("0 seconds", 0),
    ],
)
def test_text_is_read_as_spark_reads_it(text: str, expected: int) -> None:
    assert microseconds(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5min", "5 minutes"),
        ("5m", "5 minutes"),
        ("10 mins", "10 minutes"),
        ("1h", "1 hour"),
        ("1H", "1 hour"),
        ("2hrs", "2 hours"),
        ("30s", "30 seconds"),
        ("90 sec", "90 seconds"),
        ("90 secs", "90 seconds"),
        ("1d", "1 day"),
        ("1w", "1 week"),
        ("2 wks", "2 weeks"),
        ("500ms", "500 milliseconds"),
        ("500 millis", "500 milliseconds"),
        ("7us", "7 microseconds"),
        ("7 µs", "7 microseconds"),  # the micro sign
        ("7 μs", "7 microseconds"),  # the Greek letter
        ("1h30m", "1 hour 30 minutes"),
        ("1d 2h 3min 4s", "1 day 2 hours 3 minutes 4 seconds"),
        ("1.5h", "90 minutes"),
        (".5h", "30 minutes"),
        ("interval 1h", "1 hour"),
        ("-5min", "-5 minutes"),
    ],
)
def test_short_text_is_read_as_people_type_it(text: str, expected: str) -> None:
    assert microseconds(text) == microseconds(expected)


def test_every_unit_has_a_short_form_and_a_plural() -> None:
    assert set(ABBREVIATIONS) == set(UNITS)
    for unit, words in ABBREVIATIONS.items():
        for word in (unit, *words):
            forms = (word, f"{word}s") if len(word) > 1 else (word,)  # not "ms" of "m"
            read = {microseconds(f"2{gap}{form}") for gap in ("", " ") for form in forms}
            assert read == {2 * UNITS[unit]}, word


@pytest.mark.parametrize(
    ("delta", "expected"),
    [
        (timedelta(days=1, microseconds=1), 86_400_000_001),
        (timedelta(microseconds=-1), -1),
        (pd.Timedelta("1 day 1 us"), 86_400_000_001),
        (pd.Timedelta(-1, "us"), -1),
        (pd.Timedelta(2000, "ns"), 2),
        (np.timedelta64(5, "m"), 300_000_000),
        (np.timedelta64(-3, "us"), -3),
        (np.timedelta64(4000, "ns"), 4),
        (np.timedelta64(2, "W"), 2 * UNITS["week"]),
        (np.array(3).astype("m8[25s]")[()], 75_000_000),
        (np.timedelta64(1, "D"), UNITS["day"]),
    ],
)
def test_deltas_are_exact(delta: Duration, expected: int) -> None:
    assert microseconds(delta) == expected


@pytest.mark.parametrize(
    ("delta", "message"),
    [
        (np.timedelta64(1, "M"), r"is in M, whose length varies: write np.timedelta64\(30, 'D'\)"),
        (np.timedelta64(1, "Y"), r"is in Y, whose length varies"),
        (np.timedelta64(5), "has no unit"),
        (np.timedelta64("NaT"), "is not a time"),
        (np.timedelta64("NaT", "s"), "is not a time"),
        (np.timedelta64(2**62, "D"), "longer than 1000 years"),
        (pd.NaT, "is a NaTType: write text"),
        (pd.Timedelta(1, "ns"), "not a whole number of microseconds"),
        (np.timedelta64(1500, "ns"), "not a whole number of microseconds"),
        (timedelta.max, "longer than 1000 years"),
        (timedelta.min, "longer than 1000 years"),
    ],
)
def test_deltas_without_a_length_are_refused(delta: Any, message: str) -> None:
    with pytest.raises(WindowError, match=message):
        microseconds(delta)


@pytest.mark.parametrize(
    "take",
    [
        lambda n: mt.tumbling(n),
        lambda n: mt.hopping(n, "1 minute"),
        lambda n: mt.hopping("1 hour", n),
        lambda n: mt.tumbling("1 hour", offset=n),
        lambda n: mt.session(n),
        lambda n: mt.session("1 hour", maximum=n),
        lambda n: mt.landmark("go", length=n),
        lambda n: mt.Control("here", grain=n),
        lambda n: microseconds(n, "watermark"),
    ],
)
@pytest.mark.parametrize("number", [3600, 3600.5, np.int64(3600), np.float64(3600)])
def test_bare_numbers_are_for_mt_window_alone(take: Callable[[Any], Any], number: Any) -> None:
    with pytest.raises(
        WindowError, match=r"has no unit: write '.*3600.* seconds'.*only mt\.Window"
    ):
        take(number)


def test_a_bare_number_is_units_in_mt_window() -> None:
    assert mt.Window(3600, 60).range == 3600
    assert mt.Window("1h", "5min") == mt.Window(np.timedelta64(1, "h"), timedelta(minutes=5))


@pytest.mark.parametrize(
    "text",
    ["1001 years 1 day", "100000000000000000000000 weeks", "9" * 900 + " weeks", "1000000d"],
)
def test_what_no_timestamp_leaves_room_for_is_refused(text: str) -> None:
    with pytest.raises(WindowError, match=r"longer than 1000 years|whose length varies") as error:
        microseconds(text, "range")
    assert len(str(error.value)) < 300
    assert microseconds("365250 days") == LONGEST
    with pytest.raises(WindowError, match="longer than 1000 years"):
        mt.Window(LONGEST + 1, 1)


@given(st.lists(st.tuples(st.integers(-10_000, 10_000), st.sampled_from(list(UNITS))), min_size=1))
def test_terms_add_up(terms: list[tuple[int, str]]) -> None:
    text = " ".join(f"{count} {unit}s" for count, unit in terms)
    assert microseconds(text) == sum(count * UNITS[unit] for count, unit in terms)


@given(st.integers(-(10**15), 10**15))
def test_text_of_a_length_reads_back_as_the_length(length: int) -> None:
    assert microseconds(duration_text(length)) == length


@given(st.integers(1, 10**15))
def test_text_uses_the_largest_unit_that_divides(length: int) -> None:
    unit = duration_text(length).split()[1].removesuffix("s")
    larger = list(UNITS)[: list(UNITS).index(unit)]
    assert length % UNITS[unit] == 0
    assert all(length % UNITS[each] for each in larger)


@pytest.mark.parametrize(
    "text",
    ["1 month", "2 months", "1 year", "1 day 1 month", "1 quarter", "1M", "1mo", "2 yrs", "1h30M"],
)
def test_units_without_a_length_are_refused_as_in_spark(text: str) -> None:
    with pytest.raises(WindowError, match=r"varies: use days or weeks"):
        microseconds(text, "range")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "interval",
        "minutes",
        "10",
        "10 minutes!",
        "ten minutes",
        "1.2.3 days",
        "1h30",
        "PT5M",
        "9" * 9999,
    ],
)
def test_unreadable_text_is_named_with_an_example(text: str) -> None:
    with pytest.raises(WindowError, match=r"cannot be read: write numbers with units") as error:
        microseconds(text, "slide")
    assert str(error.value).startswith(f"slide {shown(text)}")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("10 minuts", "minutes"),
        ("10 horus", "hours"),
        ("10 Millisecnds", "milliseconds"),
    ],
)
def test_an_unknown_unit_gets_the_nearest_known_one(text: str, hint: str) -> None:
    with pytest.raises(WindowError, match=f"did you mean '{hint}'"):
        microseconds(text)


@pytest.mark.parametrize("text", ["1.0000001 seconds", "0.5 microseconds"])
def test_less_than_a_microsecond_is_refused(text: str) -> None:
    with pytest.raises(WindowError, match="not a whole number of microseconds"):
        microseconds(text)


@pytest.mark.parametrize("value", [True, None, [10], b"10 minutes", {"minutes": 10}])
def test_other_types_are_refused_with_what_to_write(value: object) -> None:
    with pytest.raises(WindowError, match=r"write text such as '10 minutes'") as error:
        microseconds(value, "range")  # type: ignore[arg-type]
    assert isinstance(error.value, MuntinError)
    assert isinstance(error.value, ValueError)

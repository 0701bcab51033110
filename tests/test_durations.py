"""Durations: what is read, what is refused and with which remedy."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.durations import UNITS, duration_text, microseconds
from muntin.errors import MuntinError, WindowError


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


def test_timedeltas_and_integers_are_exact() -> None:
    assert microseconds(timedelta(days=1, microseconds=1)) == 86_400_000_001
    assert microseconds(timedelta(microseconds=-1)) == -1
    assert microseconds(7) == 7


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


@pytest.mark.parametrize("text", ["1 month", "2 months", "1 year", "1 day 1 month", "1 quarter"])
def test_units_without_a_length_are_refused_as_in_spark(text: str) -> None:
    with pytest.raises(WindowError, match=r"varies: use days or weeks"):
        microseconds(text, "range")


@pytest.mark.parametrize(
    "text", ["", "   ", "interval", "minutes", "10", "10 minutes!", "ten minutes", "1.2.3 days"]
)
def test_unreadable_text_is_named_with_an_example(text: str) -> None:
    with pytest.raises(WindowError, match=r"cannot be read: write numbers with units") as error:
        microseconds(text, "slide")
    assert str(error.value).startswith(f"slide {text!r}")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("10 s", "seconds"),
        ("10 sec", "seconds"),
        ("10 secs", "seconds"),
        ("10 m", "minutes"),
        ("10 min", "minutes"),
        ("10 mins", "minutes"),
        ("10 h", "hours"),
        ("10 d", "days"),
        ("10 ms", "milliseconds"),
        ("10 us", "microseconds"),
        ("10 µs", "microseconds"),
        ("10 minuts", "minutes"),
    ],
)
def test_an_unknown_unit_gets_the_nearest_known_one(text: str, hint: str) -> None:
    with pytest.raises(WindowError, match=f"did you mean '{hint}'"):
        microseconds(text)


@pytest.mark.parametrize("text", ["1.0000001 seconds", "0.5 microseconds"])
def test_less_than_a_microsecond_is_refused(text: str) -> None:
    with pytest.raises(WindowError, match="not a whole number of microseconds"):
        microseconds(text)


@pytest.mark.parametrize("value", [True, 1.5, None, [10], b"10 minutes"])
def test_other_types_are_refused_with_what_to_write(value: object) -> None:
    with pytest.raises(WindowError, match=r"write text such as '10 minutes'") as error:
        microseconds(value, "range")  # type: ignore[arg-type]
    assert isinstance(error.value, MuntinError)
    assert isinstance(error.value, ValueError)

"""Durations as people type them, to microseconds and back.

    text            "5 minutes", "interval 1 hour 30 minutes" as in Spark; "5min", "1h30m", "90 sec"
    datetime        timedelta, and so pandas.Timedelta
    NumPy           timedelta64 in weeks or smaller units

A bare number is no duration, since nobody can see its unit: only `mt.Window` takes whole numbers.

Only fixed lengths exist: a month or a year has no length in microseconds, so they are refused,
as Spark's own `window()` refuses them. A day is 24 hours and a week seven days, also as in Spark.
"m" is minutes; "M", which is months to many, is refused.
"""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal, localcontext
from numbers import Real
from typing import TYPE_CHECKING, TypeAlias

from muntin.errors import WindowError, did_you_mean, shown

if TYPE_CHECKING:
    import numpy as np

Duration: TypeAlias = "str | timedelta | np.timedelta64"

UNITS: dict[str, int] = {
    "week": 7 * 24 * 3_600_000_000,
    "day": 24 * 3_600_000_000,
    "hour": 3_600_000_000,
    "minute": 60_000_000,
    "second": 1_000_000,
    "millisecond": 1_000,
    "microsecond": 1,
}
"""Microseconds in each unit, largest first."""

LONGEST = 365_250 * UNITS["day"]
"""A thousand years: events of the years 1001 to 8999 then have windows within the years 1 to 9999,
which are all that timestamps of Spark and of Python know."""

ABBREVIATIONS: dict[str, tuple[str, ...]] = {
    "week": ("w", "wk"),
    "day": ("d",),
    "hour": ("h", "hr"),
    "minute": ("m", "min"),
    "second": ("s", "sec"),
    "millisecond": ("ms", "msec", "milli"),
    "microsecond": ("us", "µs", "μs", "usec", "micro"),  # the micro sign and the Greek letter
}

_SIZES = UNITS | {word: UNITS[unit] for unit, words in ABBREVIATIONS.items() for word in words}

_VARY = ("month", "mon", "mo", "quarter", "q", "year", "yr", "y")

_BELOW = {"ns": 10**3, "ps": 10**6, "fs": 10**9, "as": 10**12}
"""How many of NumPy's smallest units make a microsecond; its others are ours, but in capitals."""

_TERM = re.compile(r"\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+))\s*([a-zµμ]+)\s*", re.IGNORECASE)
_WRITE = "write text such as '10 minutes' or '1h30m', or a timedelta"


def microseconds(duration: Duration, what: str = "duration") -> int:
    """The length of a duration in microseconds; `what` names it in an error.

    >>> microseconds("1 hour 30 minutes"), microseconds("interval -1.5 seconds"), microseconds("5m")
    (5400000000, -1500000, 300000000)
    """
    length = _length(duration, what)
    check_length(length, what, duration)
    if length != int(length):
        raise WindowError(f"{what} {shown(duration)} is not a whole number of microseconds")
    return int(length)


def check_length(length: Decimal | int, what: str, given: object) -> None:
    """Refuse a length that no timestamp leaves room for."""
    if not -LONGEST <= length <= LONGEST:
        raise WindowError(
            f"{what} {shown(given)} is longer than 1000 years (365250 days): timestamps end with "
            "the year 9999, choose a shorter one"
        )


def _length(duration: Duration, what: str) -> Decimal | int:
    if isinstance(duration, str):
        return _parse(duration, what)
    if isinstance(duration, timedelta):  # a pandas.Timedelta is one, and has nanoseconds too
        whole = (duration.days * 86_400 + duration.seconds) * 10**6 + duration.microseconds
        return whole + Decimal(getattr(duration, "nanoseconds", 0)) / 1000
    if type(duration).__module__ == "numpy" and type(duration).__name__ == "timedelta64":
        return _of_numpy(duration, what)
    raise WindowError(f"{what} {shown(duration)} {_fault(duration)}")


def _fault(duration: object) -> str:
    """What is wrong with a value that is no duration, and what to write instead."""
    if isinstance(duration, bool):
        return f"is a boolean: {_WRITE}"
    if isinstance(duration, Real):  # a number of NumPy's too
        seconds = f"{shown(duration)} second{'' if duration == 1 else 's'}"
        return (
            f"has no unit: write '{seconds}' if seconds are meant; only mt.Window takes bare "
            "numbers, as microseconds"
        )
    return f"is a {type(duration).__name__}: {_WRITE}"


def _of_numpy(delta: np.timedelta64, what: str) -> Decimal | int:
    import numpy as np

    unit, multiple = np.datetime_data(delta.dtype)
    if np.isnat(delta):
        raise WindowError(f"{what} {shown(delta)} is not a time: {_WRITE}")
    count = int(delta.astype(np.int64)) * multiple
    if unit in _BELOW:
        return Decimal(count) / _BELOW[unit]
    if unit in ("generic", "Y", "M"):
        fault = "has no unit" if unit == "generic" else f"is in {unit}, whose length varies"
        raise WindowError(f"{what} {shown(delta)} {fault}: write np.timedelta64(30, 'D') for days")
    return count * _SIZES[unit.lower()]


def _parse(text: str, what: str) -> Decimal:
    body = re.sub(r"^\s*interval\b", "", text, flags=re.IGNORECASE) if len(text) < 1000 else ""
    total, position = Decimal(0), 0
    with localcontext(prec=1020):  # exact for every text of that length
        while match := _TERM.match(body, position):
            number, unit = match.groups()
            total += Decimal(number) * _unit(unit, text, what)
            position = match.end()
    if position == 0 or body[position:].strip():
        raise WindowError(
            f"{what} {shown(text)} cannot be read: write numbers with units, "
            "such as '10 minutes', '1 hour 30 minutes' or '1h30m'"
        )
    return total


def _unit(word: str, text: str, what: str) -> int:
    """Microseconds in the unit that a word names, in the singular or plural and in any case."""
    lower = word.lower()
    for name in (lower, lower.removesuffix("s")):
        if word == "M" or name in _VARY:
            raise WindowError(
                f"{what} {shown(text)} uses {word}, whose length varies: use days or weeks, such "
                "as '30 days' (Spark's window() refuses months too); minutes are 'm' or 'min'"
            )
        if name in _SIZES:
            return _SIZES[name]
    hint = did_you_mean(lower, [f"{unit}s" for unit in UNITS])
    raise WindowError(f"{what} {shown(text)} has the unknown unit {shown(word)}: {hint}")


def duration_text(length: int) -> str:
    """A length in microseconds in the largest unit that divides it.

    >>> duration_text(600_000_000), duration_text(3_600_000_000), duration_text(-90_000_000)
    ('10 minutes', '1 hour', '-90 seconds')
    """
    for unit, size in UNITS.items():
        if length % size == 0 and length != 0:
            count = length // size
            return f"{count} {unit}" if count == 1 else f"{count} {unit}s"
    return "0 seconds"

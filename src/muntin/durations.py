"""Durations: Spark interval text, timedelta or whole microseconds, to microseconds and back.

Only fixed lengths exist: a month or a year has no length in microseconds, so they are refused,
as Spark's own `window()` refuses them. A day is 24 hours and a week seven days, also as in Spark.
"""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal

from muntin.errors import WindowError, did_you_mean

Duration = str | timedelta | int

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

_SHORT = {"s": "second", "ms": "millisecond", "us": "microsecond", "µs": "microsecond"}
"""Units that people abbreviate and that begin like no unit, or like another one."""

_TERM = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*([a-zµ]+)\s*", re.IGNORECASE)


def microseconds(duration: Duration, what: str = "duration") -> int:
    """The length of a duration in microseconds; `what` names it in an error.

    >>> microseconds("1 hour 30 minutes"), microseconds("interval -1.5 seconds"), microseconds(7)
    (5400000000, -1500000, 7)
    """
    if isinstance(duration, bool):
        raise WindowError(f"{what} {duration!r} is a boolean: write text such as '10 minutes'")
    if isinstance(duration, int):
        return int(duration)
    if isinstance(duration, timedelta):
        return duration // timedelta(microseconds=1)
    if isinstance(duration, str):
        return _parse(duration, what)
    raise WindowError(
        f"{what} {duration!r} is a {type(duration).__name__}: write text such as '10 minutes', "
        "a datetime.timedelta, or whole microseconds"
    )


def _parse(text: str, what: str) -> int:
    body = re.sub(r"^\s*interval\b", "", text, flags=re.IGNORECASE)
    total, position = Decimal(0), 0
    while match := _TERM.match(body, position):
        number, unit = match.groups()
        total += Decimal(number) * _unit(unit.lower(), text, what)
        position = match.end()
    if position == 0 or body[position:].strip():
        raise WindowError(
            f"{what} {text!r} cannot be read: write numbers with units, "
            "such as '10 minutes' or '1 hour 30 minutes'"
        )
    if total != int(total):
        raise WindowError(f"{what} {text!r} is not a whole number of microseconds")
    return int(total)


def _unit(word: str, text: str, what: str) -> int:
    name = word.removesuffix("s") if word not in UNITS else word
    if name in UNITS:
        return UNITS[name]
    if name in ("month", "year", "quarter"):
        raise WindowError(
            f"{what} {text!r} uses {word}, whose length varies: use days or weeks, "
            "such as '30 days' (Spark's window() refuses months too)"
        )
    starts = [unit for unit in UNITS if unit.startswith(_SHORT.get(word, name))]
    hint = f"did you mean '{starts[0]}s'?" if starts else did_you_mean(name, UNITS)
    raise WindowError(f"{what} {text!r} has the unknown unit {word!r}: {hint}")


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

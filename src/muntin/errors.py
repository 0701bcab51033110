"""Every error of Muntin is a MuntinError; its message names the value and the remedy.

Each kind also inherits the builtin that a caller would expect to catch. This module also shows the
values and names that users chose: an id, an alias or a column may hold anything, so characters that
move a cursor, break a line, turn the direction of writing or break XML are escaped.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from difflib import get_close_matches
from importlib.util import find_spec
from math import log10
from numbers import Real
from reprlib import Repr

MOST_SHOWN = 100
"""So many letters of a name are shown."""


class MuntinError(Exception):
    """The base of all errors that Muntin raises on purpose.

    Each kind is also the builtin that you would expect, such as ValueError: docs/errors.md. The
    message names the value that cannot be and what to write instead.

    >>> import muntin as mt
    >>> try:
    ...     mt.tumbling("5 minuets")
    ... except mt.MuntinError as error:
    ...     print(error)
    range '5 minuets' has the unknown unit 'minuets': did you mean 'minutes'?
    """


class WindowError(MuntinError, ValueError):
    """A window or a duration that cannot be."""


class AggregateError(MuntinError, ValueError):
    """An aggregate that does not exist or is used in a way it does not support."""


class QueryError(MuntinError, ValueError):
    """A query whose parts do not fit together."""


class ColumnError(MuntinError, ValueError):
    """A column that is missing, ambiguous or of the wrong type."""


class PlanError(MuntinError, RuntimeError):
    """A sharing plan that is not a correct evaluation of its query."""


class StrategyError(MuntinError, ValueError):
    """A strategy, cost, operator or layout that is unknown or does not apply here."""


class BudgetError(StrategyError):
    """A strategy that has more to weigh than the planning budget allows."""


class StateError(MuntinError, RuntimeError):
    """The state of a stream that does not fit the query which is to go on from it."""


class ControlError(MuntinError, ValueError):
    """A command that a running stream cannot obey."""


class UserWindowError(MuntinError, RuntimeError):
    """A window function that broke its contract or raised, with the record it was given."""


class SinkError(MuntinError, RuntimeError):
    """Results that a table cannot take, or a table that cannot be written."""


class LibraryError(MuntinError, ModuleNotFoundError):
    """An optional library that is not installed."""


class CalibrationError(MuntinError, ValueError):
    """Constants of a machine that cannot be read or measured."""


class LabError(MuntinError, ModuleNotFoundError):
    """The lab is not here: only the package is installed."""


def check_library(module: str, extra: str, what: str) -> None:
    """Refuse to go on without an optional library, and say how to install it.

    >>> check_library("math", "spark", "Spark")
    >>> check_library("quark", "spark", "Spark")
    Traceback (most recent call last):
    muntin.errors.LibraryError: Spark needs the library quark, which is not installed: \
pip install 'muntin[spark]'
    """
    if find_spec(module) is None:
        raise LibraryError(
            f"{what} needs the library {module}, which is not installed: "
            f"pip install 'muntin[{extra}]'"
        )


class _Shown(Repr):
    """Python's own short repr, on one line; what has no short one is named by its type."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = 60

    def repr_int(self, x: int, level: int) -> str:
        large = abs(x) >= 10**30
        return f"{'-' if x < 0 else ''}{_power(abs(x))}" if large else repr(x)

    def repr_instance(self, x: object, level: int) -> str:
        try:
            text = repr(x)
        except Exception:  # of the user's own class
            text = "\n"
        return f"<{type(x).__name__}>" if "\n" in text else self.cut(text)

    def cut(self, text: str) -> str:
        half = self.maxother // 2
        return text if len(text) <= self.maxother else f"{text[:half]}...{text[-half:]}"


_SHOWN = _Shown()


def _power(number: int) -> str:
    digits = int(log10(number))
    return f"10**{digits}" if number == 10**digits else f"about 10**{digits}"


def shown(value: object) -> str:
    """A value as errors show it: on one line, and short whatever it is.

    >>> shown("x" * 100), shown(10**400)
    ("'xxxxxxxxxxxxxxxxxxxxxxxxxxx...xxxxxxxxxxxxxxxxxxxxxxxxxxxx'", '10**400')
    >>> import pandas as pd
    >>> shown(pd.Series([1, 2, 3])), shown({"a": [1] * 9})
    ('<Series>', "{'a': [1, 1, 1, 1, 1, 1, ...]}")
    """
    return _SHOWN.repr(value)


def is_one_of(given: object, known: Container[str]) -> bool:
    """Whether it is a known name; non-text values never match.

    >>> is_one_of("wcg", {"wcg": 1}), is_one_of(["wcg"], {"wcg": 1})
    (True, False)
    """
    return isinstance(given, str) and given in known


def is_between(given: object, least: float, most: float) -> bool:
    """Whether it is a number within these limits; text, NaN, booleans and deltas are none.

    >>> is_between(3, 0, 10), is_between("3", 0, 10), is_between(10**400, 0, 1e9)
    (True, False, False)
    """
    number = isinstance(given, Real) and type(given).__name__ not in ("bool", "timedelta64")
    return number and least <= given <= most  # type: ignore[operator]


def unknown(what: str, given: object, known: Iterable[str]) -> str:
    """What to say of an option whose value is none of those known.

    >>> unknown("layout", "wyde", ["long", "wide"])
    "unknown layout 'wyde': did you mean 'wide'?"
    >>> unknown("empty", True, ["omit", "fill"])
    "empty must be 'omit' or 'fill', not True"
    """
    names = list(known)
    if isinstance(given, str):
        return f"unknown {what} {shown(given)}: {did_you_mean(given, names)}"
    *most, last = map(repr, names)
    words = f"{', '.join(most)} or {last}" if most else last
    return f"{what} must be {words}, not {shown(given)}"


def did_you_mean(given: object, known: Iterable[str]) -> str:
    """The closest known name as a hint, or the list of all of them.

    >>> did_you_mean("weave-shar", ["direct", "weave-share"])
    "did you mean 'weave-share'?"
    >>> did_you_mean("zebra", ["direct", "wcg"])
    'known: direct, wcg'
    """
    names = list(known)
    near = closest(given, names)
    return f"did you mean {near!r}?" if near else f"known: {', '.join(names)}"


def closest(given: object, known: Iterable[str]) -> str | None:
    """The known name that a text was probably meant to be, if there is one."""
    near = get_close_matches(given[:200], list(known), n=1) if isinstance(given, str) else []
    return near[0] if near else None


def printable(text: str) -> str:
    """A text with an escape for each letter that does not print.

    >>> print(printable("a\\x1b[31m\\nb"))
    a\\x1b[31m\\nb
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shortened(name: str) -> str:
    """A name that prints, and the middle left out where it is long.

    >>> shortened("x" * 1000) == "x" * 60 + "…" + "x" * 39
    True
    """
    shown = printable(name)
    return shown if len(shown) <= MOST_SHOWN else f"{shown[: MOST_SHOWN - 40]}…{shown[-39:]}"

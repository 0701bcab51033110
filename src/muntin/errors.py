"""Every error of Muntin is a MuntinError; its message names the value and the remedy.

Each kind also inherits the builtin that a caller would expect to catch.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from difflib import get_close_matches


class MuntinError(Exception):
    """The base of all errors that Muntin raises on purpose."""


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


class StateError(MuntinError, RuntimeError):
    """The state of a stream that does not fit the query which is to go on from it."""


class ControlError(MuntinError, ValueError):
    """A command that a running stream cannot obey."""


class UserWindowError(MuntinError, RuntimeError):
    """A window function that broke its contract or raised, with the record it was given."""


class CalibrationError(MuntinError, ValueError):
    """Constants of a machine that cannot be read or measured."""


def is_one_of(given: object, known: Container[str]) -> bool:
    """Whether it is a known name; what is no text is none, whether it can be looked up or not.

    >>> is_one_of("wcg", {"wcg": 1}), is_one_of(["wcg"], {"wcg": 1})
    (True, False)
    """
    return isinstance(given, str) and given in known


def did_you_mean(given: object, known: Iterable[str]) -> str:
    """The closest known name as a hint, or the list of all of them.

    >>> did_you_mean("weave-shar", ["direct", "weave-share"])
    "did you mean 'weave-share'?"
    >>> did_you_mean("zebra", ["direct", "wcg"])
    'known: direct, wcg'
    """
    names = list(known)
    close = get_close_matches(str(given), names, n=1)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(names)}"

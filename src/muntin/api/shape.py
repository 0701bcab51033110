"""The shape of a result: its layout, whether windows without rows get one, and who can give it."""

from __future__ import annotations

from muntin.errors import StrategyError, did_you_mean

LAYOUTS = ("long", "wide")
EMPTY = ("omit", "fill")

_NEEDS = {
    "stream": "a batch: a stream has the long layout without empty windows, since rows that are "
    "still to come decide the rest",
    "sql": "a Spark DataFrame: in process there is the long layout without empty windows",
}


def check_shape(engine: str, layout: str, empty: str) -> None:
    """Refuse a shape that does not exist, or that this engine cannot give.

    >>> check_shape("spark", "wide", "fill")
    >>> check_shape("sql", "wide", "omit")
    Traceback (most recent call last):
    muntin.errors.StrategyError: layout='wide', empty='omit' needs a Spark DataFrame: in process \
there is the long layout without empty windows
    """
    for what, given, known in (("layout", layout, LAYOUTS), ("empty", empty, EMPTY)):
        if given not in known:
            raise StrategyError(f"unknown {what} {given!r}: {did_you_mean(given, known)}")
    if engine in _NEEDS and (layout, empty) != ("long", "omit"):
        raise StrategyError(f"layout={layout!r}, empty={empty!r} needs {_NEEDS[engine]}")

"""The shape of a result: its layout, whether windows without rows get one, and who can give it."""

from __future__ import annotations

from typing import get_args

from muntin.errors import StrategyError, is_one_of, unknown
from muntin.model.choices import Empty, Layout

LAYOUTS = get_args(Layout)
EMPTY = get_args(Empty)

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
        if not is_one_of(given, known):
            raise StrategyError(unknown(what, given, known))
    if engine in _NEEDS and (layout, empty) != ("long", "omit"):
        raise StrategyError(f"layout={layout!r}, empty={empty!r} needs {_NEEDS[engine]}")

"""Python's plain values as text, and back as they were: what a stream keeps of users' partials.

JSON knows numbers, texts, booleans, lists and null. What it lacks (tuples, sets, dictionaries with
any keys, bytes, decimals, dates, NumPy's arrays) is an object whose one field says what it is.
Reading a text makes values and runs nothing else.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np

from muntin.errors import shown

PLAIN = "numbers, texts, lists, tuples, sets, dictionaries, bytes, decimals, dates and NumPy arrays"
"""What can be kept, in words."""

_MICROSECOND = timedelta(microseconds=1)


def dump(value: object) -> str:
    """The value as text; a TypeError names what cannot be kept.

    >>> dump((1, {"a": {2}}))
    '{"tuple": [1, {"dict": [["a", {"set": [2]}]]}]}'
    """
    return json.dumps(_written(value), separators=(", ", ": "))


def load(text: str) -> Any:
    """The value of a text that `dump` gave.

    >>> load(dump([b"ab", float("inf"), Decimal("1.50"), frozenset({"x"})]))
    [b'ab', inf, Decimal('1.50'), frozenset({'x'})]
    """
    return _read(json.loads(text))


def _written(value: Any) -> Any:
    kind = type(value)
    if value is None or kind in (bool, int, float, str):
        return value
    if kind is list:
        return [_written(each) for each in value]
    if isinstance(value, np.generic):
        return _written(np.asarray(value))
    name = _NAMES.get(kind)
    if name is None:
        raise TypeError(f"{shown(value)} is of type {kind.__name__}")
    return {name: _WRITERS[name](value)}


def _read(found: Any) -> Any:
    if isinstance(found, list):
        return [_read(each) for each in found]
    if isinstance(found, dict):
        [(name, inside)] = found.items()
        return _READERS[name](inside)
    return found


def _write_all(values: Any) -> list[Any]:
    return [_written(each) for each in values]


def _write_instant(given: datetime) -> str:
    if not isinstance(given.tzinfo, timezone | None):
        raise TypeError(f"{shown(given)} has a zone whose rules a text would lose: use UTC")
    return given.isoformat()


def _write_array(array: np.ndarray[Any, Any]) -> list[Any]:
    if array.dtype.kind not in "biufcMmSU":
        raise TypeError(f"{shown(array)} is an array of {array.dtype}")
    return [array.dtype.str, list(array.shape), b64encode(array.tobytes()).decode()]


def _read_array(found: list[Any]) -> Any:
    kind, shape, data = found
    array = np.frombuffer(b64decode(data), dtype=kind).reshape(shape)
    return array[()] if shape == [] else array.copy()


_NAMES: dict[type, str] = {
    tuple: "tuple",
    set: "set",
    frozenset: "frozenset",
    dict: "dict",
    bytes: "bytes",
    Decimal: "decimal",
    datetime: "datetime",
    date: "date",
    timedelta: "timedelta",
    np.ndarray: "array",
}
_WRITERS: dict[str, Callable[[Any], Any]] = {
    "tuple": _write_all,
    "set": _write_all,
    "frozenset": _write_all,
    "dict": lambda given: [_write_all(pair) for pair in given.items()],
    "bytes": lambda given: b64encode(given).decode(),
    "decimal": str,
    "datetime": _write_instant,
    "date": lambda given: given.isoformat(),
    "timedelta": lambda given: given // _MICROSECOND,
    "array": _write_array,
}
_READERS: dict[str, Callable[[Any], Any]] = {
    "tuple": lambda found: tuple(_read(found)),
    "set": lambda found: set(_read(found)),
    "frozenset": lambda found: frozenset(_read(found)),
    "dict": lambda found: dict(_read(found)),
    "bytes": b64decode,
    "decimal": Decimal,
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "timedelta": lambda found: found * _MICROSECOND,
    "array": _read_array,
}

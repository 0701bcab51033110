"""Spark's total order of values: NaN is larger than every number and equal to itself."""

from __future__ import annotations

from functools import cmp_to_key
from typing import Any


def is_nan(value: Any) -> bool:
    """Whether the value is a floating-point NaN."""
    return isinstance(value, float) and value != value


def less(left: Any, right: Any) -> bool:
    """left < right, as Spark orders them.

    >>> less(1.0, float("nan")), less(float("nan"), float("inf")), less(1, 2)
    (True, False, True)
    """
    if is_nan(left):
        return False
    if is_nan(right):
        return True
    return bool(left < right)


IN_ORDER = cmp_to_key(lambda a, b: less(b, a) - less(a, b))
"""The key to sort by."""

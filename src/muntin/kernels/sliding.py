"""Sliding windows of n values over one dense array: the bulk counterpart of two stacks.

order  in-order      needs  a ufunc that is associative; no inverse
time   about three passes over the array whatever n      space  two arrays

Cut the array into blocks of n (van Herk 1992, Gil and Werman 1993). A window of n values spans at
most two blocks: it is a suffix of one and a prefix of the next, so after one scan of each kind a
single combine answers every window. Short windows instead double: windows of 2k values are two
neighbouring windows of k, so log₂ n vector passes that stay in the cache do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Arrays = tuple[Array, ...]

DOUBLING_LIMIT = 2048
"""Up to this length, log₂ n vectorised passes beat two scans."""

CHUNK = 16_384
"""Values for which all intermediate arrays of doubling stay in the cache."""


def sliding(values: Array, n: int, ufunc: np.ufunc) -> Array:
    """The combination of every n consecutive values: element i covers values[i : i + n].

    >>> sliding(np.array([3, 1, 4, 1, 5, 9]), 3, np.maximum).tolist()
    [4, 4, 5, 9]
    """
    if not 1 <= n <= len(values):
        raise ValueError(f"windows of {n} do not fit into {len(values)} values")
    return _doubling(values, n, ufunc) if n <= DOUBLING_LIMIT else _blocks(values, n, ufunc)


def _doubling(values: Array, n: int, ufunc: np.ufunc) -> Array:
    count = len(values) - n + 1
    out = np.empty(count, dtype=ufunc(values[:1], values[:1]).dtype)

    def combine(older: Arrays, newer: Arrays) -> Arrays:
        return (ufunc(older[0], newer[0]),)

    for begin in range(0, count, CHUNK):
        end = min(begin + CHUNK, count)
        out[begin:end] = doubled((values[begin : end + n - 1],), n, combine)[0]
    return out


def doubled(line: Arrays, n: int, combine: Callable[[Arrays, Arrays], Arrays]) -> Arrays:
    """Compose n from its binary digits, oldest part first, so that order is kept.

    Any vectorised combine will do; the passes are over the whole line.
    """
    count = len(line[0]) - n + 1
    power, reach, done = line, 1, 0
    result: Arrays | None = None
    while True:
        if n & reach:
            part = tuple(a[done : done + count] for a in power)
            result = part if result is None else combine(result, part)
            done += reach
        reach *= 2
        if reach > n:
            assert result is not None, "n has a binary digit"
            return result
        half = reach // 2
        power = combine(tuple(a[:-half] for a in power), tuple(a[half:] for a in power))


def _blocks(values: Array, n: int, ufunc: np.ufunc) -> Array:
    """Block by block, so that the scans of a block stay in the cache and need no large arrays."""
    count = len(values) - n + 1
    result = np.empty(count, dtype=ufunc(values[:1], values[:1]).dtype)
    suffix, prefix = np.empty(n, dtype=result.dtype), np.empty(n, dtype=result.dtype)
    for begin in range(0, count, n):
        ufunc.accumulate(values[begin : begin + n][::-1], out=suffix)
        result[begin] = suffix[-1]
        more = min(n, count - begin) - 1
        if more:
            following = values[begin + n : begin + n + more]
            ufunc.accumulate(following, out=prefix[:more])
            older = suffix[::-1][1 : more + 1]
            ufunc(older, prefix[:more], out=result[begin + 1 : begin + 1 + more])
    return result

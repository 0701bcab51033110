"""Monoids over arrays: combine many pairs at once, and scan many rows at once.

A partial is a tuple of arrays, one element of each for one piece. Two kinds of monoid serve all:

    Ufuncs    each array has a NumPy ufunc of its own (add, maximum, …): scans are its accumulate
    Scanned   any vectorised combine, which need not commute: scans take log₂(length) passes
              (Hillis and Steele, 1986)

Floats are only ever combined, never subtracted, so a NaN or 1e16 leaves no trace in windows that
do not contain it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from muntin.kernels.sliding import Array as Array
from muntin.kernels.sliding import Arrays as Arrays
from muntin.kernels.sliding import doubled, sliding

_QUIET = np.errstate(invalid="ignore", over="ignore")
"""Infinity less infinity is NaN and too large is infinity, as in any engine: no warning."""


SHORT = 32
"""Rows up to so long are reduced place by place: NumPy takes longer to begin a row."""


class Monoid(Protocol):
    """What a kernel needs: an identity, combine, and scans along the rows of a block."""

    @property
    def identity(self) -> tuple[Any, ...]:
        """The partial of nothing: one scalar for each array."""

    def combine(self, older: Arrays, newer: Arrays) -> Arrays:
        """The partials of both, element by element."""

    def prefixes(self, block: Arrays) -> Arrays:
        """Along each row, the combination of everything up to and including an element."""

    def suffixes(self, block: Arrays) -> Arrays:
        """Along each row, the combination of an element and everything after it."""

    def reduce(self, block: Arrays) -> Arrays:
        """The combination of each row."""

    def slide(self, line: Arrays, n: int) -> Arrays:
        """The combination of every n neighbours: element i covers those from i to i + n - 1."""


@dataclass(frozen=True, slots=True)
class Ufuncs:
    """One ufunc and one identity for each array of the partial.

    >>> total = Ufuncs((np.add,), (0,))
    >>> total.suffixes((np.array([[1, 2, 3]]),))[0].tolist()
    [[6, 5, 3]]
    """

    ufuncs: tuple[np.ufunc, ...]
    identity: tuple[Any, ...]

    @_QUIET
    def combine(self, older: Arrays, newer: Arrays) -> Arrays:
        return tuple(f(a, b) for f, a, b in zip(self.ufuncs, older, newer, strict=True))

    @_QUIET
    def prefixes(self, block: Arrays) -> Arrays:
        return tuple(f.accumulate(a, axis=-1) for f, a in zip(self.ufuncs, block, strict=True))

    def suffixes(self, block: Arrays) -> Arrays:
        turned = self.prefixes(tuple(a[..., ::-1] for a in block))
        return tuple(a[..., ::-1] for a in turned)

    @_QUIET
    def reduce(self, block: Arrays) -> Arrays:
        if block[0].shape[-1] > SHORT:
            return tuple(f.reduce(a, axis=-1) for f, a in zip(self.ufuncs, block, strict=True))
        return tuple(_reduced(f, a) for f, a in zip(self.ufuncs, block, strict=True))

    @_QUIET
    def slide(self, line: Arrays, n: int) -> Arrays:
        return tuple(sliding(a, n, f) for f, a in zip(self.ufuncs, line, strict=True))


def _reduced(ufunc: np.ufunc, block: Array) -> Array:
    """Short rows one place after the other, over all rows at once."""
    done: Array = block[..., 0].copy()
    for place in range(1, block.shape[-1]):
        ufunc(done, block[..., place], out=done)
    return done


@dataclass(frozen=True, slots=True)
class Scanned:
    """Any associative combine over arrays.

    >>> later = Scanned(lambda older, newer: newer, (0,))
    >>> later.suffixes((np.array([[1, 2, 3]]),))[0].tolist()
    [[3, 3, 3]]
    """

    combining: Callable[[Arrays, Arrays], Arrays]
    identity: tuple[Any, ...]

    @_QUIET
    def combine(self, older: Arrays, newer: Arrays) -> Arrays:
        return self.combining(older, newer)

    @_QUIET
    def prefixes(self, block: Arrays) -> Arrays:
        return self._scan(block, forward=True)

    def suffixes(self, block: Arrays) -> Arrays:
        return self._scan(block, forward=False)

    @_QUIET
    def reduce(self, block: Arrays) -> Arrays:
        """Combine neighbours in pairs until one is left."""
        while (length := block[0].shape[-1]) > 1:
            both = self.combining(
                tuple(a[..., 0 : length - 1 : 2] for a in block), tuple(a[..., 1::2] for a in block)
            )
            if length % 2:
                both = tuple(
                    np.concatenate((a, b[..., -1:]), axis=-1)
                    for a, b in zip(both, block, strict=True)
                )
            block = both
        return tuple(a[..., 0] for a in block)

    @_QUIET
    def slide(self, line: Arrays, n: int) -> Arrays:
        return doubled(line, n, self.combining)

    def _scan(self, block: Arrays, forward: bool) -> Arrays:
        """Double the reach of every element until it is the whole row."""
        length, reach = block[0].shape[-1], 1
        done = tuple(a.copy() for a in block)
        while reach < length:
            older = tuple(a[..., :-reach] for a in done)
            newer = tuple(a[..., reach:] for a in done)
            both = self.combine(older, newer)
            for target, value in zip(done, both, strict=True):
                if forward:
                    target[..., reach:] = value
                else:
                    target[..., :-reach] = value
            reach *= 2
        return done

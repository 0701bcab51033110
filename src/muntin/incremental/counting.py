"""Count what a technique really does: how often it combines and inverts, and what it keeps.

`Counting` is a monoid around another one. A technique made with it works as before; the counters
before and after an operation show its cost (Table 2 of the multi-query paper).
"""

from __future__ import annotations

from collections import deque

from muntin.aggregates import Aggregate
from muntin.incremental.chunked_queue import ChunkedQueue
from muntin.incremental.protocol import Monoid, Technique, monoid_of


class Counting:
    """
    >>> from muntin.aggregates import max
    >>> from muntin.incremental import TwoStacks
    >>> counting = Counting(max("v"))
    >>> window = TwoStacks(counting)
    >>> for value in (9, 4, 7): window.insert(value)
    >>> counting.combines, counting.inverts, space(window)
    (2, 0, 3)
    """

    def __init__(self, aggregate: Aggregate | Monoid) -> None:
        self._monoid = monoid_of(aggregate)
        self.combines = 0
        self.inverts = 0
        self.identity = self._monoid.identity
        self.invertible = self._monoid.invertible
        self.selective = self._monoid.selective
        self.commutative = self._monoid.commutative
        self.lift = self._monoid.lift
        self.lower = self._monoid.lower

    @property
    def operations(self) -> int:
        """Combines and inverts so far."""
        return self.combines + self.inverts

    def combine(self, older: object, newer: object) -> object:
        self.combines += 1
        return self._monoid.combine(older, newer)

    def invert(self, whole: object, older: object) -> object:
        self.inverts += 1
        return self._monoid.invert(whole, older)

    def __repr__(self) -> str:
        return repr(self._monoid)


def space(technique: Technique) -> int:
    """How many partials, positions and pointers the technique's containers hold, free slots too."""
    return sum(_slots(part) for part in vars(technique).values())


def _slots(part: object) -> int:
    if isinstance(part, list) and part and isinstance(part[0], list):
        return sum(len(level) for level in part)
    return len(part) if isinstance(part, list | deque | dict | ChunkedQueue) else 0

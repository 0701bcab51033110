"""Panes: keep the partials, combine them anew for every answer. The naive technique.

order  in-order      needs  a monoid, which need not commute
time   insert and evict O(1), query n - 1 combines      space  n partials

Li et al., "No pane, no gain", SIGMOD Record 2005; section 2.2 of the multi-query paper. It is what
the other techniques are compared with, and what they must agree with.
"""

from __future__ import annotations

from collections.abc import Iterable

from muntin.incremental.chunked_queue import ChunkedQueue
from muntin.incremental.exactness import Inverse
from muntin.incremental.protocol import Monoid, Technique, fold


class Panes(Technique):
    """
    >>> from muntin.aggregates import max
    >>> window = Panes(max("v"), ranges=[2])
    >>> for value in (9, 4, 7): window.insert(value)
    >>> window.query(), window.query(2)
    (9, 7)
    """

    name = "panes"
    several_ranges = True

    def _start(self) -> None:
        self._partials = ChunkedQueue[object]()

    def insert(self, value: object) -> None:
        self._partials.append(self.monoid.lift(value))

    def evict(self) -> None:
        self._refuse_empty()
        self._partials.popleft()

    def _newest(self, range: int) -> object:
        return fold(self.monoid, self._partials.since(self._partials.end - range))


class PanesInv(Technique):
    """A running aggregate; what leaves is inverted out of it.

    order  in-order      needs  an exact invert (see `exactness`) from the old end: it gives `newer`
           of older ⊕ newer and `older`, so the monoid need not commute
    time   one combine an insert, one invert an evict, query O(1)      space  n + 1 partials

    Invariant: _total is the combination of all partials in the window. Also known as R-Int (Arasu
    and Widom, VLDB 2004) and Subtract-on-Evict (Tangwongsan et al., DEBS 2017); section 2.2 of the
    multi-query paper.

    >>> from muntin.aggregates import sum
    >>> window = PanesInv(sum("v"))
    >>> for value in (9, 4, 7): window.insert(value)
    >>> window.evict(); window.query()
    11
    """

    name = "panes-inv"

    @classmethod
    def refusal(cls, monoid: Monoid, ranges: Iterable[int] = ()) -> str | None:
        if not monoid.invertible:
            return "it is not invertible, so a value that leaves cannot be taken out: use TwoStacks"
        return super().refusal(monoid, ranges)

    def _start(self) -> None:
        self._inverse = Inverse(self.monoid, self.approximate, self.name)
        self._partials = ChunkedQueue[object]()
        self._total = self.monoid.identity

    def insert(self, value: object) -> None:
        partial = self._inverse.lift(value)
        self._total = self._inverse.add(self._total, partial)
        self._partials.append(partial)

    def evict(self) -> None:
        self._refuse_empty()
        partials = self._partials
        oldest = partials[partials.first]
        self._total = self._inverse.remove(
            self._total, oldest, lambda: partials.since(partials.first + 1)
        )
        partials.popleft()

    def whole(self) -> object:
        return self._total

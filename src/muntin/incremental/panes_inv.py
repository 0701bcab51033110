"""Panes (Inv): a running aggregate; what leaves is inverted out of it.

order  in-order      needs  an exact invert (see `exactness`) from the old end: it gives `newer` of
older ⊕ newer and `older`, so the monoid need not commute
time   one combine an insert, one invert an evict, query O(1)      space  n + 1 partials

Invariant: _total is the combination of all partials in the window. Also known as R-Int (Arasu and
Widom, VLDB 2004) and Subtract-on-Evict (Tangwongsan et al., DEBS 2017); section 2.2 of the
multi-query paper.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from muntin.incremental.chunked_queue import ChunkedQueue
from muntin.incremental.exactness import Inverse
from muntin.incremental.protocol import Monoid, Technique


class PanesInv(Technique):
    """
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
        self._partials = ChunkedQueue()
        self._total = self.monoid.identity

    def insert(self, value: Any) -> None:
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

    def __len__(self) -> int:
        return len(self._partials)

    def _whole(self) -> Any:
        return self._total

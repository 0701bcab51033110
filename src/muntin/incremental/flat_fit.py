"""FlatFIT: every answer leaves shortcuts for the next ones to follow.

order  in-order      needs  a monoid, which need not commute
time   insert and evict O(1); query three combines amortised, n - 1 at worst (the window reset)
space  n partials and n pointers

Invariant: _partials[p] combines the values at positions p … _pointers[p] - 1. A query starts at
its oldest position and follows the pointers to the end of the window; it then combines what it met,
newest first, and each position it met is made to point to the end:

    position    p  .  .  q  .  r  .  |            p → q → r → end      before
                └────────┘└────┘└────┘            p → end, q → end     after

Shein et al., SSDBM 2017; section 2.2 and Figure 7 of the multi-query paper, whose circular arrays
are queues here, so that the size of the window need not be known.
"""

from __future__ import annotations

from muntin.incremental.chunked_queue import ChunkedQueue
from muntin.incremental.protocol import Technique


class FlatFIT(Technique):
    """
    >>> from muntin.aggregates import max
    >>> window = FlatFIT(max("v"), ranges=[2, 4])
    >>> for value in (9, 4, 7, 1, 3): window.slide(value)
    >>> window.query_all()
    {4: 7, 2: 3}
    """

    name = "flatfit"
    several_ranges = True

    def _start(self) -> None:
        self._partials = ChunkedQueue[object]()
        self._pointers = ChunkedQueue[int]()

    def insert(self, value: object) -> None:
        self._partials.append(self.monoid.lift(value))
        self._pointers.append(self._partials.end)

    def evict(self) -> None:
        self._refuse_empty()
        self._partials.popleft()
        self._pointers.popleft()

    def _newest(self, range: int) -> object:
        if not range:
            return self.monoid.identity
        partials, pointers, end = self._partials, self._pointers, self._partials.end
        position = end - range
        met = []
        while position < end:
            met.append(position)
            position = pointers[position]
        answer = partials[met.pop()]
        while met:
            position = met.pop()
            answer = self.monoid.combine(partials[position], answer)
            partials[position] = answer
            pointers[position] = end
        return answer

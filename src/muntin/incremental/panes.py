"""Panes: keep the partials, combine them anew for every answer. The naive technique.

order  in-order      needs  a monoid, which need not commute
time   insert and evict O(1), query n - 1 combines      space  n partials

Li et al., "No pane, no gain", SIGMOD Record 2005; section 2.2 of the multi-query paper. It is what
the other techniques are compared with, and what they must agree with.
"""

from __future__ import annotations

from typing import Any

from muntin.incremental.chunked_queue import ChunkedQueue
from muntin.incremental.protocol import Technique, fold


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
        self._partials = ChunkedQueue()

    def insert(self, value: Any) -> None:
        self._partials.append(self.monoid.lift(value))

    def evict(self) -> None:
        self._refuse_empty()
        self._partials.popleft()

    def __len__(self) -> int:
        return len(self._partials)

    def _whole(self) -> Any:
        return fold(self.monoid, self._partials)

    def _newest(self, range: int) -> Any:
        return fold(self.monoid, self._partials.since(self._partials.end - range))

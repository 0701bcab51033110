"""SlickDeque: subtract where that is exact, else keep only the values that may still win.

SlickDeque(aggregate) is a `SlickDequeInv` for an invertible aggregate, a `SlickDequeNonInv` for a
selective one (combine returns one of its arguments), and refuses any other.

Shein, Chrysanthis and Labrinidis, EDBT 2018; section 2.2 and Figure 10 of the multi-query paper.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from muntin.incremental.chunked_queue import ChunkedQueue
from muntin.incremental.exactness import Inverse
from muntin.incremental.protocol import Monoid, Technique, monoid_of


class SlickDeque(Technique):
    """
    >>> from muntin.aggregates import max, sum
    >>> for window in SlickDeque(sum("v"), ranges=[2, 4]), SlickDeque(max("v"), ranges=[2, 4]):
    ...     for value in (9, 4, 7, 1, 3): window.slide(value)
    ...     print(type(window).__name__, window.query_all())
    SlickDequeInv {4: 15, 2: 4}
    SlickDequeNonInv {4: 7, 2: 3}
    """

    name = "slick-deque"
    several_ranges = True

    if TYPE_CHECKING:  # one is made as one of its two variants, which have all of this

        def _start(self) -> None: ...
        def insert(self, value: object) -> None: ...
        def evict(self) -> None: ...

    def __new__(cls, aggregate: object = None, *args: object, **options: object) -> SlickDeque:
        if cls is SlickDeque:
            cls = SlickDequeInv if monoid_of(aggregate).invertible else SlickDequeNonInv
        return super().__new__(cls)

    @classmethod
    def refusal(cls, monoid: Monoid, ranges: Iterable[int] = ()) -> str | None:
        if not (monoid.invertible or monoid.selective):
            return (
                "it is neither invertible (so nothing can be taken out) nor selective (so no value "
                "can be dropped early): use FlatFIT, or TwoStacks for one range"
            )
        return super().refusal(monoid, ranges)


class SlickDequeInv(SlickDeque):
    """A running aggregate for each range, in a map.

    order  in-order      needs  an exact invert (see `exactness`) from the old end: it gives `newer`
           of older ⊕ newer and `older`, so the monoid need not commute
    time   one combine and one invert a range and slide, query O(1)
    space  n partials and one for each range

    Invariant: _running[r] combines the newest min(r, len) partials. While the window is longer
    than every range, _all combines the whole of it; else the longest range does.
    """

    def _start(self) -> None:
        self._inverse = Inverse(self.monoid, self.approximate, self.name)
        self._partials = ChunkedQueue[object]()
        self._longest = max(self.ranges, default=0)
        self._running = dict.fromkeys(self.ranges, self.monoid.identity)
        self._all = self.monoid.identity

    def insert(self, value: object) -> None:
        partials, inverse = self._partials, self._inverse
        partial = inverse.lift(value)
        overfull = len(partials) >= self._longest
        whole = inverse.add(self.whole(), partial) if overfull else self._all
        running = {}
        for range, total in self._running.items():
            total = inverse.add(total, partial)
            if range <= len(partials):
                leaves = partials.end - range
                total = inverse.remove(total, partials[leaves], self._after(leaves, partial))
            running[range] = total
        partials.append(partial)
        self._running, self._all = running, whole

    def evict(self) -> None:
        self._refuse_empty()
        partials, inverse = self._partials, self._inverse
        oldest, rest = partials[partials.first], self._after(partials.first)
        running = {
            range: inverse.remove(total, oldest, rest) if range >= len(partials) else total
            for range, total in self._running.items()
        }
        if len(partials) > self._longest:
            self._all = inverse.remove(self._all, oldest, rest)
        partials.popleft()
        self._running = running

    def whole(self) -> object:
        if self.ranges and len(self) <= self._longest:
            return self._running[self._longest]
        return self._all

    def _newest(self, range: int) -> object:
        return self._running[range]

    def _after(self, position: int, *newest: object) -> Callable[[], Iterable[object]]:
        return lambda: chain(self._partials.since(position + 1), newest)


class SlickDequeNonInv(SlickDeque):
    """A deque of the partials that are the aggregate of all that follows them.

    order  in-order      needs  a selective monoid: x ⊕ y is x or y; it need not commute
    time   fewer than 2 combines a slide amortised, n at worst; the whole O(1), all ranges in one
           traversal of the deque, longest range first
    space  2·H_n on random input (a partial and its position; H_n ≈ ln n is the harmonic number,
           not the Σ1/i! of the paper), 2n on input that always loses against what is older

    Invariant: positions rise from head to tail, and the aggregate of the values since position a is
    the first entry at or after a. A newer value pops the tail for as long as it wins (combine gives
    the newer); on a tie combine gives the older, which stays. Winning entries are always a tail:
    if e_i = x ⊕ e_k and e_k ⊕ new = e_k then e_i ⊕ new = x ⊕ e_k = e_i.
    """

    def _start(self) -> None:
        self._positions: deque[int] = deque()
        self._kept: deque[object] = deque()
        self._first = self._end = 0
        self.steps = 0
        """Comparisons of positions made so far by queries of a range."""

    def insert(self, value: object) -> None:
        partial = self.monoid.lift(value)
        kept, positions = self._kept, self._positions
        while kept and self._wins(partial, kept[-1]):
            kept.pop()
            positions.pop()
        kept.append(partial)
        positions.append(self._end)
        self._end += 1

    def evict(self) -> None:
        self._refuse_empty()
        self._first += 1
        if self._positions[0] < self._first:
            self._positions.popleft()
            self._kept.popleft()

    def __len__(self) -> int:
        return self._end - self._first

    def _wins(self, newer: object, older: object) -> bool:
        """Whether combine returned the newer: by identity, as ties may compare equal."""
        chosen = self.monoid.combine(older, newer)
        if chosen is newer:
            return True
        return chosen is not older and bool(chosen != older)

    def whole(self) -> object:
        return self._kept[0] if self._kept else self.monoid.identity

    def _newest(self, range: int) -> object:
        return next(self._traverse((range,)))

    def query_all(self, ranges: Iterable[int] | None = None) -> dict[int, Any]:
        asked, lower = self._check_ranges(ranges), self.monoid.lower
        if not self._kept:
            return dict.fromkeys(asked, lower(self.monoid.identity))
        return {
            range: lower(partial)
            for range, partial in zip(asked, self._traverse(asked), strict=True)
        }

    def _traverse(self, ranges: Iterable[int]) -> Iterator[object]:
        """The entry for each range, longest first: one walk from head to tail."""
        entries = zip(self._positions, self._kept, strict=True)
        position, partial = next(entries)
        for range in ranges:
            start = self._end - range
            self.steps += 1
            while position < start:
                position, partial = next(entries)
                self.steps += 1
            yield partial

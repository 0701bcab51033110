"""B-Int: the stream cut into dyadic intervals, each combined once, when it is complete.

order  in-order      needs  a monoid, which need not commute
time   insert one combine amortised, log₂ n at worst; evict O(1); query up to 2·log₂ n combines
space  2n partials (up to 4n where n is no power of two); doubles and halves with the window

Level k holds the intervals [i·2ᵏ, (i + 1)·2ᵏ) of stream positions in a circle of capacity/2ᵏ slots:

    level 2  |       0 … 3       |                     a query of positions 1 … 6 combines
    level 1  |  0 1  |  2 3  |  4 5  |                 [1], [2, 3], [4, 5], [6]
    level 0  | 0 | 1 | 2 | 3 | 4 | 5 | 6 |

Invariant: every complete interval that lies in the window is in its slot. An interval ends with
its last value, so nothing is ever updated and evicting costs nothing; the answer is combined from
the fewest intervals. Arasu and Widom, VLDB 2004; section 2.2 and Figure 6 of the multi-query paper.
"""

from __future__ import annotations

from muntin.incremental.protocol import Technique, fold


class BInt(Technique):
    """
    >>> from muntin.aggregates import max
    >>> window = BInt(max("v"), ranges=[2, 6])
    >>> for value in (9, 4, 7, 1, 3, 2, 5): window.slide(value)
    >>> window.query_all()
    {6: 7, 2: 5}
    """

    name = "b-int"
    several_ranges = True

    def _start(self) -> None:
        self._first = self._end = 0
        self._capacity = self._least = 1 << (max(self.ranges, default=1) - 1).bit_length()
        self._levels = self._empty(self._capacity)

    def _empty(self, capacity: int) -> list[list[object]]:
        return [[None] * (capacity >> level) for level in range(capacity.bit_length())]

    def insert(self, value: object) -> None:
        partial = self.monoid.lift(value)
        if len(self) == self._capacity:
            self._resize(2 * self._capacity)
        levels, at = self._levels, self._end
        levels[0][at % len(levels[0])] = partial
        self._end = end = at + 1
        for level in range(1, len(levels)):
            # complete, and not begun before the window: otherwise no query can use it
            if end & ((1 << level) - 1) or end - (1 << level) < self._first:
                break
            below, index = levels[level - 1], (end >> level) - 1
            left = 2 * index % len(below)
            levels[level][index % len(levels[level])] = self.monoid.combine(
                below[left], below[left + 1]
            )

    def evict(self) -> None:
        self._refuse_empty()
        self._levels[0][self._first % self._capacity] = None
        self._first += 1
        if 4 * len(self) <= self._capacity and self._capacity > self._least:
            self._resize(self._capacity // 2)

    def __len__(self) -> int:
        return self._end - self._first

    def _newest(self, range: int) -> object:
        return fold(self.monoid, self._intervals(self._end - range))

    def _intervals(self, at: int) -> list[object]:
        """The fewest intervals from a position to the end: each the longest that begins there."""
        found, levels, end = [], self._levels, self._end
        while at < end:
            level = (end - at).bit_length() - 1
            if at:
                level = min(level, (at & -at).bit_length() - 1)
            found.append(levels[level][(at >> level) % len(levels[level])])
            at += 1 << level
        return found

    def _resize(self, capacity: int) -> None:
        old, self._levels = self._levels, self._empty(capacity)
        self._capacity = capacity
        for level, (before, after) in enumerate(zip(old, self._levels, strict=False)):
            begun = -(-self._first >> level)
            for index in range(begun, self._end >> level):
                after[index % len(after)] = before[index % len(before)]

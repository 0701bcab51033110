"""FlatFAT: a binary tree of partials in one flat array, its leaves a circular buffer.

order  in-order      needs  a monoid, which need not commute
time   log₂ n combines a change, query of the whole O(1) if the root tells it, of a range 2·log₂ n
space  2n partials (up to 4n where n is no power of two); doubles and halves with the window

Invariant: node i is node 2i ⊕ node 2i + 1, node 1 the root; leaf j is node leaves + j, and holds
the identity if its slot is free. Slots are used in a circle:

                    1                     slots 0 … 7, oldest at 6, newest at 2:
            2               3             the window is the suffix 6, 7 and the prefix 0, 1, 2, so
        4       5       6       7         the root has its values in the wrong order: it answers
       0 1     2 3     4 5     6 7        for monoids that commute, and for all while nothing wraps

A range is combined from the fewest nodes that cover its leaves. Sliding a full window overwrites
the oldest leaf by the newest: one walk to the root. Tangwongsan et al., VLDB 2015; section 2.2 and
Figure 5 of the multi-query paper.
"""

from __future__ import annotations

from muntin.incremental.protocol import Technique, fold


class FlatFAT(Technique):
    """
    >>> from muntin.aggregates import max
    >>> window = FlatFAT(max("v"), ranges=[2, 4])
    >>> for value in (9, 4, 7, 1, 3): window.slide(value)
    >>> window.query_all()
    {4: 7, 2: 3}
    """

    name = "flatfat"
    several_ranges = True

    def _start(self) -> None:
        self._least = max(self.ranges, default=1)
        self._build(self._least, [])

    def _build(self, slots: int, leaves: list[object]) -> None:
        """Lay the tree out anew, with the values from slot 0 on."""
        self._slots, self._front, self._count = slots, 0, len(leaves)
        self._leaves = 1 << (slots - 1).bit_length()
        identity = self.monoid.identity
        self._tree = [identity] * self._leaves + leaves
        self._tree += [identity] * (2 * self._leaves - len(self._tree))
        used = self._leaves + len(leaves) - 1 if leaves else 0
        while used > 1:  # nodes beyond the last used one of a level cover free slots only
            used //= 2
            for node in range(used, (1 << used.bit_length() - 1) - 1, -1):
                self._tree[node] = self.monoid.combine(
                    self._tree[2 * node], self._tree[2 * node + 1]
                )

    def insert(self, value: object) -> None:
        partial = self.monoid.lift(value)
        if self._count == self._slots:
            self._build(2 * self._slots, self._values())
        self._put((self._front + self._count) % self._slots, partial)
        self._count += 1

    def evict(self) -> None:
        self._refuse_empty()
        self._put(self._front, self.monoid.identity)
        self._front = (self._front + 1) % self._slots
        self._count -= 1
        if 4 * self._count <= self._slots and self._slots > self._least:
            self._build(max(self._slots // 2, self._least), self._values())

    def slide(self, value: object) -> None:
        if self.ranges and self._count == self._slots == self.ranges[0]:
            self._put(self._front, self.monoid.lift(value))
            self._front = (self._front + 1) % self._slots
        else:
            super().slide(value)

    def __len__(self) -> int:
        return self._count

    def _put(self, leaf: int, partial: object) -> None:
        tree, combine = self._tree, self.monoid.combine
        node = self._leaves + leaf
        tree[node] = partial
        node //= 2
        while node:
            tree[node] = combine(tree[2 * node], tree[2 * node + 1])
            node //= 2

    def whole(self) -> object:
        if self.monoid.commutative or self._front + self._count <= self._slots:
            return self._tree[1]
        return self._newest(self._count)

    def _newest(self, range: int) -> object:
        return fold(self.monoid, self._span(self._count - range, range))

    def _span(self, skip: int, length: int) -> list[object]:
        """The fewest nodes for `length` values after the oldest `skip` ones, in order."""
        first = (self._front + skip) % self._slots
        end = first + length
        if end <= self._slots:
            return self._cover(first, end)
        return self._cover(first, self._slots) + self._cover(0, end - self._slots)

    def _cover(self, first: int, end: int) -> list[object]:
        """The fewest nodes whose leaves are first … end - 1, in order."""
        left, right = [], []
        low, high = self._leaves + first, self._leaves + end
        while low < high:
            if low & 1:
                left.append(self._tree[low])
                low += 1
            if high & 1:
                high -= 1
                right.append(self._tree[high])
            low, high = low // 2, high // 2
        return left + right[::-1]

    def _values(self) -> list[object]:
        start = self._leaves + self._front
        stop = min(start + self._count, self._leaves + self._slots)
        wrapped = self._count - (stop - start)
        return self._tree[start:stop] + self._tree[self._leaves : self._leaves + wrapped]

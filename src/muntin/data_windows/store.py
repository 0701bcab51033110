"""The aggregate store: partials of consecutive slices, merged over any run of them.

    append(partial)         a slice at the end; its number is one more than the last one's
    extend_newest(partial)  more records of the newest slice
    merge(start)            the partial of the slices from this one to the newest
    remove_up_to(number)    forget the slices before this one
    coalesce(number)        join a slice to the one before it: no window begins there any more

lazy    a queue of partials: append costs nothing, merge one combine a slice
eager   a FlatFAT over them: append log₂ n combines, merge at most 2·log₂ n

Both keep the same partials; eager twice as many with the inner nodes. Sections 5.2 and 5.4 of the
Cutty paper. FlatFAT here leaves removed leaves as they are: a merge covers live leaves only, so
removing costs nothing, and an append overwrites the oldest removed one. It doubles when it is full
and halves at a quarter (the paper: at a third), so that it does not go back and forth.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from itertools import islice

from muntin.aggregates import Aggregate
from muntin.incremental import FlatFAT, Monoid
from muntin.incremental.protocol import fold, monoid_of


class LazyStore:
    """
    >>> from muntin.aggregates import max
    >>> store = LazyStore(max("v"))
    >>> [store.append(v) for v in (3, 9, 4)]
    [0, 1, 2]
    >>> store.remove_up_to(1); store.merge(2), store.merge(1)
    (4, 9)
    """

    def __init__(self, aggregate: Aggregate | Monoid) -> None:
        self.monoid = monoid_of(aggregate)
        self._partials: deque[object] = deque()
        self._numbers: deque[int] = deque()
        self._next = 0

    def append(self, partial: object) -> int:
        self._partials.append(partial)
        self._numbers.append(self._next)
        self._next += 1
        return self._next - 1

    def merge(self, start: int) -> object:
        low = _place(self._numbers, start)
        return fold(self.monoid, islice(self._partials, low, None))

    def remove_up_to(self, number: int) -> None:
        while self._numbers and self._numbers[0] < number:
            self._numbers.popleft()
            self._partials.popleft()

    def coalesce(self, number: int) -> None:
        place = _place(self._numbers, number)
        joined = self.monoid.combine(self._partials[place - 1], self._partials[place])
        self._partials[place - 1] = joined
        del self._partials[place]
        del self._numbers[place]

    def extend_newest(self, partial: object) -> None:
        self._partials[-1] = self.monoid.combine(self._partials[-1], partial)

    def __len__(self) -> int:
        return len(self._partials)

    @property
    def space(self) -> int:
        """How many partials are held."""
        return len(self._partials)


class EagerStore(FlatFAT):
    """
    >>> from muntin.aggregates import max
    >>> store = EagerStore(max("v"))
    >>> [store.append(v) for v in (3, 9, 4)]
    [0, 1, 2]
    >>> store.coalesce(1); store.remove_up_to(2); store.merge(2), len(store)
    (4, 1)
    """

    def _start(self) -> None:
        super()._start()
        self._numbers: deque[int] = deque()
        self._joined: set[int] = set()
        self._next = 0

    def append(self, partial: object) -> int:
        if self._count == self._slots:
            self._make_room()
        self._put((self._front + self._count) % self._slots, partial)
        self._count += 1
        self._numbers.append(self._next)
        self._next += 1
        return self._next - 1

    def _make_room(self) -> None:
        """Drop the empty places of joined slices if they are many, else double."""
        if 2 * len(self._joined) < self._count:
            self._build(2 * self._slots, self._values())
            return
        each = zip(self._numbers, self._values(), strict=True)
        live = [(n, v) for n, v in each if n not in self._joined]
        self._numbers, self._joined = deque(n for n, _ in live), set()
        self._build(self._slots, [v for _, v in live])

    def merge(self, start: int) -> object:
        low = _place(self._numbers, start)
        return fold(self.monoid, self._span(low, self._count - low))

    def remove_up_to(self, number: int) -> None:
        gone = 0
        while self._numbers and self._numbers[0] < number:
            self._joined.discard(self._numbers.popleft())
            gone += 1
        self._front = (self._front + gone) % self._slots
        self._count -= gone
        while 4 * self._count <= self._slots and self._slots > self._least:
            self._build(max(self._slots // 2, self._least), self._values())

    def coalesce(self, number: int) -> None:
        """The slice's place stays, with the identity in it, until room is needed."""
        place = _place(self._numbers, number)
        own, older = self._leaf(place), self._leaf(self._live_before(place))
        joined = self.monoid.combine(self._tree[older], self._tree[own])
        self._put(own - self._leaves, self.monoid.identity)
        self._put(older - self._leaves, joined)
        self._joined.add(number)

    def extend_newest(self, partial: object) -> None:
        newest = self._leaf(self._live_before(self._count))
        self._put(newest - self._leaves, self.monoid.combine(self._tree[newest], partial))

    def _live_before(self, place: int) -> int:
        place -= 1
        while self._numbers[place] in self._joined:
            place -= 1
        return place

    def _leaf(self, place: int) -> int:
        return self._leaves + (self._front + place) % self._slots

    def __len__(self) -> int:
        return self._count - len(self._joined)

    @property
    def space(self) -> int:
        """How many partials the tree has room for: leaves and inner nodes."""
        return 2 * self._leaves - 1


STORES: dict[str, type[LazyStore] | type[EagerStore]] = {"lazy": LazyStore, "eager": EagerStore}


def _place(numbers: deque[int], number: int) -> int:
    """Where a slice is: numbers rise, by one where nothing was coalesced."""
    if numbers and numbers[-1] - numbers[0] == len(numbers) - 1:
        return number - numbers[0]
    return bisect_left(numbers, number)

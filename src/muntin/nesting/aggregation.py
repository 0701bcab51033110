"""Aggregates over nested windows: each granule of a group is made once and moves up the stairs.

order  by time      needs  a monoid, which need not commute
time   for each granule an amortised constant number of combines a stair, and one combine more for
each window that fires      space  the granules of the widest window, and the buffers

A granule is the partial of the records between two cuts. On stair k the cuts are where instances of
its own and all wider windows begin: granules that came from below are merged when they settle, so
that the higher, the fewer and the coarser they are (section 4 of the subsumption paper,
Aggregation; Figure 8). The paper takes granules of slide_k units, which presumes that ranges are
multiples of slides; cuts serve all. A core is a first-in-first-out queue with two stacks, so that
nothing is ever subtracted: floats stay exact after an infinity has left. W_k's answer is that of
the stair below with the core of stair k before it: narrower windows are shared as they are.

A window that is registered later is answered from granules that were cut for others. An instance
that begins within one of them, after its first record and at or before its last, is *torn*, and is
not answered; all others are exact.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from muntin.aggregates import Aggregate
from muntin.incremental import Monoid, TwoStacks
from muntin.incremental.protocol import monoid_of
from muntin.model.windows import Window
from muntin.nesting.operator import Nested, Run
from muntin.nesting.stairs import Stair, Stairs
from muntin.plan.slicing.cuts import Cut, begins, cut_everywhere

Granule = tuple[int, int, object]
"""The times of its first and its last record, and the partial of all."""


class Answer(NamedTuple):
    """The aggregate of one instance."""

    window_id: str
    start: int
    end: int
    value: Any


class AggregateStair(Stair[Granule]):
    """Granules in order, with the aggregate of the core at hand."""

    def __init__(self, window: Window, monoid: Monoid) -> None:
        super().__init__(window)
        self._cuts: tuple[Cut, ...] = (begins(window),)
        self._combine = monoid.combine
        self.buffer: list[Granule] = []
        self.core: deque[Granule] = deque()
        self._total = TwoStacks(monoid)
        self._until = 0

    def add(self, item: Granule) -> None:
        begin, last, partial = item
        if self.buffer and begin < self._until:
            first, _, held = self.buffer[-1]
            self.buffer[-1] = (first, last, self._combine(held, partial))
            return
        self.buffer.append(item)
        self._until = self._next_cut(begin)

    def cut_at(self, cuts: tuple[Cut, ...]) -> None:
        """Cut granules here from now on; one that is open ends earlier where it must."""
        self._cuts = cuts
        if self.buffer:
            self._until = self._next_cut(self.buffer[-1][0])

    def _next_cut(self, begin: int) -> int:
        return min(cut.before(begin) + cut.step for cut in self._cuts)

    def settle(self, before: int) -> Iterable[Granule]:
        for granule in self.buffer:
            self.core.append(granule)
            self._total.push(granule[2])
        self.buffer.clear()
        leaving = []
        while self.core and self.core[0][0] < before:
            leaving.append(self.core.popleft())
            self._total.evict()
        return leaving

    def held(self) -> list[Granule]:
        return [*self.core, *self.buffer]

    def clear(self) -> None:
        self.core.clear()
        self.buffer.clear()
        while len(self._total):
            self._total.evict()

    def refill(self, items: Iterable[Granule]) -> None:
        """As they are: merged they would lose the cuts that wider windows need."""
        self.buffer.extend(items)

    def total(self) -> object:
        """The partial of the core."""
        return self._total.whole()


class NestedAggregate(Nested[AggregateStair, Answer]):
    """One aggregate over many windows; instances without a record have no answer.

    >>> from muntin.aggregates import sum
    >>> sums = NestedAggregate(sum("v"), [Window(4, 2, id="four"), Window(6, 2, id="six")])
    >>> for time, value in enumerate([1, 10, 100, 1000]):
    ...     for answer in sums.insert(time, value): print(*answer)
    four -2 2 11
    six -4 2 11
    >>> for answer in sums.advance(6): print(*answer)
    four 0 4 1111
    six -2 4 1111
    four 2 6 1100
    six 0 6 1111
    """

    def __init__(
        self,
        aggregate: Aggregate | Monoid,
        windows: Iterable[Window] = (),
        grouping: str = "greedy",
    ) -> None:
        self.monoid = monoid_of(aggregate)
        super().__init__(windows, grouping)

    def insert(self, time: int, value: object) -> list[Answer]:
        """A record; the answers of all instances that end at or before its time."""
        return self._insert(time, (time, time, self.monoid.lift(value)))

    def _make_stair(self, window: Window) -> AggregateStair:
        return AggregateStair(window, self.monoid)

    def _cut_levels(self, stairs: Stairs[AggregateStair]) -> None:
        wider: list[Window] = []
        for step in reversed(stairs.steps):
            wider.append(step.window)
            step.cut_at(cut_everywhere(map(begins, wider)).cuts)

    def _torn(self, run: Run[AggregateStair], window: Window) -> Iterator[int]:
        for first, last, _ in run.stairs.held():
            after = first + 1
            yield from range(after + (window.offset - after) % window.slide, last + 1, window.slide)

    def _answer(
        self, run: Run[AggregateStair], fired: Sequence[Sequence[AggregateStair]], instant: int
    ) -> Iterator[Answer]:
        whole, some = self.monoid.identity, False
        for step in fired[0]:
            if len(step):
                whole = self.monoid.combine(step.total(), whole) if some else step.total()
                some = True
            if not some:
                continue
            value = self.monoid.lower(whole)
            for window in run.firing(step.window.range, instant):
                yield Answer(window.id, instant - window.range, instant, value)

"""Duplicate elimination over nested windows: the most recent appearance of each item is kept.

order  by time      needs  hashable items      time  O(1) for each appearance and stair
space  the distinct items of the widest window, the buffers, and phantoms until they are reported

An item that appears again replaces its older appearance on the lowest stair only. Upper stairs are
not searched: an older appearance there is a *phantom*, which is removed when it is met in a report,
or replaced when the newer one climbs up to it (section 4 of the subsumption paper, Duplicate
elimination; Figure 9). A report runs from the lowest stair upwards, so that the items of each
window that fires are the first so many of those of the widest one: they are enumerated once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

from muntin.model.windows import Window
from muntin.nesting.operator import Nested, Run
from muntin.nesting.stairs import Stair

Appearance = tuple[Hashable, int]
"""An item, and when it appeared."""


class Seen(NamedTuple):
    """An item, when it appeared last, and the smallest window of the group that holds it.

    Every instance of that window that ends after `last` and at or before `expires` holds it.
    """

    item: Hashable
    last: int
    window_id: str
    expires: int


@dataclass(frozen=True, slots=True)
class Report:
    """The distinct items of all windows of a group that end at one instant."""

    end: int
    items: tuple[Seen, ...]
    counts: dict[str, int]
    """How many of the items each window holds: it holds the first ones."""

    def of(self, window_id: str) -> list[Hashable]:
        """The distinct items of one window."""
        return [seen.item for seen in self.items[: self.counts[window_id]]]


class DistinctStair(Stair[Appearance]):
    """Items by their most recent appearance, oldest first."""

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self.buffer: dict[Hashable, int] = {}
        self.core: dict[Hashable, int] = {}

    def add(self, item: Appearance) -> None:
        _put(self.buffer, *item)

    def settle(self, before: int) -> Iterable[Appearance]:
        for item, time in self.buffer.items():
            _put(self.core, item, time)
        self.buffer.clear()
        leaving = list(takewhile(lambda appearance: appearance[1] < before, self.core.items()))
        for item, _ in leaving:
            del self.core[item]
        return leaving

    def held(self) -> list[Appearance]:
        return [*self.core.items(), *self.buffer.items()]

    def clear(self) -> None:
        self.core.clear()
        self.buffer.clear()


def _put(held: dict[Hashable, int], item: Hashable, time: int) -> None:
    """Newest last: a dictionary keeps the place of a key, so it must leave before it comes back."""
    held.pop(item, None)
    held[item] = time


class NestedDistinct(Nested[DistinctStair, Report]):
    """The distinct items of many windows; one report for each group and instant.

    >>> words = NestedDistinct([Window(2, 2, id="two"), Window(6, 2, id="six")])
    >>> for time, word in enumerate(["a", "b", "a", "c"]): _ = words.insert(time, word)
    >>> [report] = words.advance(5)
    >>> report.of("two"), report.of("six")
    (['c', 'a'], ['c', 'a', 'b'])
    >>> report.items[2]
    Seen(item='b', last=1, window_id='six', expires=7)
    """

    def insert(self, time: int, item: Hashable) -> list[Report]:
        """An item appears; the reports of all instances that end at or before that time."""
        return self._insert(time, (item, time))

    def _make_stair(self, window: Window) -> DistinctStair:
        return DistinctStair(window)

    def _answer(
        self, run: Run[DistinctStair], fired: Sequence[Sequence[DistinctStair]], instant: int
    ) -> Iterator[Report]:
        items: list[Seen] = []
        met: set[Hashable] = set()
        counts: dict[str, int] = {}
        for step in fired[0]:
            window, phantoms = step.window, []
            for item, time in reversed(step.core.items()):
                if item in met:
                    phantoms.append(item)
                    continue
                met.add(item)
                items.append(Seen(item, time, window.id, time + window.range))
            for item in phantoms:
                del step.core[item]
            if items:
                for holder in run.firing(window.range, instant):
                    counts[holder.id] = len(items)
        if counts:
            yield Report(instant, tuple(items[: max(counts.values())]), counts)

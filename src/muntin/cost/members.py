"""The windows of one tree, by the figures that decide what they cost on its slices.

A `Final` is that cost in closed form, with bounds on the cost of trees that are not yet merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from muntin.cost.arrays import Floats, Ints
from muntin.model.windows import Window
from muntin.plan.coverage import EdgeKind
from muntin.plan.slicing import Slices


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """The windows of a tree, by the figures that decide their cost.

    >>> members = Members.of([Window(6, 2), Window(8, 4), Window(6, 3)])
    >>> members.overlap, members.count, members.ranges.tolist(), members.times.tolist()
    (7.0, 3, [6, 8], [2, 1])
    """

    overlap: float
    count: int
    ranges: Ints
    times: Ints
    windows: tuple[Window, ...] = ()
    open: frozenset[Window] = frozenset()
    """Those that read an open slice."""

    @staticmethod
    def of(windows: Sequence[Window], kinds: Sequence[EdgeKind] = ()) -> Members:
        """The figures of these windows; without kinds, all take slices whole."""
        lengths, times = np.unique([w.range for w in windows], return_counts=True)
        overlap = sum(w.overlap for w in windows)
        pairs = zip(windows, kinds, strict=True) if kinds else ()
        opened = frozenset(window for window, kind in pairs if kind is EdgeKind.PREFIX)
        return Members(overlap, len(windows), lengths, times, tuple(windows), opened)

    @property
    def whole(self) -> Ints:
        """The different ranges of the windows that take all slices whole."""
        if not self.open:
            return self.ranges
        return np.unique([w.range for w in self.windows if w not in self.open]).astype(np.int64)

    def join(self, other: Members) -> Members:
        lengths, place = np.unique(np.concatenate([self.ranges, other.ranges]), return_inverse=True)
        times = np.bincount(place, np.concatenate([self.times, other.times])).astype(np.int64)
        return Members(
            self.overlap + other.overlap,
            self.count + other.count,
            lengths,
            times,
            self.windows + other.windows,
            self.open | other.open,
        )


class Final(Protocol):
    """The final cost of trees under one cost model; `edges` are per unit of windows' numbers."""

    def cost(self, edges: float, members: Members, slices: Slices) -> float:
        """What the windows cost on slices with so many edges."""

    def bound(self, low: Floats, high: Floats, one: Members, others: Sequence[Members]) -> Floats:
        """A lower bound on what `one` costs with each of the others, on `low` to `high` edges."""

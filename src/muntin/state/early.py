"""Early instances: those of a window that joined later which slices cut for others make whole.

A state holds slices of several cuttings, each with the instant by which all its rows had passed. An
instance [start, end) of a new window is made whole by them if every cutting that reaches into it,

    is cut at `start`, and at `end` too, unless all its rows came before

The other instances before the window is complete are never emitted: a slice lies across their edge.
The begins of those that are emitted are kept as arithmetic progressions. Neither what is looked at
nor what is kept grows with the number of cuts: where there are too many, the oldest are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from muntin.kernels.monoids import Array
from muntin.model.windows import Window
from muntin.plan.slicing import Slices

Cutting = tuple[int, Slices]
"""Until when slices of a cutting may stand, and the slices."""
Progression = tuple[int, int, int]
"""Its first begin, the step, and how many there are."""

LOOKED_AT = 20_000
"""Instances before a window is complete that are looked at: the newest."""
KEPT = 64
"""Progressions of begins that are kept: the newest."""


@dataclass(frozen=True, slots=True)
class Early:
    """The begins of a window's early instances, oldest first."""

    begins: tuple[Progression, ...] = ()

    @staticmethod
    def find(window: Window, first: int, complete: int, cuttings: Sequence[Cutting]) -> Early:
        """The instances that begin in [first, complete) and that these cuttings make whole.

        >>> from muntin.plan.slicing import panes
        >>> Early.find(Window(21, 3), 81, 102, [(100, panes(Window(30, 6)))])
        Early(begins=((84, 6, 3),))
        """
        low = first + (window.offset - first) % window.slide
        low = max(low, complete - LOOKED_AT * window.slide)
        start = np.arange(low, complete, window.slide, dtype=np.int64)
        for until, slices in cuttings:
            end = start + window.range
            whole = _cut(slices, start) & ((end >= until) | _cut(slices, end))
            start = start[whole | (start >= until)]
        return Early(tuple(_progressions(start.tolist())[-KEPT:]))

    @property
    def first(self) -> int | None:
        """The begin of the oldest one."""
        return self.begins[0][0] if self.begins else None

    def first_from(self, instant: int) -> int | None:
        """The begin of the oldest one that begins at an instant or later."""
        for first, step, count in self.begins:
            begin = max(first, instant + (first - instant) % step)
            if begin < first + step * count:
                return begin
        return None

    def holds(self, start: Array) -> Array:
        """Which of these begins are of early instances.

        >>> Early(((84, 6, 3), (99, 1, 1))).holds(np.arange(84, 103, 3)).tolist()
        [True, False, True, False, True, True, False]
        """
        found = np.zeros(len(start), dtype=np.bool_)
        for first, step, count in self.begins:
            turn, rest = np.divmod(start - first, step)
            found |= (rest == 0) & (turn >= 0) & (turn < count)
        return found


NO_EARLY = Early()


def _cut(slices: Slices, instant: Array) -> Array:
    """At which of these instants the slices are cut."""
    at = [(instant - cut.phase) % cut.step == 0 for cut in slices.cuts]
    return np.asarray(np.logical_or.reduce(at))


def _progressions(begins: list[int]) -> list[Progression]:
    """Begins in order, as few progressions as follow from left to right."""
    found: list[Progression] = []
    for begin in begins:
        first, step, count = found[-1] if found else (begin, 1, 0)
        if count == 1:
            found[-1] = (first, begin - first, 2)
        elif count and begin == first + step * count:
            found[-1] = (first, step, count + 1)
        else:
            found.append((begin, 1, 1))
    return found

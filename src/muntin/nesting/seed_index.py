"""Groups by the slide and phase of their seeds: where a new window is worth trying.

time  O(s) vectorised for s different seed slides, plus the groups that match      space  O(groups)

Line 32 of Algorithm 1: only groups whose seed slide divides the window's, or is divided by it, in
descending order. A group whose seed fires at other phases cannot take the window either, so phases
are part of the key. Among equal slides the oldest group comes first.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator

import numpy as np

from muntin.model.windows import Window
from muntin.nesting.groups import Group
from muntin.plan.slicing.cuts import Cut, ends


class SeedIndex:
    """Groups by where their seeds fire."""

    def __init__(self) -> None:
        self._phases: dict[int, dict[int, dict[int, Group]]] = {}
        self._slides: list[int] = []
        self._array = np.empty(0, dtype=np.int64)
        self._stale = False

    def add(self, group: Group) -> None:
        """Enter a group under its present seed."""
        key = ends(group.seed)
        if key.step not in self._phases:
            self._phases[key.step] = {}
            insort(self._slides, key.step)
            self._stale = True
        self._phases[key.step].setdefault(key.phase, {})[group.number] = group

    def remove(self, group: Group, key: Cut) -> None:
        """Take a group out from under the seed it was entered with."""
        phases = self._phases[key.step]
        del phases[key.phase][group.number]
        if not phases[key.phase]:
            del phases[key.phase]
        if not phases:
            del self._phases[key.step]
            del self._slides[bisect_left(self._slides, key.step)]
            self._stale = True

    def candidates(self, window: Window) -> Iterator[Group]:
        """The groups that may take the window, by descending seed slide."""
        if self._stale:
            self._array, self._stale = np.array(self._slides, dtype=np.int64), False
        related = (window.slide % self._array == 0) | (self._array % window.slide == 0)
        phase = ends(window).phase
        for slide in self._array[related][::-1].tolist():
            step = min(slide, window.slide)
            same = [
                group
                for own, groups in self._phases[slide].items()
                if (own - phase) % step == 0
                for group in groups.values()
            ]
            yield from sorted(same, key=lambda group: group.number)

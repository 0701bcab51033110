"""Groups: windows nested in each other like matryoshkas, held by one stairwise structure.

W_i is *subsumable* under W_j if W_j fires only when W_i does and is at least as wide, so that at
each instant at which both fire the records of W_i are the newest of those of W_j (Definition 1 of
the subsumption paper). The paper aligns the ends of all windows, Spark their starts; so besides

    slide_j mod slide_i = 0      range_j ≥ range_i

the ends must fall together: (offset_j + range_j - offset_i - range_i) mod slide_i = 0.

A group is a sequence of *levels*, ranges growing strictly, each subsumable under the next. The
first is the seed, the others enclose it. A window with the range of a level that fires at some of
its instants is *piggybacked*: it has no state, it takes every q-th answer of that level.

Where the paper's Algorithm 1 is silent or wrong, the sequence is kept:

* `embedWindow` puts W_k before a wider W_m when slide_k divides slide_m, without a look at the
  level below: W(6, 2) between W(4, 4) and W(8, 4) would fire where W(4, 4) does not. Both sides are
  tested here.
* Its other branch there, "subsume existing W_m under W_k", can never hold: W_m is the wider one.
* A finer window with the range of a level (W(8, 2) where W(8, 4) stands) takes its place if it fits
  on the level below, and the old one is piggybacked.
* A piggybacked window that takes over from a suspended one slides less often, and need not divide
  the slide of the next level, nor those of the others piggybacked there. The one with the smallest
  slide *that fits* takes over; those left without a place are registered anew.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field

from muntin.model.windows import Window


def subsumable(narrow: Window, wide: Window) -> bool:
    """Definition 1 with Spark's alignment: `narrow` is nested in `wide` whenever that one fires.

    >>> subsumable(Window(4, 2), Window(10, 4)), subsumable(Window(5, 2), Window(10, 4))
    (True, False)
    >>> subsumable(Window(5, 2, 1), Window(10, 4))
    True
    """
    gap = wide.range - narrow.range
    if gap < 0 or wide.slide % narrow.slide:
        return False
    return (gap + wide.offset - narrow.offset) % narrow.slide == 0


@dataclass(eq=False, slots=True)
class Level:
    """A window with state, and those that take its answers, by id."""

    window: Window
    piggybacked: dict[str, Window] = field(default_factory=dict)

    def windows(self) -> Iterator[Window]:
        """The level's own window, then those piggybacked on it."""
        yield self.window
        yield from self.piggybacked.values()

    def __str__(self) -> str:
        riders = (f"{w} ×{w.slide // self.window.slide}" for w in self.piggybacked.values())
        return " ".join([str(self.window), *(f"[{rider}]" for rider in riders)])


@dataclass(eq=False, slots=True)
class Group:
    """Levels by growing range, each subsumable under the next; two groups are never equal.

    >>> group = Group([Level(Window(4, 2))])
    >>> for window in (Window(12, 4), Window(8, 2, id="eight"), Window(8, 4), Window(9, 2)):
    ...     _ = group.embed(window)
    >>> group
    <group W(4, 2) ⊂ W(8, 2) [W(8, 4) ×2] ⊂ W(12, 4)>
    """

    levels: list[Level]
    number: int = 0

    @property
    def seed(self) -> Window:
        """The narrowest window, which fires whenever any of the group does."""
        return self.levels[0].window

    @property
    def widest(self) -> Window:
        """The window whose state holds that of all others."""
        return self.levels[-1].window

    def windows(self) -> Iterator[Window]:
        """All members, narrowest first."""
        for level in self.levels:
            yield from level.windows()

    def embed(self, window: Window) -> Level | None:
        """Give the window its place, or None where it would break the sequence."""
        at = bisect_left(self.levels, window.range, key=lambda level: level.window.range)
        below = self.levels[at - 1].window if at else None
        above = self.levels[at] if at < len(self.levels) else None
        fits = below is None or subsumable(below, window)
        if above is not None and above.window.range == window.range:
            return self._same_range(above, window, fits)
        if not fits or (above is not None and not subsumable(window, above.window)):
            return None
        level = Level(window)
        self.levels.insert(at, level)
        return level

    @staticmethod
    def _same_range(level: Level, window: Window, fits: bool) -> Level | None:
        if subsumable(level.window, window):
            level.piggybacked[window.id] = window
            return level
        if fits and subsumable(window, level.window):
            level.piggybacked[level.window.id] = level.window
            level.window = window
            return level
        return None

    def withdraw(self, id: str, level: Level) -> list[Window]:
        """Take a member out; those piggybacked on it that have no place any more are returned."""
        if id in level.piggybacked:
            del level.piggybacked[id]
            return []
        at = self.levels.index(level)
        above = self.levels[at + 1].window if at + 1 < len(self.levels) else None
        orphans = sorted(level.piggybacked.values(), key=lambda w: w.slide)
        heir = next((w for w in orphans if above is None or subsumable(w, above)), None)
        if heir is None:
            del self.levels[at]
            return orphans
        level.window = heir
        level.piggybacked = {w.id: w for w in orphans if w is not heir and subsumable(heir, w)}
        return [w for w in orphans if w is not heir and w.id not in level.piggybacked]

    def __repr__(self) -> str:
        return f"<group {' ⊂ '.join(map(str, self.levels))}>"

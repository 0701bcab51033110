"""The window manager: windows come and go, and nest in as few groups as can be found quickly.

    subsume(windows)    group a fixed pool (SubsumeWindows)         register(window)   embedWindow
    suspend(window)     withdraw one; its place is taken or closed  regroup()          subsume anew

Every window registered is in exactly one group, as seed, enclosing or piggybacked (section 3 of the
subsumption paper; see `muntin.nesting.groups` for the invariant and for where the text is silent).
Windows are distinguished by id, so that many users may ask for the same window: equal ones are
piggybacked on each other with q = 1. Churn makes groups poorer than a fresh start would; the value
of an answer never depends on them, so `regroup` may be called at any time, or never.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from muntin.errors import StrategyError, WindowError, did_you_mean, is_one_of, shown, unknown
from muntin.model.windows import Window
from muntin.nesting.chains import fewest
from muntin.nesting.greedy import greedy
from muntin.nesting.groups import Group, Level
from muntin.nesting.picture import svg, text
from muntin.plan.slicing.cuts import Cut, ends

GROUPINGS = {"greedy": greedy, "minimum": fewest}
"""How a pool is grouped: the paper's way, or with the fewest groups."""


class WindowManager:
    """
    >>> manager = WindowManager([Window(4, 2), Window(24, 8), Window(32, 4)])
    >>> print(manager)
    3 windows in 2 groups
    1  slide 2  W(4, 2) ⊂ W(24, 8)
    2  slide 4  W(32, 4)
    >>> manager.register(Window(8, 8))
    <group W(4, 2) ⊂ W(8, 8) ⊂ W(24, 8)>
    >>> manager.suspend(Window(4, 2))
    >>> manager.role(Window(8, 8))
    'seed'
    """

    def __init__(self, windows: Iterable[Window] = (), grouping: str = "greedy") -> None:
        self.subsume(windows, grouping)

    def subsume(self, windows: Iterable[Window], grouping: str = "greedy") -> tuple[Group, ...]:
        """Group these windows; what was registered before is forgotten."""
        if not is_one_of(grouping, GROUPINGS):
            raise StrategyError(unknown("grouping", grouping, GROUPINGS))
        pool: dict[str, Window] = {}
        for window in windows:
            _refuse_strange(window, pool)
            pool[window.id] = window
        self._windows = pool
        self._groups: dict[int, Group] = {}
        self._where: dict[str, tuple[Group, Level]] = {}
        self._seeds = SeedIndex()
        for group in GROUPINGS[grouping](pool.values()):
            self._enter(group)
        self._next = len(self._groups)
        return self.groups

    def regroup(self, grouping: str = "greedy") -> tuple[Group, ...]:
        """Group all windows anew, as if they had been registered together."""
        return self.subsume(list(self._windows.values()), grouping)

    def register(self, window: Window) -> Group:
        """Embed a window into the first group that can take it, or make it the seed of a new one.

        Algorithm 1, lines 30 to 46: groups are tried by descending slide of their seeds.
        """
        _refuse_strange(window, self._windows)
        self._windows[window.id] = window
        return self._embed(window)

    def suspend(self, window: Window | str) -> None:
        """Withdraw a window, given by itself or by its id."""
        id = self._id(window)
        group, level = self._where.pop(id)
        del self._windows[id]
        key = ends(group.seed)
        orphans = group.withdraw(id, level)
        self._renew(group, key)
        for orphan in orphans:
            self._embed(orphan)

    # What can be read ---------------------------------------------------------------------

    @property
    def windows(self) -> tuple[Window, ...]:
        """All windows, in the order in which they were registered."""
        return tuple(self._windows.values())

    @property
    def groups(self) -> tuple[Group, ...]:
        """All groups, oldest first."""
        return tuple(self._groups.values())

    def window(self, window: Window | str) -> Window:
        """The window that was registered under this id."""
        return self._windows[self._id(window)]

    def group_of(self, window: Window | str) -> Group:
        return self._where[self._id(window)][0]

    def host_of(self, window: Window | str) -> Window:
        """The window whose state answers this one: itself, unless it is piggybacked."""
        return self._where[self._id(window)][1].window

    def role(self, window: Window | str) -> str:
        """ "seed", "enclosing" or "piggybacked"."""
        id = self._id(window)
        group, level = self._where[id]
        if level.window.id != id:
            return "piggybacked"
        return "seed" if group.seed.id == id else "enclosing"

    def to_svg(self) -> str:
        """The groups as a picture: windows by range and slide, as in the paper's Figure 7."""
        return svg(self.groups)

    def __len__(self) -> int:
        return len(self._windows)

    def __contains__(self, window: object) -> bool:
        return (window.id if isinstance(window, Window) else window) in self._windows

    def __repr__(self) -> str:
        return text(self.groups)

    # How it is done -----------------------------------------------------------------------

    def _embed(self, window: Window) -> Group:
        for group in self._seeds.candidates(window):
            key = ends(group.seed)
            level = group.embed(window)
            if level is not None:
                self._where[window.id] = (group, level)
                self._renew(group, key)
                return group
        group = Group([Level(window)], number=self._next)
        self._next += 1
        self._enter(group)
        return group

    def _enter(self, group: Group) -> None:
        self._groups[group.number] = group
        self._seeds.add(group)
        for level in group.levels:
            self._where.update((window.id, (group, level)) for window in level.windows())

    def _renew(self, group: Group, key: Cut) -> None:
        """Bring the index up to date with a group that may have another seed, or be empty."""
        if group.levels and ends(group.seed) == key:
            return
        self._seeds.remove(group, key)
        if group.levels:
            self._seeds.add(group)
        else:
            del self._groups[group.number]

    def _id(self, window: Window | str) -> str:
        id = window.id if isinstance(window, Window) else window
        if id not in self._where:
            hint = did_you_mean(id, self._where)
            raise WindowError(f"window {shown(id)} is not registered: {hint}")
        return id


class SeedIndex:
    """Groups by the slide and phase of their seeds: where a new window is worth trying.

    time  O(s) vectorised for s different seed slides, and the groups that match
    space  O(groups)

    Line 32 of Algorithm 1: only groups whose seed slide divides the window's, or is divided by it,
    in descending order. A group whose seed fires at other phases cannot take the window either, so
    phases are part of the key. Among equal slides the oldest group comes first.
    """

    def __init__(self) -> None:
        self._phases: dict[int, dict[int, dict[int, Group]]] = {}
        self._slides: NDArray[np.int64] | None = None

    def add(self, group: Group) -> None:
        """Enter a group under its present seed."""
        key = ends(group.seed)
        if key.step not in self._phases:
            self._phases[key.step], self._slides = {}, None
        self._phases[key.step].setdefault(key.phase, {})[group.number] = group

    def remove(self, group: Group, key: Cut) -> None:
        """Take a group out from under the seed it was entered with."""
        phases = self._phases[key.step]
        del phases[key.phase][group.number]
        if not phases[key.phase]:
            del phases[key.phase]
        if not phases:
            del self._phases[key.step]
            self._slides = None

    def candidates(self, window: Window) -> Iterator[Group]:
        """The groups that may take the window, by descending seed slide."""
        if self._slides is None:
            self._slides = np.array(sorted(self._phases, reverse=True), dtype=np.int64)
        related = (window.slide % self._slides == 0) | (self._slides % window.slide == 0)
        phase = ends(window).phase
        for slide in self._slides[related].tolist():
            step = min(slide, window.slide)
            same = [
                group
                for own, groups in self._phases[slide].items()
                if (own - phase) % step == 0
                for group in groups.values()
            ]
            yield from sorted(same, key=lambda group: group.number)


def _refuse_strange(window: object, known: dict[str, Window]) -> None:
    if not isinstance(window, Window):
        raise WindowError(f"{shown(window)} is not a window: use mt.hopping('1 hour', '5 minutes')")
    if window.id in known:
        raise WindowError(
            f"window id {window.id!r} is registered already: give this window an id of its own, "
            "such as mt.hopping('1 hour', '5 minutes', id='mine')"
        )

"""Nested: an operator over many windows that come and go, on the stairs of their groups.

The window manager decides who nests in whom; each group has its stairs. A window registered while
the stream runs is answered from the first instance that begins at or after that moment, whatever
group it enters, so that results never depend on history. Most changes keep the stairs (see
`muntin.nesting.stairs`). Where a window moves to another group (on `regroup`, or when it loses its
place to a suspension), the old stairs go on until they have answered every instance that began
before the move, and the new ones answer the rest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar, Generic, TypeVar

from muntin.errors import QueryError
from muntin.nesting.groups import Group
from muntin.nesting.manager import WindowManager
from muntin.nesting.stairs import AnyStair, Stairs
from muntin.slicing.cuts import ends
from muntin.windows import Window

Result = TypeVar("Result")


@dataclass(slots=True)
class Served:
    """A window, of which these stairs answer the instances that begin in [since, until)."""

    window: Window
    since: float
    until: float = inf

    def at(self, instant: int) -> bool:
        """Whether an instance that ends at the instant is answered here."""
        start = instant - self.window.range
        return self.since <= start < self.until and self.window.starts_at(start)


class Run(Generic[AnyStair]):
    """The stairs of a group (one for each input), and whom each level answers, by range."""

    def __init__(self, sides: Sequence[Stairs[AnyStair]]) -> None:
        self.sides = sides
        self.served: dict[int, list[Served]] = {}
        self.until = inf

    @property
    def stairs(self) -> Stairs[AnyStair]:
        """The stairs of an operator with one input."""
        return self.sides[0]

    def next_end(self, after: int) -> int:
        """The first instant later than `after` at which the seed fires."""
        return ends(self.stairs.windows[0]).before(after) + self.stairs.windows[0].slide

    def over(self, instant: int) -> bool:
        """Whether every instance that these stairs answer has ended."""
        return instant >= self.until + self.stairs.windows[-1].range

    def all_served(self) -> Iterator[Served]:
        """Everyone answered here."""
        for served in self.served.values():
            yield from served

    def __len__(self) -> int:
        return sum(map(len, self.sides))


class Nested(ABC, Generic[AnyStair, Result]):
    """What aggregation, duplicate elimination and join share: groups, stairs and the clock."""

    sides: ClassVar[int] = 1

    def __init__(self, windows: Iterable[Window] = (), grouping: str = "greedy") -> None:
        self.manager = WindowManager(windows, grouping)
        self._runs: dict[Group, Run[AnyStair]] = {}
        self._retiring: list[Run[AnyStair]] = []
        self._fired: int | None = None
        self._seen: int | None = None
        self._follow()

    # What an operator implements ----------------------------------------------------------

    @abstractmethod
    def _stair(self, window: Window) -> AnyStair:
        """A new stair."""

    @abstractmethod
    def _answers(
        self, run: Run[AnyStair], fired: Sequence[Sequence[AnyStair]], instant: int
    ) -> Iterator[Result]:
        """The results of the windows that fire at the instant."""

    def _changed(self, stairs: Stairs[AnyStair]) -> None:
        """The levels of these stairs are new."""

    # Windows come and go ------------------------------------------------------------------

    def register(self, window: Window) -> None:
        """Answer one more window, from its first instance that begins now or later."""
        self.manager.register(window)
        self._follow()

    def suspend(self, window: Window | str) -> None:
        """Answer a window no more."""
        self.manager.suspend(window)
        self._follow()

    def regroup(self, grouping: str = "greedy") -> None:
        """Group all windows anew; results stay as they would have been."""
        self.manager.regroup(grouping)
        self._follow()

    def _follow(self) -> None:
        """Bring the stairs in line with the manager's groups."""
        now: float = -inf if self._seen is None else self._seen
        groups = {group.number: group for group in self.manager.groups}
        before, self._runs = self._runs, {}
        for group, run in before.items():
            present = groups.get(group.number) is group
            here = {w.id for w in group.windows()} if present else set()
            moved = [s for s in run.all_served() if s.window.id in self.manager]
            if all(s.window.id in here for s in moved):
                if present:
                    self._runs[group] = run
            else:
                self._retire(run, moved, now)
        for group in groups.values():
            self._runs[group] = self._serving(group, self._runs.get(group), now)
        for run in self._retiring:
            self._forget_suspended(run)

    def _serving(self, group: Group, run: Run[AnyStair] | None, now: float) -> Run[AnyStair]:
        """The run of a group with its levels and members as they are now."""
        windows = [level.window for level in group.levels]
        if run is None:
            run = Run([Stairs(windows, self._stair) for _ in range(self.sides)])
        since = {s.window.id: s.since for s in run.all_served()}
        present = [window.id for window in run.stairs.windows]
        changed = not since or present != [window.id for window in windows]
        for stairs in run.sides if changed else ():
            stairs.follow(windows)
            self._changed(stairs)
        run.served = {
            level.window.range: [Served(w, since.get(w.id, now)) for w in level.windows()]
            for level in group.levels
        }
        return run

    def _retire(self, run: Run[AnyStair], moved: list[Served], now: float) -> None:
        if now == -inf:
            return  # no record has come: the new stairs answer everything
        run.until = now
        for served in moved:
            served.until = now
        self._retiring.append(run)

    def _forget_suspended(self, run: Run[AnyStair]) -> None:
        for served in run.served.values():
            served[:] = [s for s in served if s.window.id in self.manager]

    # Time passes --------------------------------------------------------------------------

    def advance(self, instant: int) -> list[Result]:
        """Let time pass to an instant; the results of all instances that end by then."""
        if self._fired is not None and instant < self._fired:
            raise QueryError(f"time runs backwards: {instant} after {self._fired}")
        results: list[Result] = []
        for run in (*self._runs.values(), *self._retiring):
            end = run.next_end(instant if self._fired is None else self._fired)
            while end <= instant and len(run):
                fired = [stairs.climb(end) for stairs in run.sides]
                results.extend(self._answers(run, fired, end))
                end = run.next_end(end)
        self._retiring = [run for run in self._retiring if not run.over(instant)]
        self._fired = instant
        self._seen = instant if self._seen is None else max(self._seen, instant)
        return results

    def _insert(self, time: int, item: Any, side: int = 0) -> list[Result]:
        results = self.advance(time)
        for run in (*self._runs.values(), *self._retiring):
            run.sides[side].add(item)
        self._seen = time + 1
        return results

    def __len__(self) -> int:
        """How many items all stairs hold."""
        return sum(len(run) for run in (*self._runs.values(), *self._retiring))

    @property
    def buffered(self) -> int:
        """How many of them wait in buffers between stairs."""
        runs = (*self._runs.values(), *self._retiring)
        return sum(stairs.buffered for run in runs for stairs in run.sides)

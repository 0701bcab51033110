"""Nested: an operator over many windows that come and go, on the stairs of their groups.

The window manager decides who nests in whom; each group has its stairs. A window registered while
the stream runs is answered at once from what its group retains: from its first instance that has
not ended and that the stairs hold whole. A window that no group can take begins with a copy of the
stairs that serve it best. Instances that begin at that moment or later are answered in any case;
older ones only where nothing of them is missing. So every answer equals that of a window that was
there from the beginning.

Most changes keep the stairs (see `muntin.nesting.stairs`). Where a window moves to another group
(on `regroup`, or when it loses its place to a suspension), the old stairs go on until they have
answered every instance that began before the move, and the new ones answer the rest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import ClassVar, Generic, TypeVar

from muntin.errors import QueryError
from muntin.model.windows import Window, first_open
from muntin.nesting.groups import Group
from muntin.nesting.manager import WindowManager
from muntin.nesting.stairs import AnyStair, Stairs
from muntin.plan.slicing.cuts import Cut, ends

Result = TypeVar("Result")


@dataclass(slots=True)
class Served:
    """A window, of which these stairs answer the instances that begin in [since, until).

    Those that begin at a `torn` instant are not answered: what was held did not end there.
    """

    window: Window
    since: float
    until: float = inf
    torn: frozenset[int] = frozenset()


class Run(Generic[AnyStair]):
    """The stairs of a group (one for each input), and whom each level answers.

    Those are kept by range, then by where they fire: of thousands of windows few fire elsewhere.
    """

    def __init__(self, sides: Sequence[Stairs[AnyStair]]) -> None:
        self.sides = sides
        self.served: dict[int, dict[Cut, list[Served]]] = {}
        self.until = inf
        self.due: int | None = None
        """When the seed fires next; None until a first record has come."""

    @property
    def stairs(self) -> Stairs[AnyStair]:
        """The stairs of an operator with one input."""
        return self.sides[0]

    def next_end(self, after: int) -> int:
        """The first instant later than `after` at which the seed fires."""
        cut = ends(self.stairs.steps[0].window)
        return cut.before(after) + cut.step

    def over(self, instant: int) -> bool:
        """Whether every instance that these stairs answer has ended."""
        return instant >= self.until + self.stairs.steps[-1].window.range

    def all_served(self) -> Iterator[Served]:
        """Everyone answered here."""
        for level in self.served.values():
            for served in level.values():
                yield from served

    def serve(self, members: Iterable[Served]) -> None:
        """Answer these and no others."""
        self.served = {}
        for each in members:
            self.serve_too(each)

    def serve_too(self, each: Served) -> None:
        """Answer one more window of a level that there is."""
        level = self.served.setdefault(each.window.range, {})
        level.setdefault(ends(each.window), []).append(each)

    def serve_no_more(self, window: Window) -> None:
        """Leave a window out."""
        members = self.served.get(window.range, {}).get(ends(window), [])
        members[:] = [each for each in members if each.window.id != window.id]

    def firing(self, range: int, instant: int) -> Iterator[Window]:
        """The windows of the level with this range that are answered at the instant."""
        start = instant - range
        for cut, members in self.served.get(range, {}).items():
            if (instant - cut.phase) % cut.step == 0:
                for served in members:
                    if served.since <= start < served.until and start not in served.torn:
                        yield served.window

    @property
    def whole_from(self) -> float:
        """The instant from which on nothing is missing."""
        return max(stairs.whole_from for stairs in self.sides)

    @property
    def idle(self) -> bool:
        """Whether nothing is held, so that nothing happens when windows fire."""
        return not any(len(step) for stairs in self.sides for step in stairs.steps)

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
        self._follow(self.manager.groups)

    # What an operator implements ----------------------------------------------------------

    @abstractmethod
    def _make_stair(self, window: Window) -> AnyStair:
        """A new stair."""

    @abstractmethod
    def _answer(
        self, run: Run[AnyStair], fired: Sequence[Sequence[AnyStair]], instant: int
    ) -> Iterator[Result]:
        """The results of the windows that fire at the instant."""

    def _cut_levels(self, stairs: Stairs[AnyStair]) -> None:
        """The levels of these stairs are new."""

    def _torn(self, run: Run[AnyStair], window: Window) -> Iterable[int]:
        """The begins of the window's instances that cannot be told from what is held."""
        return ()

    def _answer_now(self, run: Run[AnyStair], served: Served) -> list[Result]:
        """What is to be said of a new window at once, if anything: not when instances end."""
        return []

    # Windows come and go ------------------------------------------------------------------

    def register(self, window: Window) -> list[Result]:
        """Answer one more window, from its first instance that what is held makes whole.

        Answers come when instances end; what is said as records come, such as the pairs of a join,
        is returned for what is held already.
        """
        group = self.manager.register(window)
        run = self._runs.get(group)
        if run is None:
            run = self._copy_best(window)
        elif self.manager.role(window) == "piggybacked":
            return self._embed(run, window)
        self._runs[group] = run = self._run_of(group, run, self._now())
        run.serve_no_more(window)
        return self._embed(run, window)

    def _embed(self, run: Run[AnyStair], window: Window) -> list[Result]:
        served = self._reach(run, window)
        run.serve_too(served)
        return self._answer_now(run, served)

    def _reach(self, run: Run[AnyStair], window: Window) -> Served:
        """The window, with the instances that the run can answer."""
        if self._fired is None:
            return Served(window, -inf)
        since = max(first_open(window, self._fired), run.whole_from)
        torn = (begin for begin in self._torn(run, window) if begin >= since)
        return Served(window, since, torn=frozenset(torn))

    def _copy_best(self, window: Window) -> Run[AnyStair] | None:
        """New stairs for a window that no group takes, with what others hold of its instances."""

        def answered(run: Run[AnyStair]) -> float:
            served = self._reach(run, window)
            return (self._now() - served.since) // window.slide - len(served.torn)

        if self._fired is None or not self._runs:
            return None
        best = max(self._runs.values(), key=answered)
        copy = Run([self._stairs([window], stairs.whole_from) for stairs in best.sides])
        for mine, others in zip(copy.sides, best.sides, strict=True):
            mine.steps[0].refill(others.held())
        return copy

    def _stairs(self, windows: Sequence[Window], whole_from: float) -> Stairs[AnyStair]:
        return Stairs(windows, self._make_stair, whole_from)

    def suspend(self, window: Window | str) -> None:
        """Answer a window no more."""
        member, group = self.manager.window(window), self.manager.group_of(window)
        piggybacked = self.manager.role(window) == "piggybacked"
        beside = [w for w in group.windows() if w.range == member.range and w.id != member.id]
        self.manager.suspend(window)
        runs = self._retiring if not piggybacked else [*self._retiring, self._runs[group]]
        for run in runs:
            run.serve_no_more(member)
        if not piggybacked:
            self._follow(dict.fromkeys([group, *map(self.manager.group_of, beside)]))

    def regroup(self, grouping: str = "greedy") -> None:
        """Group all windows anew; results stay as they would have been."""
        self.manager.regroup(grouping)
        self._follow([*self._runs, *self.manager.groups])

    def _now(self) -> float:
        """The first instant of which no record has come yet."""
        return -inf if self._seen is None else self._seen

    def _follow(self, touched: Iterable[Group]) -> None:
        """Bring the stairs of these groups in line with the manager."""
        present = set(self.manager.groups)
        for group in touched:
            run = self._runs.pop(group, None)
            here = {w.id for w in group.windows()} if group in present else set()
            if run is not None:
                kept = [s for s in run.all_served() if s.window.id in self.manager]
                if not all(s.window.id in here for s in kept):
                    self._retire(run, kept)
                    run = None
            if group in present:
                self._runs[group] = self._run_of(group, run, self._now())

    def _run_of(self, group: Group, run: Run[AnyStair] | None, now: float) -> Run[AnyStair]:
        """The run of a group with its levels and members as they are now."""
        windows = [level.window for level in group.levels]
        if run is None:
            run = Run([self._stairs(windows, now) for _ in range(self.sides)])
        known = {served.window.id: served for served in run.all_served()}
        present = [window.id for window in run.stairs.windows]
        changed = not known or present != [window.id for window in windows]
        for stairs in run.sides if changed else ():
            stairs.follow(windows)
            self._cut_levels(stairs)
        run.due = None if self._fired is None else run.next_end(self._fired)
        run.serve(known.get(window.id) or Served(window, now) for window in group.windows())
        return run

    def _retire(self, run: Run[AnyStair], kept: list[Served]) -> None:
        """Let stairs answer the instances that have begun, and no others."""
        run.until = self._now()
        begun = [served for served in kept if served.since < run.until]
        for served in begun:
            served.until = run.until
        run.serve(begun)
        if begun and run.until > -inf:
            self._retiring.append(run)

    # Time passes --------------------------------------------------------------------------

    def begin(self, fired: int, seen: int) -> None:
        """Take up a stream that runs: answered up to `fired`, with all records before `seen`."""
        self._fired, self._seen = fired, seen

    @property
    def now(self) -> int | None:
        """The instant up to which answers have been given; None before the first record."""
        return self._fired

    def advance(self, instant: int) -> list[Result]:
        """Let time pass to an instant; the results of all instances that end by then."""
        if self._fired is not None and instant < self._fired:
            raise QueryError(f"time runs backwards: {instant} after {self._fired}")
        results: list[Result] = []
        if instant == self._fired:
            return results
        for run in (*self._runs.values(), *self._retiring):
            if run.due is None:
                run.due = run.next_end(instant)
            while run.due <= instant:
                if run.idle:
                    run.due = run.next_end(instant)
                    break
                fired = [stairs.climb(run.due) for stairs in run.sides]
                results.extend(self._answer(run, fired, run.due))
                run.due = run.next_end(run.due)
        self._retiring = [run for run in self._retiring if not run.over(instant)]
        self._fired = instant
        self._seen = instant if self._seen is None else max(self._seen, instant)
        return results

    def _insert(self, time: int, item: object, side: int = 0) -> list[Result]:
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

"""Join over nested windows: each tuple is probed once against all windows of the other stream.

order  by time      needs  an equality key
time   O(matches) a tuple and group, and O(1) for each tuple and stair
space  the tuples of the widest window of both streams, and the buffers

Two tuples meet in a window if an instance holds both. A tuple that comes in looks for its key on
the stairs of the other stream, from the seed outwards, newest first, and each match gives one
result: the pair, the windows in which it meets, and until when (section 4 of the subsumption paper,
Join). Each stream may have a window of its own; at which ends both hold the pair, the two times
tell (`muntin.nesting.joint`). Such windows nest by the wider of the two, whose ends are those of
both and more, and both streams keep what that one holds.

The paper lets a match on stair k count for all n - k wider windows. That holds at instants at which
they all fire. A wider window that slides less often may never hold a pair that a narrower one
holds: W(5, 5) ends at 5 and 10 and never sees 3 and 6 together, W(4, 1) does. So the first
end after both times is computed for each window.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import chain
from math import inf
from typing import Any, NamedTuple

from muntin.errors import QueryError
from muntin.model.windows import Window
from muntin.nesting.joint import JointWindow
from muntin.nesting.operator import Nested, Run, Served
from muntin.nesting.stairs import Stair

Row = tuple[int, Hashable, object]
"""Time, key, and the tuple itself."""


class Held(NamedTuple):
    """A window holds the pair in its instances that end from `first` to `expires`."""

    window_id: str
    first: int
    expires: int


class Pair(NamedTuple):
    """Two tuples that meet, and where: narrowest window first."""

    left: Any
    right: Any
    windows: tuple[Held, ...]


class _Rows:
    """Rows in order of time, and by key."""

    def __init__(self) -> None:
        self._rows: deque[Row] = deque()
        self._by_key: dict[Hashable, deque[Row]] = {}

    def append(self, row: Row) -> None:
        self._rows.append(row)
        self._by_key.setdefault(row[1], deque()).append(row)

    def leave(self, before: float) -> Iterator[Row]:
        """Drop what is older, oldest first."""
        while self._rows and self._rows[0][0] < before:
            row = self._rows.popleft()
            same = self._by_key[row[1]]
            same.popleft()
            if not same:
                del self._by_key[row[1]]
            yield row

    def newest_first(self, key: Hashable) -> Iterator[Row]:
        yield from reversed(self._by_key.get(key, ()))

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


class JoinStair(Stair[Row]):
    """Tuples in order, with an index by key."""

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self.buffer: _Rows = _Rows()
        self.core: _Rows = _Rows()

    def add(self, item: Row) -> None:
        self.buffer.append(item)

    def settle(self, before: int) -> Iterable[Row]:
        for row in self.buffer.leave(inf):
            self.core.append(row)
        return list(self.core.leave(before))

    def held(self) -> list[Row]:
        return [*self.core, *self.buffer]

    def clear(self) -> None:
        self.core, self.buffer = _Rows(), _Rows()

    def newest_first(self, key: Hashable) -> Iterator[Row]:
        """The tuples with this key."""
        yield from self.buffer.newest_first(key)
        yield from self.core.newest_first(key)


class NestedJoin(Nested[JoinStair, Pair]):
    """Pairs with equal keys of a left and a right stream, over many windows on both.

    A window is for both streams, or a pair: (window of the left, window of the right stream).
    `where` says which pairs with equal keys count.

    >>> pairs = NestedJoin([Window(2, 2, id="two"), Window(6, 2, id="six")], on=lambda row: row[0])
    >>> pairs.insert("left", 1, ("a", "l"))
    []
    >>> pairs.insert("right", 3, ("a", "r"))
    [Pair(left=('a', 'l'), right=('a', 'r'), windows=(Held(window_id='six', first=4, expires=6),))]
    >>> sides = (Window(8, 2, id="past"), Window(2, 2, id="now"))
    >>> late = NestedJoin([sides], on=lambda row: row % 2, where=lambda left, right: left < right)
    >>> _ = late.insert("left", 1, 5), late.insert("left", 2, 7)
    >>> late.insert("right", 7, 6), late.insert("right", 7, 9)
    ([], [Pair(left=7, right=9, windows=(Held(window_id='past & now', first=8, expires=8),)), \
Pair(left=5, right=9, windows=(Held(window_id='past & now', first=8, expires=8),))])
    """

    sides = 2
    _SIDES = ("left", "right")

    def __init__(
        self,
        windows: Iterable[Window | Sequence[Window]] = (),
        on: Callable[[Any], Hashable] = lambda row: row,
        grouping: str = "greedy",
        where: Callable[[Any, Any], bool] = lambda left, right: True,
    ) -> None:
        self._on, self._where = on, where
        pool = [JointWindow.of(each) for each in windows]
        self._joint = {joint.id: joint for joint in pool}
        super().__init__([_wider(joint) for joint in pool], grouping)

    def register(self, window: Window | Sequence[Window]) -> list[Pair]:
        """Answer one more window, or pair of windows; the pairs that it holds already."""
        joint = JointWindow.of(window)
        if joint.id not in self.manager:  # which otherwise refuses it
            self._joint[joint.id] = joint
        return super().register(_wider(joint))

    def suspend(self, window: Window | Sequence[Window] | str) -> None:
        """Answer a window, or a pair of windows, no more."""
        id = window if isinstance(window, str) else JointWindow.of(window).id
        super().suspend(id)
        del self._joint[id]

    def insert(self, side: str, time: int, row: object) -> list[Pair]:
        """A tuple of the "left" or "right" stream; its pairs with earlier ones of the other."""
        if side not in self._SIDES:
            raise QueryError(f"side {side!r} must be 'left' or 'right'")
        mine = self._SIDES.index(side)
        key = self._on(row)
        self._insert(time, (time, key, row), mine)
        found: list[Pair] = []
        for run in (*self._runs.values(), *self._retiring):
            steps = run.sides[1 - mine].steps
            for other_time, _, other in chain.from_iterable(s.newest_first(key) for s in steps):
                pair = (row, other) if mine == 0 else (other, row)
                times = (time, other_time) if mine == 0 else (other_time, time)
                windows = tuple(self._held(run.all_served(), *times))
                if windows and self._where(*pair):
                    found.append(Pair(*pair, windows))
        return found

    def _held(self, members: Iterable[Served], left: int, right: int) -> Iterator[Held]:
        """Those of these windows that hold tuples of these times."""
        for served in members:
            held = _ends_of(served, self._joint[served.window.id], left, right)
            if held is not None:
                yield Held(served.window.id, *held)

    def _make_stair(self, window: Window) -> JoinStair:
        return JoinStair(window)

    def _answer_now(self, run: Run[JoinStair], served: Served) -> list[Pair]:
        """The pairs that met before the window was there, and that its open instances hold."""
        found: list[Pair] = []
        left, right = (stairs.held() for stairs in run.sides)
        others: dict[Hashable, list[Row]] = {}
        for row in right:
            others.setdefault(row[1], []).append(row)
        for time, key, row in left:
            for other_time, _, other in others.get(key, ()):
                windows = tuple(self._held([served], time, other_time))
                if windows and self._where(row, other):
                    found.append(Pair(row, other, windows))
        return found

    def _answer(
        self, run: Run[JoinStair], fired: Sequence[Sequence[JoinStair]], instant: int
    ) -> Iterator[Pair]:
        yield from ()  # a pair is reported when its later tuple comes


def _wider(joint: JointWindow) -> Window:
    """The wider window of the two, under the id of both: it ends whenever both do."""
    wide = max(joint.left, joint.right, key=lambda window: window.range)
    return Window(wide.range, wide.slide, wide.offset, joint.id)


def _ends_of(served: Served, joint: JointWindow, left: int, right: int) -> tuple[int, int] | None:
    """The first and the last end at which the windows hold both, of instances answered here."""
    held = joint.held(left, right)
    if held is None:
        return None
    first, last = held
    span = served.window.range - 1
    if served.since > -inf:
        first = max(first, joint.ends.before(int(served.since) + span) + joint.ends.step)
    if served.until < inf:
        last = min(last, joint.ends.before(int(served.until) + span))
    return (first, last) if first <= last else None

"""The shared discretizer: many window functions over one key's records, as one marked stream.

    record ↦ (record, windows that end before it, windows that begin with it)      section 5.1

It numbers windows, keeps which are open for each function, asks for time-outs before every record,
and holds the functions to their contract: ends only of open windows, declared bounds that never go
back (FIFO), a limit to the windows that are open. What a function raises is reported with its name
and the record. A function is shown each record once, so it may remember what it likes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from muntin.data_windows.protocol import NOTHING, Marks, Record, WindowFunction, shorten
from muntin.errors import UserWindowError
from muntin.model.data_windows import OPEN_LIMIT

Bounds = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Begun:
    """A window that begins: its number, its function, its first record's time."""

    number: int
    function: int
    first: int
    bounds: Bounds | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """A window that ended, with its bounds."""

    number: int
    function: int
    start: int
    end: int


@dataclass(slots=True)
class Track:
    """One function, what it may do, and its open windows, oldest first."""

    function: WindowFunction
    name: str
    limit: int = OPEN_LIMIT
    incomplete: bool = False
    open: deque[Begun] = field(default_factory=deque)
    declared: Bounds | None = None


class Discretizer:
    """
    >>> from muntin.data_windows.window_functions import SessionFunction
    >>> discretizer = Discretizer([SessionFunction(5)])
    >>> for time in (0, 3, 20):
    ...     ended, begun = discretizer.record(time, {})
    ...     print(time, [(e.start, e.end) for e in ended], [b.number for b in begun])
    0 [] [0]
    3 [] []
    20 [(0, 8)] [1]
    """

    def __init__(self, functions: Sequence[WindowFunction | Track]) -> None:
        self._tracks = [
            f if isinstance(f, Track) else Track(f, type(f).__name__, incomplete=f.incomplete)
            for f in functions
        ]
        self._next = 0
        self._last: int | None = None

    def record(self, time: int, record: Record) -> tuple[list[Ended], list[Begun]]:
        """The windows that end before the record, and those that begin with it."""
        if self._last is not None and time < self._last:
            raise UserWindowError(
                f"record {shorten(dict(record))} of time {time} comes after one of time "
                f"{self._last}: sort the records of a key by time"
            )
        ended: list[Ended] = []
        begun: list[Begun] = []
        for i, track in enumerate(self._tracks):
            try:
                if track.open:
                    ended += self._time_out(i, track, time, record)
                said = track.function.mark(time, record)
            except UserWindowError:
                raise
            except Exception as error:
                raise _failure(track, error, time, record) from error
            if said is NOTHING:
                continue
            marks = _check_marks(track, said, time, record)
            if marks.ends:
                ended += self._end(i, track, marks.ends, time, record)
            if marks.begins:
                begun += self._begin(i, track, marks, time, record)
        self._last = time
        return ended, begun

    def advance(self, time: int) -> list[Ended]:
        """The windows that end because no record before `time` will come."""
        ended: list[Ended] = []
        for i, track in enumerate(self._tracks):
            try:
                ended += self._time_out(i, track, time, {})
            except UserWindowError:
                raise
            except Exception as error:
                raise _failure(track, error, time, {}) from error
        return ended

    def resume(self, open: Sequence[Begun], declared: Bounds | None, last: int | None) -> None:
        """Go on with the first function where another discretizer paused.

        Its open windows are numbered from 0, and `last` is the time of the last record.
        """
        self._tracks[0].open.extend(open)
        self._tracks[0].declared = None if declared is None else (declared[0], declared[1])
        self._next, self._last = len(open), last

    def pause(self) -> tuple[list[Begun], Bounds | None, int | None]:
        """What the first function leaves: its open windows, the last bounds, the time-out."""
        track = self._tracks[0]
        due = track.function.timeout() if track.open else None
        return list(track.open), track.declared, due

    def finish(self) -> list[Ended]:
        """No record will come any more: time-outs are due, and what is left may be incomplete."""
        ended: list[Ended] = []
        for i, track in enumerate(self._tracks):
            while track.open and track.function.timeout() is not None:
                ended += self._end(i, track, track.function.timed_out(), self._last, {})
            if track.incomplete:
                ended += self._end(i, track, len(track.open), self._last, {})
            track.open.clear()
        return ended

    def _time_out(self, i: int, track: Track, time: int, record: Record) -> Iterable[Ended]:
        while track.open:
            due = track.function.timeout()
            if due is None or due > time:
                return
            yield from self._end(i, track, track.function.timed_out(), time, record)

    def _end(
        self, i: int, track: Track, count: int, time: int | None, record: Record
    ) -> Iterable[Ended]:
        if count > len(track.open):
            raise UserWindowError(
                f"window function {track.name!r} ends {count} windows at {_at(time, record)}, "
                f"but {len(track.open)} are open: an end needs a begin before it"
            )
        for _ in range(count):
            begun = track.open.popleft()
            assert self._last is not None, "an open window has a record"
            start, end = begun.bounds or track.function.bounds(begun.first, self._last)
            yield Ended(begun.number, i, start, end)

    def _begin(
        self, i: int, track: Track, marks: Marks, time: int, record: Record
    ) -> Iterable[Begun]:
        for k in range(marks.begins):
            bounds = marks.bounds[k] if marks.bounds else None
            if bounds is not None:
                known = track.declared
                if known and (bounds[0] < known[0] or bounds[1] < known[1]):
                    raise UserWindowError(
                        f"window function {track.name!r} declares {list(bounds)} after "
                        f"{list(known)} at {_at(time, record)}: windows must begin and end in "
                        "the same order (first in, first out)"
                    )
                track.declared = bounds
            begun = Begun(self._next, i, time, bounds)
            self._next += 1
            track.open.append(begun)
            yield begun
        if len(track.open) > track.limit:
            raise UserWindowError(
                f"window function {track.name!r} has {len(track.open)} open windows at "
                f"{_at(time, record)}, above its limit of {track.limit}: end them, or raise the "
                "limit with mt.user_window(..., limit=...)"
            )


def _check_marks(track: Track, said: object, time: int, record: Record) -> Marks:
    """What a function said, as marks, if that is what it is."""
    marks = said if isinstance(said, Marks) else None
    if isinstance(said, tuple) and len(said) == 2:
        marks = Marks(*said)
    if marks is None or any(not isinstance(n, int) or n < 0 for n in (marks.ends, marks.begins)):
        raise UserWindowError(
            f"window function {track.name!r} said {said!r} at {_at(time, record)}: "
            "say how many windows end before the record and how many begin, such as (0, 1)"
        )
    if marks.bounds and len(marks.bounds) != marks.begins:
        raise UserWindowError(
            f"window function {track.name!r} began {marks.begins} windows at "
            f"{_at(time, record)} and declared bounds of {len(marks.bounds)}"
        )
    return marks


def _failure(track: Track, error: Exception, time: int, record: Record) -> UserWindowError:
    return UserWindowError(
        f"window function {track.name!r} raised {error!r} at {_at(time, record)}"
    )


def _at(time: int | None, record: Record) -> str:
    return f"time {time}, record {shorten(dict(record))}"

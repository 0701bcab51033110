"""The shared discretizer: many window functions over one key's records, as one marked stream.

    record ↦ (record, windows that end before it, windows that begin with it)      section 5.1

It numbers windows, keeps which are open for each function, asks for time-outs before every record,
and holds the functions to their contract: ends only of open windows, declared bounds that never go
back (FIFO), a limit to the windows that are open. What a function raises is reported with its name
and the record. A function is shown each record once, so it may remember what it likes.

The paper consults every function about every record; here those that declare their next event are
passed over until then (`schedule`), so that a hundred of them cost little more than one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from muntin.data_windows.protocol import (
    NOTHING,
    Marks,
    NextEvent,
    Record,
    WindowFunction,
    shorten,
)
from muntin.data_windows.schedule import Schedule
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
    """One function, what it may do, and its open windows, oldest first.

    `shown` is how many records it has been shown, or told that they were passed over.
    """

    function: WindowFunction
    name: str
    limit: int = OPEN_LIMIT
    incomplete: bool = False
    open: deque[Begun] = field(default_factory=deque)
    declared: Bounds | None = None
    shown: int = 0
    plans: bool = field(init=False)

    def __post_init__(self) -> None:
        self.plans = _plans(type(self.function))

    def next_event(self) -> NextEvent | None:
        """What its function waits for, if that can be told."""
        return self.function.next_event() if self.plans else None

    def deadline(self) -> int | None:
        """When time ends its oldest window."""
        return self.function.timeout() if self.open else None


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
        self._seen = 0
        self._schedule = Schedule()
        self._new = True

    def record(self, time: int, record: Record) -> tuple[list[Ended], list[Begun]]:
        """The windows that end before the record, and those that begin with it."""
        if self._last is not None and time < self._last:
            raise UserWindowError(
                f"record {shorten(dict(record))} of time {time} comes after one of time "
                f"{self._last}: sort the records of a key by time"
            )
        ended: list[Ended] = []
        begun: list[Begun] = []
        due = self._due(time, record)
        for i in due:
            track = self._tracks[i]
            with _blamed(track, time, record):
                self._catch_up(track)
                if track.open:
                    ended += self._time_out(i, track, time, record)
                said = track.function.mark(time, record)
            track.shown += 1
            if said is NOTHING:
                continue
            marks = _check_marks(track, said, time, record)
            if marks.ends:
                ended += self._end(i, track, marks.ends, time, record)
            if marks.begins:
                begun += self._begin(i, track, marks, time, record)
        self._last = time
        self._seen += 1
        for i in due:
            self._wait(i, time, record)
        return ended, begun

    def _due(self, time: int, record: Record) -> Sequence[int]:
        """The functions to ask about a record: all of them at first, for what they wait for."""
        if self._new:
            self._new = False
            return range(len(self._tracks))
        return self._schedule.due(time, record, self._seen)

    def _wait(self, i: int, time: int, record: Record) -> None:
        """Let a function wait for its next event."""
        track = self._tracks[i]
        if not track.plans:
            self._schedule.wait(i, None, None, self._seen, record)
            return
        with _blamed(track, time, record):
            self._schedule.wait(i, track.next_event(), track.deadline(), self._seen, record)

    def _catch_up(self, track: Track) -> None:
        """Tell a function of the records that it was passed over for."""
        if track.shown < self._seen:
            assert self._last is not None, "there was a record"
            track.function.skip(self._seen - track.shown, self._last)
            track.shown = self._seen

    def waits(self) -> NextEvent | None:
        """What the first function waits for, the end of its oldest window among it."""
        track = self._tracks[0]
        event, deadline = track.next_event(), track.deadline()
        if event is None or deadline is None:
            return event
        time = deadline if event.time is None else min(event.time, deadline)
        return replace(event, time=time)

    def pass_over(self, records: int, last: int) -> None:
        """So many records come that no function waits for; `last` is the time of the last one."""
        if records:
            self._seen, self._last = self._seen + records, last

    def advance(self, time: int) -> list[Ended]:
        """The windows that end because no record before `time` will come."""
        ended: list[Ended] = []
        for i, track in enumerate(self._tracks):
            with _blamed(track, time, {}):
                self._catch_up(track)
                ended += self._time_out(i, track, time, {})
        self._new = True
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
        self._catch_up(track)
        return list(track.open), track.declared, track.deadline()

    def finish(self) -> list[Ended]:
        """No record will come any more: time-outs are due, and what is left may be incomplete."""
        ended: list[Ended] = []
        for i, track in enumerate(self._tracks):
            self._catch_up(track)
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


class _blamed:  # noqa: N801  (a context manager, read as a phrase)
    """Report what a function raises with its name and the record; made for every record."""

    __slots__ = ("_record", "_time", "_track")

    def __init__(self, track: Track, time: int, record: Record) -> None:
        self._track, self._time, self._record = track, time, record

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, UserWindowError):
            raise UserWindowError(
                f"window function {self._track.name!r} raised {error!r} at "
                f"{_at(self._time, self._record)}"
            ) from error


def _plans(kind: type[WindowFunction]) -> bool:
    """Whether a function's events are those of its marks: not if a subclass marks otherwise.

    >>> from muntin.data_windows.window_functions import CountFunction
    >>> class Odd(CountFunction):
    ...     def mark(self, time, record): return super().mark(time, record)
    >>> _plans(CountFunction), _plans(Odd), _plans(WindowFunction)
    (True, False, False)
    """
    says = next(each for each in kind.__mro__ if "next_event" in vars(each))
    if says is WindowFunction:
        return False
    return all(
        issubclass(says, next(each for each in kind.__mro__ if name in vars(each)))
        for name in ("mark", "skip", "timeout", "timed_out")
    )


def _at(time: int | None, record: Record) -> str:
    return f"time {time}, record {shorten(dict(record))}"

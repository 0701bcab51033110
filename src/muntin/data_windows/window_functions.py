"""Every kind of window as a function: what it says of a record, and what it remembers.

`muntin.model.data_windows` says what each kind means, `muntin.data_windows.array_windows` has the
same windows over arrays; tests hold both to one meaning. What a function remembers is a few
numbers, so that it can be stored and restored (JSON).
"""

from __future__ import annotations

from collections.abc import Callable
from math import floor
from typing import Any, ClassVar

from muntin.data_windows.protocol import NOTHING, Marks, NextEvent, Record, WindowFunction
from muntin.errors import UserWindowError
from muntin.model import data_windows as kinds
from muntin.model.windows import Window

MINUTE = 60_000_000


class SessionFunction(WindowFunction):
    """A pause of more than the gap ends a session, as in Spark: one of exactly the gap does not."""

    def __init__(self, gap: int, maximum: int | None = None) -> None:
        self.gap, self.maximum = gap, maximum
        self.first: int | None = None
        self.last = 0

    def mark(self, time: int, record: Record) -> Marks:
        self.last = time
        if self.first is not None:
            return NOTHING
        self.first = time
        return Marks(begins=1)

    def next_event(self) -> NextEvent | None:
        return None if self.first is None else NextEvent()  # until it may have timed out

    def skip(self, records: int, last: int) -> None:
        self.last = last

    def timeout(self) -> int | None:
        if self.first is None:
            return None
        pause = self.last + self.gap + 1
        return pause if self.maximum is None else min(pause, self.first + self.maximum)

    def timed_out(self) -> int:
        self.first = None
        return 1

    def bounds(self, first: int, last: int) -> tuple[int, int]:
        end = last + self.gap
        return first, end if self.maximum is None else min(end, first + self.maximum)


class CountFunction(WindowFunction):
    """Begins where k mod slide = 0; ends once it has all its records, not only with the next one.

    The paper's f_disc ends where (k - range) mod slide = 0, which also needs k ≥ range.
    """

    def __init__(self, range: int, slide: int) -> None:
        self.range, self.slide = range, slide
        self.seen = self.ended = self.last = 0

    def mark(self, time: int, record: Record) -> Marks:
        begins = self.seen % self.slide == 0
        self.seen, self.last = self.seen + 1, time
        return Marks(begins=int(begins))

    def next_event(self) -> NextEvent:
        full = self.ended * self.slide + self.range - self.seen
        return NextEvent(records=min(-self.seen % self.slide, max(full, 0)))

    def skip(self, records: int, last: int) -> None:
        self.seen, self.last = self.seen + records, last

    def timeout(self) -> int | None:
        full = self.seen >= self.ended * self.slide + self.range
        return self.last if full else None

    def timed_out(self) -> int:
        self.ended += 1
        return 1


class PositionFunction(WindowFunction):
    """Instances [m·slide + offset, … + range) of a position that never falls."""

    def __init__(self, range: Any, slide: Any, offset: Any = 0, measure: str | None = None) -> None:
        self.range, self.slide, self.offset, self.measure = range, slide, offset, measure
        self.open: list[int] = []
        self.newest: int | None = None
        self.position: Any = None

    def mark(self, time: int, record: Record) -> Marks:
        position = time if self.measure is None else record[self.measure]
        if position is None or position != position:
            return NOTHING  # where the record before it stands
        if self.position is not None and position < self.position:
            raise UserWindowError(
                f"{self.measure} falls from {self.position} to {position} at time {time}: windows "
                "over a measure need one that never falls"
            )
        self.position = position
        newest = _index(position - self.offset, self.slide)
        ended = _index(position - self.offset - self.range, self.slide)
        first = ended + 1 if self.newest is None else max(ended, self.newest) + 1
        ends = sum(m <= ended for m in self.open)
        begun = list(range(first, newest + 1))
        self.open = self.open[ends:] + begun
        self.newest = newest
        bounds = tuple(map(self._bounds, begun)) if self.measure is None else ()
        return Marks(ends, len(begun), bounds)

    def next_event(self) -> NextEvent | None:
        if self.newest is None:
            return None
        begins = (self.newest + 1) * self.slide + self.offset
        if self.measure is None:
            return NextEvent(time=begins)
        ends = [self.open[0] * self.slide + self.offset + self.range] if self.open else []
        return NextEvent(measure=(self.measure, _sooner(min([begins, *ends]))))

    def _bounds(self, m: int) -> tuple[int, int]:
        start = m * self.slide + self.offset
        return start, start + self.range

    def timeout(self) -> int | None:
        return self._bounds(self.open[0])[1] if self.open and self.measure is None else None

    def timed_out(self) -> int:
        del self.open[0]
        return 1


def _index(position: Any, slide: Any) -> int:
    """Which slide a position lies in; for floats as NumPy rounds it."""
    whole = isinstance(position, int) and isinstance(slide, int)
    return int(position // slide) if whole else floor(float(position) / float(slide))


def _sooner(value: Any) -> Any:
    """A value to wait for: a little less where dividing may round up to the slide."""
    return value if isinstance(value, int) else value - abs(value) * 1e-9


class PunctuationFunction(WindowFunction):
    def __init__(self, predicate: str) -> None:
        self.predicate = predicate
        self.open = False

    def next_event(self) -> NextEvent:
        return NextEvent(conditions=(self.predicate,))

    def mark(self, time: int, record: Record) -> Marks:
        if not record[self.predicate]:
            return NOTHING
        ended, self.open = self.open, True
        return Marks(int(ended), 1)


class SnapshotFunction(WindowFunction):
    def __init__(self) -> None:
        self.time: int | None = None

    def mark(self, time: int, record: Record) -> Marks:
        if self.time == time:
            return NOTHING
        self.time = time
        return Marks(begins=1)

    def next_event(self) -> NextEvent | None:
        return None if self.time is None else NextEvent(time=self.time + 1)

    def timeout(self) -> int | None:
        return None if self.time is None else self.time + 1


class LandmarkFunction(WindowFunction):
    def __init__(self, predicate: str, until: str | None = None, length: int | None = None) -> None:
        self.predicate, self.until, self.length = predicate, until, length
        self.begun: list[int] = []

    def next_event(self) -> NextEvent:
        ends = self.until if self.begun else None
        return NextEvent(conditions=(self.predicate, *([ends] if ends is not None else [])))

    def mark(self, time: int, record: Record) -> Marks:
        ends = len(self.begun) if self.until is not None and record[self.until] else 0
        begins = int(bool(record[self.predicate]))
        self.begun = self.begun[ends:] + [time] * begins
        return Marks(ends, begins)

    def timeout(self) -> int | None:
        return self.begun[0] + self.length if self.length is not None and self.begun else None

    def timed_out(self) -> int:
        del self.begun[0]
        return 1


class ThresholdFunction(WindowFunction):
    def __init__(self, value: str, by: float) -> None:
        self.value, self.by = value, by
        self.open = False
        self.anchor: Any = None

    def mark(self, time: int, record: Record) -> Marks:
        value = record[self.value]
        if value is not None and value != value:
            value = None
        if not self.open:
            self.open, self.anchor = True, value
            return Marks(begins=1)
        if value is not None and self.anchor is None:
            self.anchor = value
        elif value is not None and abs(value - self.anchor) >= self.by:
            self.anchor = value
            return Marks(1, 1)
        return NOTHING


class PriceSwitched(WindowFunction):
    """Windows of one size while a price is above a limit, and of another while it is not.

    The pairs are (range, slide) above the limit, and at or below it. Windows that are open when the
    price crosses the limit end there, as far as they have come, and the other slide counts from
    there. So it is deterministic and shares slices, which the paper's own example cannot
    (`price_driven`): its first report after a fall begins before it.
    """

    columns: ClassVar[tuple[str, ...]] = ("price",)

    def __init__(
        self,
        limit: float = 10.0,
        above: tuple[int, int] = (10 * MINUTE, 5 * MINUTE),
        below: tuple[int, int] = (5 * MINUTE, 2 * MINUTE),
        price: str = "price",
    ) -> None:
        self.limit, self.above, self.below, self.price = limit, above, below, price
        self.cheap: bool | None = None
        self.reports: list[int] = []
        self.next = 0

    def mark(self, time: int, record: Record) -> Marks:
        cheap, ends = record[self.price] <= self.limit, 0
        if cheap is not self.cheap:
            ends, self.reports = len(self.reports), []
            self.cheap, self.next = cheap, time
        length, slide = self.below if cheap else self.above
        passed = time - length - self.next
        if passed >= 0:  # windows that no record fell into
            self.next += (passed // slide + 1) * slide
        begun = 0
        while self.next <= time:
            self.reports.append(self.next + length)
            self.next += slide
            begun += 1
        return Marks(ends, begun)

    def timeout(self) -> int | None:
        return self.reports[0] if self.reports else None

    def timed_out(self) -> int:
        del self.reports[0]
        return 1


_FUNCTIONS: dict[type, Callable[[Any], WindowFunction]] = {
    Window: lambda w: PositionFunction(w.range, w.slide, w.offset),
    kinds.Session: lambda w: SessionFunction(w.gap, w.maximum),
    kinds.CountWindow: lambda w: CountFunction(w.range, w.slide),
    kinds.MeasureWindow: lambda w: PositionFunction(w.range, w.slide, 0, w.measure),
    kinds.Punctuation: lambda w: PunctuationFunction(w.predicate),
    kinds.Snapshot: lambda _: SnapshotFunction(),
    kinds.Landmark: lambda w: LandmarkFunction(w.predicate, w.until, w.length),
    kinds.Threshold: lambda w: ThresholdFunction(w.value, w.by),
    kinds.UserWindow: lambda w: _make(w.factory, w.id),
}


def function_of(window: kinds.DataWindow | Window) -> WindowFunction:
    """A new function for one key's records."""
    return _FUNCTIONS[type(window)](window)


def _make(factory: Callable[[], object], name: str) -> WindowFunction:
    try:
        function = factory()
    except Exception as error:
        raise UserWindowError(f"window function {name!r} cannot be made: {error!r}") from error
    if not isinstance(function, WindowFunction):
        raise UserWindowError(
            f"window function {name!r} is a {type(function).__name__}: derive it from "
            "muntin.data_windows.WindowFunction (or Policy, for triggers and evictions)"
        )
    return function

"""Many functions at once against one at a time, and against functions asked about every record."""

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from muntin.data_windows import Discretizer, NextEvent, WindowFunction
from muntin.data_windows.discretizer import Track
from muntin.data_windows.protocol import Marks, Record
from muntin.data_windows.window_functions import CountFunction, function_of
from muntin.model.data_windows import DataWindow
from muntin.model.windows import Window
from muntin_testing.data_windows import KINDS, Records, records_of_a_key
from muntin_testing.reached import Reached

Said = list[tuple[int, list[tuple[Any, ...]], list[tuple[Any, ...]]]]


def tracks(windows: Sequence[DataWindow | Window], asked_always: bool = False) -> list[Track]:
    found = [Track(function_of(w), w.id, incomplete=True) for w in windows]
    for track in found:
        track.plans = track.plans and not asked_always
    return found


def said(windows: Sequence[Track], records: Records, pauses: set[int]) -> Said:
    """What ends and begins at each record, when time passes in between, and at the end."""
    discretizer, found = Discretizer(windows), []
    for i, record in enumerate(records):
        passed = discretizer.advance(record["t"]) if i in pauses else []
        ended, begun = discretizer.record(record["t"], record)
        ends = [(e.function, e.start, e.end) for e in [*passed, *ended]]
        found.append((i, ends, [(b.function, b.first, b.bounds) for b in begun]))
    last = [(e.function, e.start, e.end) for e in discretizer.finish()]
    return [*found, (-1, last, [])]


def of_function(number: int, found: Said) -> Said:
    """What was said of one function's windows, as if it were the only one."""

    def own(part: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        return [(0, *rest) for of, *rest in part if of == number]

    return [(i, own(ends), own(begins)) for i, ends, begins in found]


def test_functions_that_plan_say_what_they_say_when_asked_about_every_record() -> None:
    reached = Reached()

    @given(
        st.tuples(*KINDS.values()),
        records_of_a_key(),
        st.sets(st.integers(0, 39), max_size=8),
    )
    def each(windows: tuple[DataWindow | Window, ...], records: Records, pauses: set[int]) -> None:
        together = said(tracks(windows), records, pauses)
        assert together == said(tracks(windows, asked_always=True), records, pauses)
        for number, window in enumerate(windows):
            alone = said(tracks([window]), records, pauses)
            assert of_function(number, together) == alone
            reached[type(window).__name__] += any(e or b for _, e, b in alone)

    each()
    reached.at_least(20, *KINDS)


class Counted(CountFunction):
    """Counts how often it is asked."""

    asked = 0

    def next_event(self) -> NextEvent:
        return super().next_event()

    def skip(self, records: int, last: int) -> None:
        super().skip(records, last)

    def mark(self, time: int, record: Record) -> Marks:
        self.asked += 1
        return super().mark(time, record)

    def timeout(self) -> int | None:
        return super().timeout()

    def timed_out(self) -> int:
        return super().timed_out()


def test_a_function_is_passed_over_until_its_event() -> None:
    functions: list[WindowFunction] = [Counted(100, 50 + n) for n in range(20)]
    discretizer = Discretizer(functions)
    for time in range(1_000):
        discretizer.record(time, {})
    asked = [f.asked for f in functions if isinstance(f, Counted)]
    events = [2 * (1_000 // f.slide) + 2 for f in functions if isinstance(f, Counted)]
    assert all(a <= e for a, e in zip(asked, events, strict=True)), (asked, events)
    assert [f.state()["seen"] for f in functions] != [1_000] * 20  # not told of what it missed
    discretizer.finish()
    assert [f.state()["seen"] for f in functions] == [1_000] * 20


class Hours(WindowFunction):
    """A window of every hour that has a record, as a user writes it."""

    def __init__(self) -> None:
        self.ends: int | None = None

    def mark(self, time: int, record: Record) -> tuple[int, int]:
        if self.ends is not None and time < self.ends:
            return 0, 0
        ended, self.ends = self.ends is not None, time - time % 60 + 60
        return int(ended), 1

    def next_event(self) -> NextEvent | None:
        return None if self.ends is None else NextEvent(time=self.ends)


def test_a_users_function_declares_its_events() -> None:
    class Always(Hours):
        def next_event(self) -> None:
            return None

    records = [{"t": t} for t in (0, 1, 59, 60, 61, 200, 200, 239, 240, 1000)]
    planned, always = (said([Track(f(), "hours")], records, set()) for f in (Hours, Always))
    assert planned == always
    assert sum(len(begins) for _, _, begins in planned) == 5


def test_a_subclass_that_marks_otherwise_is_asked_about_every_record() -> None:
    class Odd(CountFunction):
        """Begins with every third record: what it inherits says nothing of that."""

        def mark(self, time: int, record: Record) -> Marks:
            super().mark(time, record)
            return Marks(begins=time % 3 == 0)

    found = said([Track(Odd(2, 2), "odd")], [{"t": t} for t in range(9)], set())
    assert [i for i, _, begins in found if begins] == [0, 3, 6]

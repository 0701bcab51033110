"""Windows: what interval of time each result covers, and how often one begins.

A window W(range, slide, offset) is the sequence of instances

    [m·slide + offset, m·slide + offset + range)      for every integer m,

aligned to the Unix epoch in UTC, left-closed and right-open, as Spark's own `window()` has them
(section 2.1 of the factor-windows paper, with Spark's start time as the offset).
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import gcd

from muntin.errors import WindowError, shown
from muntin.model.durations import Duration, check_length, duration_text, microseconds

MOST_OVERLAP = 10_000_000
"""So many instances may hold one row, and each is a result: 30 days sliding by a second are 2.6
million. Ten million results take DuckDB four seconds and 1.5 GB."""


@dataclass(frozen=True, slots=True)
class Window:
    """A periodic window; bare numbers are microseconds on data, any one unit in the algebra.

    On data, mt.tumbling and mt.hopping make it, of durations. A slide longer than the range, an
    offset as long as the slide, and lengths of zero or less are refused.
    The offset is kept in [0, slide): an offset of -1 and of slide - 1 are the same window. Two
    windows are equal when their instances are; the id is only a label.

    >>> Window(range=10, slide=4, offset=-1)
    Window(range=10, slide=4, offset=3, id='10 microseconds/4 microseconds@3 microseconds')
    """

    range: int
    slide: int
    offset: int = 0
    id: str = field(default="", compare=False)

    def __init__(
        self,
        range: Duration | int,
        slide: Duration | int,
        offset: Duration | int = 0,
        id: str | None = None,
    ) -> None:
        length, step = _units(range, "range"), _units(slide, "slide")
        shift = _units(offset, "offset")
        if length <= 0:
            raise WindowError(f"range {shown(range)} must be positive")
        if step <= 0:
            raise WindowError(f"slide {shown(slide)} must be positive")
        if step > length:
            raise WindowError(
                f"slide {shown(slide)} is longer than range {shown(range)}, so rows between two "
                "instances would count nowhere: choose a slide of at most the range"
            )
        if abs(shift) >= step:
            raise WindowError(
                f"offset {shown(offset)} must be shorter than slide {shown(slide)}: "
                f"{duration_text(shift % step)!r} gives the same instances"
            )
        if id is not None and (not isinstance(id, str) or not id):
            raise WindowError(f"window id {shown(id)} must be a non-empty text")
        object.__setattr__(self, "range", length)
        object.__setattr__(self, "slide", step)
        object.__setattr__(self, "offset", shift % step)
        object.__setattr__(self, "id", id or _default_id(length, step, shift % step))

    @property
    def tumbling(self) -> bool:
        """Whether instances neither overlap nor leave gaps."""
        return self.range == self.slide

    @property
    def overlap(self) -> float:
        """In how many instances a record falls, on average."""
        return self.range / self.slide

    def starts_at(self, instant: int) -> bool:
        """Whether an instance begins at the instant."""
        return (instant - self.offset) % self.slide == 0

    def instances_of(self, instant: int) -> list[int]:
        """The starts of the instances that contain the instant, oldest first.

        >>> Window(10, 4).instances_of(9)
        [0, 4, 8]
        """
        last = instant - (instant - self.offset) % self.slide
        first = last - (self.range - 1 - (instant - last)) // self.slide * self.slide
        return list(builtins.range(first, last + 1, self.slide))

    def __str__(self) -> str:
        shift = f", {self.offset}" if self.offset else ""
        return f"W({self.range}, {self.slide}{shift})"


def _units(given: Duration | int, what: str) -> int:
    """A bare number as it is, a duration in microseconds."""
    if isinstance(given, bool) or not isinstance(given, int):
        return microseconds(given, what)  # type: ignore[arg-type]  # which refuses a boolean
    check_length(given, what, given)
    return given


def check_overlap(window: Window) -> None:
    """Refuse a window whose every row would give more results than an engine can compute."""
    if window.range > MOST_OVERLAP * window.slide:
        least = -(-window.range // MOST_OVERLAP)
        raise WindowError(
            f"window {shown(window.id)} would give {window.range // window.slide:,} results for "
            f"every row, and at most {MOST_OVERLAP:,} are computed: choose a slide of at least "
            f"{duration_text(least)!r}"
        )


def _default_id(length: int, slide: int, offset: int) -> str:
    hop = "" if slide == length else f"/{duration_text(slide)}"
    shift = f"@{duration_text(offset)}" if offset else ""
    return f"{duration_text(length)}{hop}{shift}"


def tumbling(range: Duration, offset: Duration = "0 seconds", id: str | None = None) -> Window:
    """Consecutive instances of length `range`, without overlap.

    They begin at multiples of the range since 1970 in UTC, plus an `offset` shorter than the range.
    Durations are text such as "10 minutes" or "10min", or a timedelta; months and bare numbers are
    refused. `id` is what results call the window; by default it is made of the durations.

    >>> tumbling("10 minutes").id, tumbling("1 day", offset="6 hours", id="shift").id
    ('10 minutes', 'shift')
    """
    return hopping(range, range, offset, id)


def hopping(
    range: Duration, slide: Duration, offset: Duration = "0 seconds", id: str | None = None
) -> Window:
    """Instances of length `range`, one beginning every `slide`; a row is in several of them.

    The slide is at most the range, which need not be a multiple of it. Everything else is as for
    mt.tumbling.

    >>> hopping("1 hour", "5 minutes", offset="2 minutes").id
    '1 hour/5 minutes@2 minutes'
    """
    for what, given in (("range", range), ("slide", slide), ("offset", offset)):
        microseconds(given, what)  # a bare number, which Window takes, has no unit
    return Window(range, slide, offset, id)


def parse_window(text: str) -> Window:
    """A window as its default id writes it: range[/slide][@offset], perhaps named: id=range/…

    >>> parse_window("1 hour/5 minutes@2 minutes").id, parse_window("short = 5 minutes").id
    ('1 hour/5 minutes@2 minutes', 'short')
    """
    id, named, body = text.rpartition("=")
    body, _, offset = body.partition("@")
    length, _, slide = body.partition("/")
    if not length.strip():
        raise WindowError(
            f"window {shown(text)} cannot be read: write '1 hour' or '1 hour/5 minutes'"
        )
    shift = offset.strip() or "0 seconds"
    name = id.strip() or None if named else None
    return Window(length.strip(), slide.strip() or length.strip(), shift, name)


def common_unit(windows: tuple[Window, ...]) -> int:
    """The largest length that divides every range, slide and offset.

    Searches count in this unit: in microseconds they would enumerate millions of divisors.
    """
    return gcd(*(length for w in windows for length in (w.range, w.slide, w.offset)))


def first_open(window: Window, last: int) -> int:
    """The start of the oldest instance that has not fired: its end is after `last`.

    >>> first_open(Window(10, 4), 10), first_open(Window(10, 4), 9)
    (4, 0)
    """
    past = last - window.range + 1
    return past + (window.offset - past) % window.slide


def fill_length(windows: Iterable[Window], given: Duration | None) -> int:
    """For how long a key without rows gets empty windows: as given, or as long as the longest."""
    if given is not None:
        return microseconds(given, "fill_for")
    return max(window.range for window in windows)


def kept_from(windows: Iterable[Window], last: int) -> int:
    """The instant from which on every slice is still needed when all ends up to `last` fired."""
    return min(first_open(w, last) for w in windows)

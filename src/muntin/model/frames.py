"""Trailing windows: the interval before each row that its features are computed over.

A window of the clock has instances that many rows share. A trailing window has one frame for each
row. As of a row at instant t, with T = t − delay,

    trailing("1 hour")    the events between T − 1 hour and T
    trailing(rows=10)     the last ten events up to T
    lifetime()            all events up to T

and `closed` says which of the bounds belong to a frame: "left" [T − d, T), "right" (T − d, T],
"both" [T − d, T], "none" (T − d, T). With "left" and "none" nothing of the instant T itself counts.

With a `grain` g, a window of at least 12 g begins at the last multiple of g (of the Unix epoch, in
UTC) up to T − d, instead of at T − d: it is between d and d + g long, and it holds whole slices
of length g but for the newest. Shorter windows, and those without a length, stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from numbers import Integral

from muntin.errors import WindowError, is_between, shown
from muntin.model.durations import Duration, duration_text, microseconds

GRAINS = 12
"""A window that begins at a multiple of the grain is at least so many times as long."""
MOST_ROWS = 2**31 - 1
"""So many events a window may be asked to hold; mt.lifetime() holds all."""


@dataclass(frozen=True, slots=True)
class Trailing:
    """A trailing window, in microseconds: by `length`, by a number of `rows`, or without end.

    Two are equal when their frames are; the id is only a label.
    """

    length: int | None
    rows: int | None
    delay: int
    id: str = field(compare=False)
    grain: int = 0
    """The step that its far end moves by; 0 where it moves with the row."""

    @property
    def is_endless(self) -> bool:
        """Whether it holds all older events."""
        return self.length is None and self.rows is None

    @property
    def reach(self) -> int | None:
        """How far before a row its oldest event may lie, or None where there is no bound."""
        return None if self.length is None else self.length + self.delay + self.grain


def trailing(
    duration: Duration | None = None,
    delay: Duration | None = None,
    id: str | None = None,
    *,
    rows: int | None = None,
) -> Trailing:
    """The events of the last `duration` before each row, or its last `rows` events, for mt.as_of.

    Give one of the two; `id` names the window in the columns of the result. With a `delay`, events
    become known that much later: the frame of a row at t ends at t − delay. Of `rows`, events of
    the same instant are ordered by `order_by`, then by the values that the aggregates read, nulls
    first; so there are never more than so many, and the result does not depend on the order of the
    table.

    >>> trailing("1 hour").id, trailing("1 day", delay="5 minutes").id, trailing(rows=10).id
    ('1 hour', '1 day delayed by 5 minutes', '10 rows')
    """
    if (duration is None) == (rows is None):
        raise WindowError(
            "a trailing window has a duration or a number of rows: mt.trailing('1 hour') or "
            "mt.trailing(rows=10)"
        )
    late = _delay(delay)
    if rows is not None:
        if not is_between(rows, 1, MOST_ROWS) or not isinstance(rows, Integral):
            raise WindowError(
                f"rows {shown(rows)} must be a whole number of at least 1 and at most {MOST_ROWS:,}"
            )
        count = int(rows)
        own = f"{count} row{'' if count == 1 else 's'}"
        return Trailing(None, count, late, _id(id, own, late))
    assert duration is not None, "one of the two is given"
    length = microseconds(duration, "trailing window")
    if length <= 0:
        raise WindowError(f"trailing window {shown(duration)} must be positive")
    return Trailing(length, None, late, _id(id, duration_text(length), late))


def lifetime(delay: Duration | None = None, id: str | None = None) -> Trailing:
    """All events before each row, however old, for mt.as_of.

    With a `delay`, events become known that much later; `id` names the window in the columns of
    the result.

    >>> lifetime().id
    'lifetime'
    """
    late = _delay(delay)
    return Trailing(None, None, late, _id(id, "lifetime", late))


def step_frames(frames: tuple[Trailing, ...], grain: Duration | None) -> tuple[Trailing, ...]:
    """The same windows, of which the long ones begin at multiples of the grain.

    >>> [f.grain for f in step_frames((trailing("5min"), trailing("1h")), "1 minute")]
    [0, 60000000]
    """
    if grain is None:
        return frames
    step = microseconds(grain, "grain")
    if step <= 0:
        raise WindowError(f"grain {shown(grain)} must be positive")
    found = tuple(
        replace(f, grain=step) if f.length is not None and f.length >= GRAINS * step else f
        for f in frames
    )
    if found == frames:
        raise WindowError(
            f"grain {shown(grain)} is the step of windows of at least {GRAINS} times its length, "
            f"{duration_text(GRAINS * step)}, and none is that long: leave it out, or give a "
            "smaller one"
        )
    return found


def as_trailing(given: object) -> Trailing:
    """A trailing window as it is, or the one of a duration."""
    if isinstance(given, Trailing):
        return given
    if is_duration(given):
        return trailing(given)  # type: ignore[arg-type]  # what is no duration is refused there
    raise WindowError(
        f"{shown(given)} is not a trailing window: write '1 hour', mt.trailing('1 hour'), "
        "mt.trailing(rows=10) or mt.lifetime()"
    )


def is_duration(given: object) -> bool:
    """Whether it is a length of time, as text or as a delta.

    >>> is_duration("1 hour"), is_duration(trailing("1 hour"))
    (True, False)
    """
    return isinstance(given, str) or type(given).__name__ in (
        "timedelta",
        "Timedelta",
        "timedelta64",
    )


def is_trailing(windows: object) -> bool:
    """Whether windows ask for frames of rows: one of them is a trailing one, or a bare duration."""
    if isinstance(windows, str) or not isinstance(windows, Iterable):
        return isinstance(windows, Trailing) or is_duration(windows)
    return any(isinstance(each, Trailing) or is_duration(each) for each in windows)


def _delay(given: Duration | None) -> int:
    late = 0 if given is None else microseconds(given, "delay")
    if late < 0:
        raise WindowError(f"delay {shown(given)} must not be negative: that would be the future")
    return late


def _id(given: str | None, own: str, late: int) -> str:
    if given is None:
        return f"{own} delayed by {duration_text(late)}" if late else own
    if not isinstance(given, str) or not given:
        raise WindowError(f"window id {shown(given)} must be a non-empty text")
    return given

"""What mt.as_of is asked: for each row, which aggregates over which of its trailing windows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from muntin.aggregates import Aggregate, count
from muntin.errors import QueryError, is_one_of, shown, unknown
from muntin.model.choices import Closed
from muntin.model.durations import Duration
from muntin.model.frames import Trailing, as_trailing, step_frames
from muntin.model.query import Query, query
from muntin.model.windows import Window

CLOSED = get_args(Closed)
_NEVER_RUN = Window(1, 1, id="as of")
"""Queries have windows; that of the events and of the rows is never computed."""


@dataclass(frozen=True, slots=True)
class AsOf:
    """The frames and aggregates, what the events are, and where they and the rows have their time.

    `events` is the query by which events are read: time, keys, aggregates and where. `apart` says
    that they are another table than the rows.
    """

    time: str
    frames: tuple[Trailing, ...]
    events: Query
    closed: Closed = "left"
    apart: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns by which rows find their events."""
        return self.events.keys

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        """What is computed over every frame."""
        return self.events.aggregates

    @property
    def rows(self) -> Query:
        """The query by which rows are read: time and keys."""
        return Query(self.time, self.keys, (_NEVER_RUN,), (count(),), apart=True)

    def feature(self, aggregate: Aggregate) -> str:
        """The name of an aggregate's column where each window has rows of its own."""
        return _plain(aggregate.name)

    def column(self, aggregate: Aggregate, frame: Trailing) -> str:
        """The name of a feature.

        >>> import muntin as mt
        >>> asked = as_of_query("ts", ["1 hour"], [mt.max("delay")])
        >>> asked.column(asked.aggregates[0], asked.frames[0])
        'max_delay__1_hour'
        """
        name = f"{self.feature(aggregate)}__{_plain(frame.id)}"
        return f"_{name}" if name[0].isdigit() else name

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all features, in the order of the aggregates and of the windows in them."""
        return tuple(self.column(a, frame) for a in self.aggregates for frame in self.frames)

    @property
    def ordered(self) -> bool:
        """Whether it matters which of the events of one instant comes first."""
        return self.events.ordered or any(frame.rows is not None for frame in self.frames)

    @property
    def reach(self) -> int | None:
        """How far before a row an event may lie that counts; None where there is no bound."""
        reaches = [frame.reach for frame in self.frames]
        return None if None in reaches else max(each for each in reaches if each is not None)

    def about(self, aggregates: tuple[Aggregate, ...]) -> AsOf:
        """The same question about some of the aggregates."""
        return replace(self, events=replace(self.events, aggregates=aggregates))

    def check_columns(self, given: Sequence[str]) -> None:
        """Refuse features that have the name of a column of the rows, or that share one."""
        known = {str(name).lower(): f"a column of the rows, {str(name)!r}" for name in given}
        for aggregate in self.aggregates:
            for frame in self.frames:
                name = self.column(aggregate, frame)
                what = f"{aggregate.name!r} of {frame.id!r}"
                twin = known.setdefault(name.lower(), what)
                if twin != what:
                    raise QueryError(
                        f"column {name!r} would be both {twin} and {what}: give the aggregate "
                        "another .alias(...) or the window another id="
                    )


def as_of_query(
    time: str,
    windows: Trailing | Duration | Iterable[Trailing | Duration],
    aggregates: Iterable[Aggregate],
    keys: str | Iterable[str] = (),
    where: str | None = None,
    closed: Closed = "left",
    events_time: str | None = None,
    apart: bool = False,
    order_by: str | Iterable[str] = (),
    grain: Duration | None = None,
) -> AsOf:
    """The question, checked."""
    if not is_one_of(closed, CLOSED):
        raise QueryError(unknown("closed", closed, CLOSED))
    if events_time is not None and not apart:
        raise QueryError(
            f"events_time {shown(events_time)} names the time of other events: give events=..., or "
            "leave it out"
        )
    frames = step_frames(_frames(windows), grain)
    order = (order_by,) if isinstance(order_by, str) else tuple(order_by)
    read = query(events_time or time, (_NEVER_RUN,), aggregates, keys, where, apart=True)
    asked = AsOf(time, frames, replace(read, order_by=order), closed, apart)
    if order and not asked.ordered:
        raise QueryError(
            f"order_by {shown(order_by)} orders events of one instant for mt.trailing(rows=...) "
            "and for aggregates that do not commute, and none is asked for: leave it out"
        )
    asked.rows  # noqa: B018  (checks the name of the time)
    asked.check_columns(())
    return asked


def _frames(windows: object) -> tuple[Trailing, ...]:
    alone = isinstance(windows, Trailing | str) or not isinstance(windows, Iterable)
    frames = (as_trailing(windows),) if alone else tuple(map(as_trailing, windows))  # type: ignore[call-overload]
    if not frames:
        raise QueryError("no windows: give at least one, such as '1 hour'")
    known: dict[Trailing, Trailing] = {}
    for frame in frames:
        if frame in known:
            raise QueryError(
                f"windows {shown(known[frame].id)} and {shown(frame.id)} are equal: keep one"
            )
        known[frame] = frame
    return frames


def _plain(text: str) -> str:
    """Letters, digits and underscores, so that no engine needs quotes for it.

    >>> _plain("sum(price * volume)"), _plain("1 hour")
    ('sum_price_volume', '1_hour')
    """
    return re.sub(r"\W+", "_", text).strip("_") or "_"

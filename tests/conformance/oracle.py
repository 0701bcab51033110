"""Brute force over explicit intervals: what the rows of a query must be. Imports nothing of Muntin.

A question is plain data: windows are numbers of microseconds, a row is a dict, an aggregate is a
Python function over the list of values that it is given. Every row is put into every interval that
holds it, one by one; nothing is shared, sliced or merged.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from statistics import median
from typing import Any

Row = Mapping[str, Any]
Place = tuple[Any, ...]
"""A window's id, the begin and end of an instance, and the values of the keys."""
Rows = dict[Place, dict[str, Any]]


@dataclass(frozen=True)
class Interval:
    """A window: intervals [m·slide + offset, m·slide + offset + range) for every integer m."""

    id: str
    range: int
    slide: int
    offset: int = 0

    def begins_around(self, instant: int) -> list[int]:
        """The begins of all intervals that hold the instant."""
        latest = instant - (instant - self.offset) % self.slide
        return list(range(latest, instant - self.range, -self.slide))


@dataclass(frozen=True)
class Measure:
    """An aggregate: its name in the result, its function, what it reads and which rows count."""

    name: str
    function: str
    value: Callable[[Row], Any] = lambda row: 1
    counts: Callable[[Row], bool | None] = lambda row: True

    def of(self, rows: Iterable[Row]) -> Any:
        """The aggregate of these rows; a row counts only where the filter is true."""
        return FUNCTIONS[self.function]([self.value(row) for row in rows if self.counts(row)])


def _known(function: Callable[[list[Any]], Any], none: Any = None) -> Callable[[list[Any]], Any]:
    """A function of the values that are not null; `none` where there are none."""

    def of(values: list[Any]) -> Any:
        known = [value for value in values if value is not None]
        return function(known) if known else none

    return of


def _squares(values: list[Any]) -> float:
    mean = fsum(values) / len(values)
    return fsum((value - mean) ** 2 for value in values)


def _xor(values: list[int]) -> int:
    found = 0
    for value in values:
        found ^= value
    return found


def _with_largest(values: list[tuple[Any, Any]]) -> Any:
    known = [(order, value) for value, order in values if order is not None]
    return max(known, key=lambda pair: pair[0])[1] if known else None


FUNCTIONS: dict[str, Callable[[list[Any]], Any]] = {
    "count": _known(len, none=0),
    "count_if": _known(sum, none=0),
    "sum": _known(sum),
    "min": _known(min),
    "max": _known(max),
    "avg": _known(lambda values: fsum(values) / len(values)),
    "var_pop": _known(lambda values: _squares(values) / len(values)),
    "stddev_samp": _known(lambda v: sqrt(_squares(v) / (len(v) - 1)) if len(v) > 1 else None),
    "bool_or": _known(any),
    "bool_and": _known(all),
    "bit_xor": _known(_xor),
    "max_by": _with_largest,
    "count_distinct": lambda values: len({value for value in values if value is not None}),
    "collect_set": lambda values: sorted({value for value in values if value is not None}),
    "median": _known(median),
}


@dataclass(frozen=True)
class Asked:
    """A question: windows, aggregates and keys, and which rows take part."""

    windows: Sequence[Interval]
    measures: Sequence[Measure]
    keys: Sequence[str]
    takes: Callable[[Row], bool | None] = lambda row: True
    time: str = "ts"


def expected(asked: Asked, rows: Iterable[Row]) -> Rows:
    """The rows of the long layout, by place."""
    held = _held(asked, rows)
    return {place: {m.name: m.of(found) for m in asked.measures} for place, found in held.items()}


def filled(asked: Asked, rows: Iterable[Row]) -> Rows:
    """The same with rows for the empty intervals between the first and the last of a key."""
    found = expected(asked, rows)
    nothing = {measure.name: measure.of([]) for measure in asked.measures}
    for window in asked.windows:
        begins: dict[Place, list[int]] = {}
        for id, begin, _, *keys in list(found):
            if id == window.id:
                begins.setdefault(tuple(keys), []).append(begin)
        for key, known in begins.items():
            for begin in range(min(known), max(known), window.slide):
                found.setdefault((window.id, begin, begin + window.range, *key), nothing)
    return found


def wide(rows: Rows) -> dict[Place, dict[str, Any]]:
    """The wide layout: by end of the interval and keys, what each window has that ends there."""
    found: dict[Place, dict[str, Any]] = {}
    for (id, _, end, *keys), values in rows.items():
        own = {f"{name}__{id}": value for name, value in values.items()}
        found.setdefault((end, *keys), {}).update(own)
    return found


def appended(
    asked: Asked, batches: Iterable[Sequence[Row]], delay: int
) -> list[dict[Place, dict[str, Any]]]:
    """What a stream appends in each batch, and in one more that has no rows.

    Within a batch the watermark is the one that the rows before it left: the largest time less the
    delay, in whole milliseconds, never back. It closes the intervals that end at or before it, and
    an interval takes rows as long as it was open in the batch before. Rows that the query leaves
    out do not move the watermark: Spark filters before it looks at times.
    """
    held: dict[Place, list[Row]] = {}
    found: list[dict[Place, dict[str, Any]]] = []
    watermark = before = latest = 0
    for batch in [*batches, ()]:
        for place, rows in _held(asked, batch).items():
            if place[2] > before:
                held.setdefault(place, []).extend(rows)
        closed = [place for place in held if place[2] <= watermark]
        found.append({p: {m.name: m.of(held[p]) for m in asked.measures} for p in closed})
        for place in closed:
            del held[place]
        times = [row[asked.time] for row in batch if asked.takes(row)]
        latest = max([latest, *(time for time in times if time is not None)])
        before, watermark = watermark, max(watermark, (latest - delay) // 1000 * 1000)
    return found


def _held(asked: Asked, rows: Iterable[Row]) -> dict[Place, list[Row]]:
    """The rows of every interval; a row without a time is in none."""
    held: dict[Place, list[Row]] = {}
    for row in rows:
        if row[asked.time] is None or not asked.takes(row):
            continue
        key = tuple(row[name] for name in asked.keys)
        for window in asked.windows:
            for begin in window.begins_around(row[asked.time]):
                place = (window.id, begin, begin + window.range, *key)
                held.setdefault(place, []).append(row)
    return held


@dataclass(frozen=True)
class Frame:
    """A trailing window: events between `length` before a row and the row, or the last `rows`.

    Without both it holds all events up to the row. Events are known `delay` later.
    """

    id: str
    length: int | None = None
    rows: int | None = None
    delay: int = 0
    grain: int = 0
    """Where it is not 0, the older bound is rounded down to a multiple of it."""

    def holds(self, event: int, row: int, closed: str) -> bool:
        """Whether an event of this instant lies in the frame of a row, but for `rows`."""
        until = row - self.delay
        if event > until or (event == until and closed in ("left", "none")):
            return False
        if self.length is None:
            return True
        since = until - self.length
        if self.grain:
            since = since // self.grain * self.grain
        return event > since or (event == since and closed in ("left", "both"))


@dataclass(frozen=True)
class Trailing:
    """A question about the frames of rows; `ties` orders events of one instant."""

    frames: Sequence[Frame]
    measures: Sequence[Measure]
    keys: Sequence[str]
    closed: str = "left"
    takes: Callable[[Row], bool | None] = lambda row: True
    ties: Callable[[Row], Any] = lambda row: 0
    time: str = "ts"
    events_time: str = "ts"


def features(asked: Trailing, rows: Iterable[Row], events: Sequence[Row]) -> list[dict[str, Any]]:
    """The features of every row, in order, under `<measure>__<frame>`."""
    found = []
    for row in rows:
        own: dict[str, Any] = {}
        for frame in asked.frames:
            held = _events_of(row, frame, asked, events)
            for measure in asked.measures:
                unknown = row[asked.time] is None
                own[f"{measure.name}__{frame.id}"] = None if unknown else measure.of(held)
        found.append(own)
    return found


def _events_of(row: Row, frame: Frame, asked: Trailing, events: Sequence[Row]) -> list[Row]:
    if row[asked.time] is None:
        return []
    held = [
        event
        for event in events
        if event[asked.events_time] is not None
        and asked.takes(event)
        and all(event[key] == row[key] for key in asked.keys)
        and frame.holds(event[asked.events_time], row[asked.time], asked.closed)
    ]
    if frame.rows is None:
        return held
    held.sort(key=lambda event: (event[asked.events_time], asked.ties(event)))
    return held[-frame.rows :]

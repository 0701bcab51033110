"""Windows that the data decides: sessions, counts, measures, punctuations, and users' own.

Periodic windows (muntin.model.windows) are arithmetic on time; these are not. They are declared as
values all the same, so that one query holds both; `muntin.data_windows` says what they mean for
records in order. The records of each key are taken in the order of their time.

    what            a window begins with                       and ends before
    session         a record after a pause of the gap          the pause (or the maximum length)
    count_window    every slide-th record                      the record `range` records later
    hopping_by      the first record of an interval of the     the first record beyond it
                    measure
    punctuation     a record where the predicate holds         the next one
    snapshot        the first record of a timestamp            the next timestamp
    landmark        each record where the predicate holds,     a record where `until` holds, or
                    also while another window is open          after a length of time
    threshold       the first record, or the one that ended    the record whose value differs from
                    the window before                          that of the first by `by` or more
    user_window     what a function says                       what it says

A window that the data does not finish is left out, or emitted if `incomplete` says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from muntin.errors import WindowError, is_between, shown
from muntin.model.durations import Duration, check_length, duration_text, microseconds
from muntin.model.windows import MOST_OVERLAP, Window

OPEN_LIMIT = 100_000
"""So many windows of one key may be open at a time, unless a user window says otherwise."""

LARGEST = 10**15
"""What a count or a step of a measure may be at most; beyond, doubles lose units."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataWindow:
    """A window that the data decides: what mt.session, mt.count_window and the like make.

    They stand beside periodic windows in the `windows` of a query, on tables and on streams. Two
    are equal when they mean the same; the `id` is only a label. `inputs` are the columns or SQL
    expressions that decide, besides time. `incomplete` says whether windows that the data does not
    finish come out.

    >>> import muntin as mt
    >>> window = mt.hopping_by("mileage", 10, 5)
    >>> isinstance(window, mt.DataWindow), window.inputs, window.incomplete
    (True, ('mileage',), False)
    >>> mt.query("ts", [window, mt.tumbling("1 hour")], [mt.count()]).data_windows == (window,)
    True

    `deciding` are the fields that hold columns or SQL expressions; `order_matters` says whether the
    order of records with equal times can change the result.
    """

    id: str = field(default="", compare=False)
    incomplete: bool = False
    deciding: ClassVar[tuple[str, ...]] = ()
    order_matters: ClassVar[bool] = True

    @property
    def inputs(self) -> tuple[str, ...]:
        """The columns or SQL expressions that decide, besides time."""
        return tuple(sql for each in self.deciding if (sql := getattr(self, each)) is not None)

    def _set_id(self, default: str) -> None:
        if self.id is not None and not isinstance(self.id, str):
            raise WindowError(f"window id {shown(self.id)} must be a non-empty text")
        object.__setattr__(self, "id", self.id or default)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session(DataWindow):
    gap: int
    maximum: int | None = None
    incomplete: bool = True
    order_matters: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _check_length("gap", self.gap)
        if self.maximum is not None:
            _check_length("maximum", self.maximum)
        most = f" up to {duration_text(self.maximum)}" if self.maximum else ""
        self._set_id(f"session {duration_text(self.gap)}{most}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CountWindow(DataWindow):
    range: int
    slide: int

    def __post_init__(self) -> None:
        _check_count("range", self.range, "records")
        _check_count("slide", self.slide, "records")
        _refuse_gaps(self.range, self.slide)
        hop = "" if self.slide == self.range else f"/{self.slide}"
        self._set_id(f"{self.range}{hop} records")


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureWindow(DataWindow):
    """[m·slide, m·slide + range) of a measure that never falls, such as a mileage."""

    measure: str
    range: int | float
    slide: int | float
    deciding: ClassVar[tuple[str, ...]] = ("measure",)

    def __post_init__(self) -> None:
        _check_sql("measure", self.measure)
        _check_positive("range", self.range)
        _check_positive("slide", self.slide)
        _refuse_gaps(self.range, self.slide)
        if self.range / self.slide > MOST_OVERLAP:
            raise WindowError(
                f"range {shown(self.range)} by slide {shown(self.slide)} puts every record into "
                f"more than {MOST_OVERLAP:,} windows: choose a larger slide"
            )
        hop = "" if self.slide == self.range else f"/{self.slide}"
        self._set_id(f"{self.range}{hop} of {self.measure}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Punctuation(DataWindow):
    predicate: str
    deciding: ClassVar[tuple[str, ...]] = ("predicate",)

    def __post_init__(self) -> None:
        _check_sql("predicate", self.predicate)
        self._set_id(f"from {self.predicate}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot(DataWindow):
    incomplete: bool = True
    order_matters: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self._set_id("snapshot")


@dataclass(frozen=True, slots=True, kw_only=True)
class Landmark(DataWindow):
    predicate: str
    until: str | None = None
    length: int | None = None
    incomplete: bool = True
    deciding: ClassVar[tuple[str, ...]] = ("predicate", "until")

    def __post_init__(self) -> None:
        _check_sql("predicate", self.predicate)
        if self.until is not None:
            _check_sql("until", self.until)
        if self.length is not None:
            _check_length("length", self.length)
        end = f" until {self.until}" if self.until else ""
        end += f" for {duration_text(self.length)}" if self.length else ""
        self._set_id(f"since {self.predicate}{end}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold(DataWindow):
    value: str
    by: int | float
    deciding: ClassVar[tuple[str, ...]] = ("value",)

    def __post_init__(self) -> None:
        _check_sql("value", self.value)
        _check_positive("by", self.by)
        self._set_id(f"{self.value} moved by {self.by}")


@dataclass(frozen=True, slots=True, kw_only=True)
class UserWindow(DataWindow):
    """What a window function says; each key has a function of its own, made by `factory`."""

    factory: Callable[[], object]
    columns: tuple[str, ...] = ()
    limit: int = OPEN_LIMIT

    def __post_init__(self) -> None:
        if not callable(self.factory):
            raise WindowError(
                f"user_window takes a class or a function that makes a window function, "
                f"not {shown(self.factory)}"
            )
        for column in self.columns:
            _check_sql("column", column)
        _check_count("limit", self.limit, "open windows")
        inner = getattr(self.factory, "func", self.factory)  # of a functools.partial
        self._set_id(re.sub(r"\W+", " ", getattr(inner, "__name__", "user window")).strip())

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.columns


@dataclass(frozen=True, slots=True, kw_only=True)
class Begins(DataWindow):
    """Slices that begin wherever one of a plan's windows begins: what Cutty shares."""

    windows: tuple[Window | DataWindow, ...] = ()

    def __post_init__(self) -> None:
        self._set_id("slices")


def session(gap: Duration, maximum: Duration | None = None, id: str | None = None) -> Session:
    """Records without a pause of `gap`, as in Spark; at most `maximum` long, if given.

    Both are durations, "30 minutes" or a timedelta. A window begins with a record after a pause and
    ends a gap after its last one. `id` is what results call it.

    >>> session("30 minutes").id
    'session 30 minutes'
    """
    most = None if maximum is None else microseconds(maximum, "maximum")
    return Session(gap=microseconds(gap, "gap"), maximum=most, id=id or "")


def count_window(
    range: int, slide: int | None = None, id: str | None = None, incomplete: bool = False
) -> CountWindow:
    """Every `range` records, beginning at every slide-th record; tumbling without a slide.

    Both are whole numbers, the `slide` at most the range. With `incomplete`, the last windows of a
    key come out although records are missing. `id` is what results call it.

    >>> count_window(100, 10).id
    '100/10 records'
    """
    step = range if slide is None else slide
    return CountWindow(range=range, slide=step, id=id or "", incomplete=incomplete)


def hopping_by(
    measure: str,
    range: int | float,
    slide: int | float | None = None,
    id: str | None = None,
    incomplete: bool = False,
) -> MeasureWindow:
    """Windows over a measure that never falls, such as a mileage, instead of over time.

    `measure` is a column or an SQL expression, `range` and `slide` are in its unit; without a slide
    windows do not overlap. With `incomplete`, the last windows of a key come out although no record
    has passed their end. `id` is what results call it.

    >>> hopping_by("mileage", 10, 5).id
    '10/5 of mileage'
    """
    step = range if slide is None else slide
    return MeasureWindow(
        measure=measure, range=range, slide=step, id=id or "", incomplete=incomplete
    )


def punctuation(predicate: str, id: str | None = None, incomplete: bool = False) -> Punctuation:
    """From each record where the SQL `predicate` holds to the next one.

    With `incomplete`, the last window of a key comes out although no such record follows. `id` is
    what results call it.

    >>> punctuation("gear = 'neutral'").id
    "from gear = 'neutral'"
    """
    return Punctuation(predicate=predicate, id=id or "", incomplete=incomplete)


def snapshot(id: str | None = None) -> Snapshot:
    """A window for every distinct timestamp; `id` is what results call it.

    >>> snapshot().id
    'snapshot'
    """
    return Snapshot(id=id or "")


def landmark(
    predicate: str,
    until: str | None = None,
    length: Duration | None = None,
    id: str | None = None,
    incomplete: bool = True,
) -> Landmark:
    """From each record where the predicate holds: until another does, for a length, or for good.

    `predicate` and `until` are SQL predicates, `length` is a duration. Every such record begins a
    window, also while others are open; for one at a time, which the next landmark ends, let `until`
    hold there too: mt.landmark("started", until="started OR stopped"). A window that neither has
    ended comes out at the end of the data, unless `incomplete` is False. `id` is what results call
    it.

    >>> landmark("status = 'open'", until="status = 'closed'").id
    "since status = 'open' until status = 'closed'"
    """
    reach = None if length is None else microseconds(length, "length")
    return Landmark(
        predicate=predicate, until=until, length=reach, id=id or "", incomplete=incomplete
    )


def threshold(
    value: str, by: int | float, id: str | None = None, incomplete: bool = False
) -> Threshold:
    """Until a value has moved by `by` from that of the window's first record.

    `value` is a column or an SQL expression of numbers. With `incomplete`, the last window of a key
    comes out although the value has not moved so far. `id` is what results call it.

    >>> threshold("price", 5).id
    'price moved by 5'
    """
    return Threshold(value=value, by=by, id=id or "", incomplete=incomplete)


def user_window(
    function: Callable[[], object],
    id: str | None = None,
    columns: tuple[str, ...] | list[str] | None = None,
    incomplete: bool | None = None,
    limit: int = OPEN_LIMIT,
) -> UserWindow:
    """Windows of a function of your own: a class of `muntin.data_windows.WindowFunction`.

    Its method `mark` is given each record of a key, in the order of time, and says how many windows
    end before it and how many begin with it. `function` is the class, or a function without
    arguments that makes one: each key has its own. The class says which `columns` it reads and
    whether `incomplete` windows are emitted, unless you say so here. A key with more than `limit`
    open windows is refused, and so is a function that ends a window which never began, with the
    record it was given. `id` is what results call it, by default the name of the class.

    >>> import muntin as mt, pyarrow as pa
    >>> from datetime import datetime
    >>> from muntin.data_windows import WindowFunction
    >>> class Heating(WindowFunction):
    ...     columns = ("on",)
    ...     before = False
    ...     def mark(self, time, record):
    ...         before, self.before = self.before, record["on"]
    ...         return int(before and not self.before), int(self.before and not before)
    >>> times = [datetime(2026, 1, 1, hour) for hour in range(6)]
    >>> rows = pa.table({"ts": times, "on": [False, True, True, False, True, False]})
    >>> rows = rows.append_column("degrees", [[17, 18, 21, 20, 18, 19]])
    >>> heated = mt.aggregate(
    ...     rows, time="ts", windows=[mt.user_window(Heating)], aggregates=[mt.max("degrees")]
    ... )
    >>> heated.select(["window_id", "max(degrees)"]).to_pylist()
    [{'window_id': 'Heating', 'max(degrees)': 21}, {'window_id': 'Heating', 'max(degrees)': 18}]
    """
    declared = getattr(function, "func", function)
    read = getattr(declared, "columns", ()) if columns is None else columns
    rest = bool(getattr(declared, "incomplete", False)) if incomplete is None else incomplete
    return UserWindow(
        factory=function, columns=tuple(read), id=id or "", incomplete=rest, limit=limit
    )


def _check_positive(what: str, given: object) -> None:
    if not is_between(given, 1 / LARGEST, LARGEST):
        raise WindowError(
            f"{what} {shown(given)} must be positive: a number from {1 / LARGEST:g} to {LARGEST:g}"
        )


def _check_count(what: str, given: object, things: str) -> None:
    if not isinstance(given, int) or not is_between(given, 1, LARGEST):
        raise WindowError(
            f"{what} {shown(given)} must be a whole number of {things}, at least 1 and at most "
            f"{LARGEST:g}"
        )


def _check_length(what: str, given: int) -> None:
    if given <= 0:
        raise WindowError(f"{what} {shown(given)} must be positive")
    check_length(given, what, given)


def _refuse_gaps(range: int | float, slide: int | float) -> None:
    if slide > range:
        raise WindowError(
            f"slide {slide} is longer than range {range}, so records between two windows would "
            "count nowhere: choose a slide of at most the range"
        )


def _check_sql(what: str, given: object) -> None:
    if not isinstance(given, str) or not given.strip():
        raise WindowError(f"{what} {shown(given)} must be a column or an SQL expression, as text")

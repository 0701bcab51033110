"""A query: which aggregates, over which windows, of which rows, for each key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from muntin.aggregates import Aggregate
from muntin.aggregates.expression_text import check_expression
from muntin.errors import QueryError, is_one_of, shown, unknown
from muntin.model.choices import Bounds
from muntin.model.data_windows import DataWindow
from muntin.model.windows import Window, check_overlap

BOUNDS: dict[str, int] = {"spark": 0, "asa": 1}
"""[start, end) as Spark has it, (start, end] as ASA: there, time counts a microsecond earlier."""

RESERVED = ("window_id", "window")
"""Columns of every long result; keys and aggregates may not take these names."""
_RENAME = "give one of them another with .alias(...)"


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked for; how it is computed is a plan's business.

    mt.query and mt.parse_sql make it. It is a value: frozen, and equal to another with the same
    parts. `time`, `keys`, `windows`, `data_windows` (those that the data decides), `aggregates`,
    `where`, `bounds` and `order_by` are what was given. mt.optimize plans it, mt.verify compares
    its rows with the engine's own, and mt.aggregate(df, queries={"id": query, ...}) runs several
    together.

    >>> import muntin as mt
    >>> asked = mt.query("ts", [mt.tumbling("1 hour")], [mt.count(), mt.max("v")], keys="device")
    >>> asked.keys, [window.id for window in asked.windows], asked.aggregates
    (('device',), ['1 hour'], (<count>, <max(v)>))
    >>> asked.idempotent  # a count must not see a row twice
    False

    `apart` says that results have names of their own, which keys and aggregates cannot take.
    """

    time: str
    keys: tuple[str, ...]
    windows: tuple[Window, ...]
    aggregates: tuple[Aggregate, ...]
    where: str | None = None
    bounds: Bounds = "spark"
    data_windows: tuple[DataWindow, ...] = ()
    order_by: tuple[str, ...] = ()
    apart: bool = False

    def __post_init__(self) -> None:
        if not is_one_of(self.bounds, BOUNDS):
            raise QueryError(unknown("bounds", self.bounds, BOUNDS))
        _check_names(self.time, self.keys, self.order_by)
        _check_windows(self.all_windows)
        _check_aggregates(self.aggregates)
        _refuse_duplicates("aggregate name", [a.name for a in self.aggregates], _RENAME)
        if not self.apart:
            _check_results(self.keys, self.aggregates)
        if self.where is not None and not (isinstance(self.where, str) and self.where.strip()):
            raise QueryError(
                f"where {shown(self.where)} must be an SQL condition, as text: where='v > 3'"
            )
        if self.where is not None:
            check_expression(self.where, "where")

    @property
    def set_back(self) -> int:
        """Microseconds to set time back by, so that half-open instances have the bounds asked."""
        return BOUNDS[self.bounds]

    @property
    def idempotent(self) -> bool:
        """Whether every aggregate that is shared allows pieces that overlap.

        Where order matters they may not: no engine then has to keep the order of pieces that are
        neither before nor after one another.
        """
        shared = [a.function for a in self.aggregates if not a.function.holistic]
        return all(function.idempotent and not function.ordered for function in shared)

    @property
    def ordered(self) -> bool:
        """Whether the result of an aggregate depends on the order of records."""
        return any(a.function.ordered for a in self.aggregates)

    @property
    def all_windows(self) -> tuple[Window | DataWindow, ...]:
        """Periodic windows, then those that the data decides."""
        return (*self.windows, *self.data_windows)

    @property
    def window_inputs(self) -> tuple[str, ...]:
        """What windows that the data decides read of records, each expression once."""
        return tuple(dict.fromkeys(text for w in self.data_windows for text in w.inputs))

    @property
    def direct(self) -> tuple[Aggregate, ...]:
        """The aggregates that have no partials, and so are computed by themselves."""
        return tuple(a for a in self.aggregates if a.function.holistic)


def query(
    time: str,
    windows: Iterable[Window | DataWindow],
    aggregates: Iterable[Aggregate],
    keys: str | Iterable[str] = (),
    where: str | None = None,
    bounds: Bounds = "spark",
    order_by: str | Iterable[str] = (),
    apart: bool = False,
) -> Query:
    """Many windows and aggregates over one table or stream, for each value of the keys.

    time        the name of the timestamp column
    windows     mt.tumbling, mt.hopping, mt.session and the like, one or several
    aggregates  mt.count(), mt.avg("v") and the like, one or several
    keys        the columns to group by; without any, all rows are one group
    where       an SQL predicate: other rows do not count
    bounds      "spark": an instance is [start, end); "asa": (start, end]
    order_by    what orders records of equal time, where their order matters
    apart       for mt.as_of, whose results have no columns window and window_id: keys may be so
                called

    Returns a Query, for mt.optimize, mt.verify and the `queries` of mt.aggregate. Windows that are
    equal, names that are given twice, and conditions that are no SQL are refused.

    With bounds="asa" an instance is (start, end] as in Azure Stream Analytics. Windows that the
    data decides, and aggregates of your own that do not commute, take the records of a key in the
    order of time, and `order_by` among equal times.

    >>> from muntin import hopping, min, tumbling
    >>> q = query("ts", [tumbling("10 minutes"), hopping("1 hour", "10 minutes")], [min("t")])
    >>> [w.id for w in q.windows], q.idempotent
    (['10 minutes', '1 hour/10 minutes'], True)
    """
    given: tuple[Window | DataWindow, ...] = _each("windows", windows, (Window, DataWindow))
    order = _each("order_by", order_by, str)
    asked = Query(
        time,
        _each("keys", keys, str),
        tuple(w for w in given if not isinstance(w, DataWindow)),
        _each("aggregates", aggregates, Aggregate),
        where,
        bounds,
        tuple(w for w in given if isinstance(w, DataWindow)),
        order,
        apart,
    )
    if order and not (asked.data_windows or asked.ordered):
        raise QueryError(
            f"order_by {order_by!r} orders the records of windows that the data decides, such as "
            "mt.session('1 hour'), and of aggregates that do not commute (mt.custom), and none is "
            "asked for: leave it out"
        )
    return asked


def _each(what: str, given: Any, kind: type[Any] | tuple[type[Any], ...]) -> tuple[Any, ...]:
    """One value or several, as a tuple."""
    if isinstance(given, (kind, str, bytes)):
        return (given,)
    try:
        each = iter(given)  # a Column of Spark says only here that it is not iterable
    except TypeError:
        name = (kind[0] if isinstance(kind, tuple) else kind).__name__
        raise QueryError(f"{what} {shown(given)} must be a list, or one {name}") from None
    return tuple(each)


def _check_names(time: object, keys: Sequence[object], order_by: Sequence[object]) -> None:
    if not isinstance(time, str) or not time:
        raise QueryError(f"time {shown(time)} must be the name of the timestamp column, as text")
    for what, names in (("key", keys), ("order_by", order_by)):
        for name in names:
            if not isinstance(name, str) or not name:
                raise QueryError(f"{what} {shown(name)} must be the name of a column, as text")
    _refuse_duplicates("key", list(keys))


def _check_windows(windows: Sequence[object]) -> None:
    if not windows:
        raise QueryError("no windows: give at least one, such as mt.tumbling('10 minutes')")
    known: dict[Window | DataWindow, Window | DataWindow] = {}
    for window in windows:
        if not isinstance(window, Window | DataWindow):
            raise QueryError(
                f"{shown(window)} is not a window: use mt.tumbling('10 minutes') "
                "or mt.hopping('1 hour', '5 minutes')"
            )
        if window in known:
            raise QueryError(
                f"windows {shown(known[window].id)} and {shown(window.id)} are equal: "
                "keep one of them"
            )
        if isinstance(window, Window):
            check_overlap(window)
        known[window] = window
    _refuse_duplicates("window id", [w.id for w in known])


def _check_aggregates(aggregates: Sequence[object]) -> None:
    if not aggregates:
        raise QueryError("no aggregates: give at least one, such as mt.count()")
    for aggregate in aggregates:
        if not isinstance(aggregate, Aggregate):
            raise QueryError(
                f"{shown(aggregate)} is not an aggregate: use mt.count(), mt.min('column')"
            )


def _check_results(keys: Sequence[str], aggregates: Sequence[Aggregate]) -> None:
    names = [a.name for a in aggregates]
    known: dict[str, str] = {}
    for name in (*keys, *names):
        if name.lower() in RESERVED:
            raise QueryError(
                f"{shown(name)} is a column of the result: rename it or use .alias(...)"
            )
        if name in keys and name in names:
            raise QueryError(
                f"{shown(name)} is a key and an aggregate: use .alias(...) on the aggregate"
            )
        twin = known.setdefault(name.lower(), name)
        if twin != name:
            raise QueryError(
                f"{shown(twin)} and {shown(name)} differ only in case, which SQL does not tell "
                f"apart: rename one of them, or {_RENAME}"
            )


def _refuse_duplicates(what: str, values: Sequence[object], remedy: str = "keep one") -> None:
    for value, times in Counter(values).items():
        if times > 1:
            raise QueryError(f"{what} {shown(value)} is given {times} times: {remedy}")

"""Data windows in process, over plain records: all windows and aggregates of a key in one pass.

Deterministic functions go through one discretizer and one aggregator a key, so that they share
slices whatever they measure (section 5.3: time and distance); policies share the records of the
key. This is the paper's operator, record by record; tests judge the form over arrays by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from muntin.aggregates import Aggregate
from muntin.aggregates.columns import inputs_of
from muntin.data_windows.aggregator import Aggregator
from muntin.data_windows.discretizer import Discretizer, Ended, Track
from muntin.data_windows.policies import RecordWindows, record_limit
from muntin.data_windows.protocol import Policy, Record, WindowFunction
from muntin.data_windows.window_functions import function_of
from muntin.errors import ColumnError, UserWindowError
from muntin.incremental import Monoid
from muntin.incremental.protocol import monoid_of
from muntin.model.data_windows import OPEN_LIMIT, DataWindow, UserWindow
from muntin.model.windows import Window

Partials = Sequence[object]
Row = dict[str, Any]


class Together:
    """Several aggregates as one monoid: a partial is a tuple of theirs."""

    invertible = selective = False

    def __init__(self, aggregates: Sequence[Aggregate]) -> None:
        self._monoids: list[Monoid] = [monoid_of(a) for a in aggregates]
        self.identity = tuple(m.identity for m in self._monoids)
        self.commutative = all(m.commutative for m in self._monoids)

    def lift(self, values: Partials) -> Partials:
        return tuple(m.lift(v) for m, v in zip(self._monoids, values, strict=True))

    def combine(self, older: Partials, newer: Partials) -> Partials:
        return tuple(m.combine(a, b) for m, a, b in zip(self._monoids, older, newer, strict=True))

    def lower(self, partial: Partials) -> Partials:
        return tuple(m.lower(p) for m, p in zip(self._monoids, partial, strict=True))

    def invert(self, whole: Partials, older: Partials) -> Partials:
        return tuple(m.invert(w, o) for m, w, o in zip(self._monoids, whole, older, strict=True))


class KeyWindows:
    """All windows and aggregates over the records of one key."""

    def __init__(
        self,
        windows: Sequence[DataWindow | Window],
        aggregates: Sequence[Aggregate],
        store: str = "eager",
    ) -> None:
        self._names = [a.name for a in aggregates]
        self._arguments = [_arguments(a) for a in aggregates]
        monoid = Together(aggregates)
        tracks: list[Track] = []
        policies: list[Policy] = []
        self._policy_ids: list[str] = []
        for window in windows:
            function = function_of(window)
            if isinstance(function, Policy) and not function.deterministic:
                policies.append(function)
                self._policy_ids.append(window.id)
            else:
                tracks.append(_track(window, function))
        self._ids = [track.name for track in tracks]
        self._discretizer = Discretizer(tracks)
        self._aggregator = Aggregator(monoid, store)
        limit = record_limit(windows)
        self._records = RecordWindows(monoid, policies, store, self._policy_ids, limit)

    def record(self, time: int, record: Record) -> list[Row]:
        """The rows of the windows that end before the record."""
        values = self._values(record)
        ended, begun = self._discretizer.record(time, record)
        rows = self._rows(ended) if ended else []
        if begun:
            self._aggregator.begin(b.number for b in begun)
        self._aggregator.fold(values)
        if self._policy_ids:
            for e in self._records.record(time, values, record):
                rows.append(self._row(self._policy_ids[e.policy], e.start, e.end, e.result))
        return rows

    def finish(self) -> list[Row]:
        """The rows of the windows that the end of the data ends."""
        return self._rows(self._discretizer.finish())

    def _rows(self, ended: Sequence[Ended]) -> list[Row]:
        results = self._aggregator.end(e.number for e in ended)
        return [
            self._row(self._ids[e.function], e.start, e.end, result)
            for e, result in zip(ended, results, strict=True)
        ]

    def _row(self, id: str, start: int, end: int, result: Partials) -> Row:
        values = dict(zip(self._names, result, strict=True))
        return {"window_id": id, "start": start, "end": end, **values}

    def _values(self, record: Record) -> list[object]:
        """What each aggregate lifts of a record: the value of its argument, or several."""
        try:
            return [
                record[names[0]] if len(names) == 1 else tuple(record[n] for n in names) or 1
                for names in self._arguments
            ]
        except KeyError as missing:
            raise ColumnError(
                f"an aggregate needs {missing.args[0]!r}, which the record {dict(record)!r} does "
                "not have: plain records are not computed on, so give it a field of that name"
            ) from None


def _track(window: DataWindow | Window, function: WindowFunction) -> Track:
    limit = window.limit if isinstance(window, UserWindow) else OPEN_LIMIT
    incomplete = isinstance(window, DataWindow) and window.incomplete
    return Track(function, window.id, limit, incomplete)


def _arguments(aggregate: Aggregate) -> tuple[str, ...]:
    """The fields that an aggregate reads."""
    if aggregate.predicate or aggregate.filters.count(None) < len(aggregate.filters):
        raise UserWindowError(
            f"{aggregate.name}: a filter is SQL, which plain records cannot be tested with: "
            "use mt.aggregate on a table"
        )
    return tuple(each.argument for each in inputs_of(aggregate))


def evaluate(
    records: Iterable[Record],
    time: str,
    windows: Iterable[DataWindow | Window],
    aggregates: Iterable[Aggregate],
    keys: str | Sequence[str] = (),
    store: str = "eager",
) -> Iterator[Row]:
    """Rows of windows as they end, over records (mappings) in the order of time.

    Times are whole numbers in one unit, microseconds where windows have durations.

    >>> import muntin as mt
    >>> trips = [{"t": t, "km": km} for t, km in ((0, 0), (4, 6), (7, 11), (12, 17), (20, 18))]
    >>> windows = [mt.Window(10, 10, id="time"), mt.hopping_by("km", 10, id="distance")]
    >>> for row in evaluate(trips, "t", windows, [mt.count()]): print(*row.values())
    distance 0 5 2
    time 0 10 3
    time 10 20 1
    time 20 30 1
    """
    all_windows, all_aggregates = list(windows), list(aggregates)
    names = [keys] if isinstance(keys, str) else list(keys)
    groups: dict[tuple[object, ...], KeyWindows] = {}
    for record in records:
        if record[time] is None:
            continue
        key = tuple(record[name] for name in names)
        group = groups.get(key)
        if group is None:
            group = groups[key] = KeyWindows(all_windows, all_aggregates, store)
        for row in group.record(record[time], record):
            yield {**row, **dict(zip(names, key, strict=True))}
    for key, group in groups.items():
        for row in group.finish():
            yield {**row, **dict(zip(names, key, strict=True))}

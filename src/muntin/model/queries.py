"""Several queries as one: which of them can share, and how each gets back what it asked for.

Queries over the same rows (time, bounds, filter) and the same keys form one sharing set. Its
combined query holds every window and every aggregate once, under whatever ids they were asked for;
any strategy plans it like any other query. A member keeps the way back: which window of the
combined query is which of its own, and which column.

    a: 10 min, 1 h; count, avg          combined: 10 min, 1 h, 1 day; count, avg, max
    b: 10 min, 1 day; max, avg as mean  b's way back: windows {10 min, 1 day}, {max, avg: mean}

A query with an aggregate that has no partials stands alone: the engine would compute it for every
window of the set. So does one with an aggregate written in Python, which only one operator runs.

Windows that the data decides share slices too, with each other and with periodic ones (section 5.3
of the Cutty paper), as far as every query keeps the rows that it has by itself:

    order   where records of equal time may decide a result, queries share that take these in one
            order: the same `order_by`, or no `order_by` and the same inputs and aggregates
    late    on a stream periodic windows take late rows while they are open, and windows that the
            data decides cannot: there, queries of periodic windows alone keep a plan of their own

One result for all has the columns query_id, window_id, window, the keys and then the results of all
queries, each name once; a column is null in the rows of queries that do not have it. Two queries
may give one name to different things, as long as these are of one type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import TypeVar, get_args

from muntin.aggregates import Aggregate
from muntin.errors import QueryError, StrategyError, is_one_of, shown, unknown
from muntin.model.choices import Deliver
from muntin.model.data_windows import DataWindow
from muntin.model.query import Query
from muntin.model.windows import Window

T = TypeVar("T")

QUERY_ID = "query_id"
"""The column that says whose row it is."""

DELIVERIES = get_args(Deliver)
REMEDY = "use .alias(...) in one of them, or deliver='dict' for a result of each"


@dataclass(frozen=True, slots=True)
class Member:
    """A query of a set: what its windows and its results are called in the combined query."""

    id: str
    query: Query
    windows: Mapping[str, str]
    results: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SharingSet:
    """Queries that are planned as one, and why they are not one with the sets before."""

    query: Query
    members: tuple[Member, ...]
    reason: str = ""

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(member.id for member in self.members)

    @property
    def common(self) -> dict[str, tuple[str, ...]]:
        """Windows and results of the combined query that several queries ask for, with their ids.

        >>> from muntin import count, query, session
        >>> asked = [query("ts", [session("5 minutes")], [count()]) for _ in "ab"]
        >>> sharing_sets(dict(zip("ab", asked)))[0].common
        {'session 5 minutes': ('a', 'b'), 'count': ('a', 'b')}
        """
        asked: dict[str, dict[str, None]] = {}
        for part in ("windows", "results"):
            for member in self.members:
                for name in getattr(member, part).values():
                    asked.setdefault(name, {})[member.id] = None
        return {name: tuple(ids) for name, ids in asked.items() if len(ids) > 1}


def sharing_sets(queries: Mapping[str, Query], stream: bool = False) -> tuple[SharingSet, ...]:
    """The queries in as few sets as possible, in the order in which they were given.

    >>> from muntin import avg, count, max, query, tumbling
    >>> ten, hour = tumbling("10 minutes"), tumbling("1 hour")
    >>> a = query("ts", [ten, hour], [count(), avg("t")])
    >>> b = query("ts", [ten], [max("t"), avg("t").alias("mean")])
    >>> [one] = sharing_sets({"a": a, "b": b})
    >>> one.query.aggregates, one.members[1].results
    ((<count>, <avg(t)>, <max(t)>), {'max(t)': 'max(t)', 'mean': 'avg(t)'})
    """
    _check(queries)
    alike: dict[tuple[object, ...], dict[str, Query]] = {}
    for id, query in queries.items():
        alone = id if _alone(query) else None
        key = (query.time, query.bounds, query.where, frozenset(query.keys), alone)
        alike.setdefault(key, {})[id] = query
    found: list[SharingSet] = []
    for same_rows in alike.values():
        for members in _split(same_rows, stream):
            found.append(_combined(members, _apart(members, found, stream)))
    return tuple(found)


def _split(queries: Mapping[str, Query], stream: bool) -> list[dict[str, Query]]:
    """Queries over the same rows, parted where one plan would give one of them other rows."""
    by_data = [id for id, query in queries.items() if query.data_windows]
    if not by_data:
        return [dict(queries)]
    ties = {id: t for id in by_data if (t := _ties(queries[id])) is not None}
    first = next(iter(ties.values()), None)
    apart: dict[object, dict[str, Query]] = {}
    for id, query in queries.items():
        clock = not query.data_windows and (stream or _unmerged(query) is not None)
        apart.setdefault("clock" if clock else ties.get(id, first), {})[id] = query
    return list(apart.values())


def _ties(query: Query) -> tuple[object, ...] | None:
    """What orders records of equal time, where their order can change the query's rows."""
    windows, functions = query.data_windows, [a.function for a in query.aggregates]
    if not windows or not (
        any(w.order_matters for w in windows) or any(not f.commutative for f in functions)
    ):
        return None
    if query.order_by:
        return query.order_by
    return query.window_inputs, tuple(map(_nameless, query.aggregates))


def _check(queries: object) -> None:
    if not isinstance(queries, Mapping) or not queries:
        raise QueryError(
            f"queries {shown(queries)} must be queries by their ids, such as "
            "{'fraud': mt.query(...), 'usage': mt.query(...)}"
        )
    for id, query in queries.items():
        if not isinstance(id, str) or not id:
            raise QueryError(f"query id {shown(id)} must be a non-empty text")
        if not isinstance(query, Query):
            raise QueryError(f"query {id!r} is {shown(query)}, not a query from mt.query(...)")
        for name in (*query.keys, *(a.name for a in query.aggregates)):
            if name == QUERY_ID:
                raise QueryError(
                    f"{name!r} of query {id!r} is a column of the result: rename it, or use .alias"
                )


def _alone(query: Query) -> str | None:
    """Why a query cannot be planned with others, whatever they ask."""
    for aggregate in query.aggregates:
        if aggregate.function.holistic:
            return f"{aggregate.name} has no partials to share"
        if aggregate.function.in_python:
            return f"{aggregate.name} is written in Python"
    return _unmerged(query) if query.data_windows else None


def _unmerged(query: Query) -> str | None:
    """Why the records of windows that the data decides could not be merged in arrays."""
    for aggregate in query.aggregates:
        if aggregate.function.in_frames or aggregate.function.approximate:
            return f"{aggregate.name} is merged only by the engine itself"
    return None


def _apart(members: Mapping[str, Query], before: list[SharingSet], stream: bool) -> str:
    """Why these queries are not planned with the first set that was found before them."""
    if not before:
        return ""
    own, other = next(iter(members.values())), before[0].query
    alone = _alone(own) or _alone(other)
    if alone:
        return alone
    parts = {
        "time column": (own.time, other.time),
        "bounds": (own.bounds, other.bounds),
        "filter": (own.where or "none", other.where or "none"),
        "keys": tuple(", ".join(sorted(q.keys)) or "none" for q in (own, other)),
    }
    found = "; ".join(f"{what} {a}, not {b}" for what, (a, b) in parts.items() if a != b)
    if found:
        return found
    if not (own.data_windows and other.data_windows):
        late = "late rows count in periodic windows that are still open, and in no others"
        return late if stream else _unmerged(own) or _unmerged(other) or ""
    return (
        "records of equal time may come in another order, which can change the windows: give both "
        "queries the same order_by"
    )


def _combined(queries: Mapping[str, Query], reason: str) -> SharingSet:
    """Every window and aggregate once; equal ones keep the id that they were first asked under.

    What a query that depends on the order of records reads comes first, so that records of equal
    time are in the order that it has by itself.
    """
    windows: dict[Window | DataWindow, str] = {}
    aggregates: dict[Aggregate, str] = {}
    ordered = sorted(queries.items(), key=lambda item: _ties(item[1]) is None)
    for id, query in ordered:
        for window in query.all_windows:
            _name(window, window.id, id, windows)
        for each in query.aggregates:
            _name(_nameless(each), each.name, id, aggregates)
    members = tuple(
        Member(
            id,
            query,
            {w.id: windows[w] for w in query.all_windows},
            {a.name: aggregates[_nameless(a)] for a in query.aggregates},
        )
        for id, query in queries.items()
    )
    named = [replace(window, id=id) for window, id in windows.items()]
    query = replace(
        ordered[0][1],
        windows=tuple(w for w in named if isinstance(w, Window)),
        data_windows=tuple(w for w in named if isinstance(w, DataWindow)),
        aggregates=tuple(a if a.name == n else a.alias(n) for a, n in aggregates.items()),
    )
    return SharingSet(query, members, reason)


def _nameless(aggregate: Aggregate) -> Aggregate:
    """What an aggregate computes, whatever its result is called."""
    return replace(aggregate, given_name=None, written=None)


def _name(thing: T, asked: str, query_id: str, names: dict[T, str]) -> None:
    """Name a thing that has no name yet: as asked, or with its query's id where that is taken."""
    if thing in names:
        return
    taken = set(names.values())
    numbered = (f"{asked} of {query_id} ({n})" for n in count(2))
    free = chain((asked, f"{asked} of {query_id}"), numbered)
    names[thing] = next(name for name in free if name not in taken)


@dataclass(frozen=True, slots=True)
class Frame:
    """The keys and results of one result for all queries."""

    keys: tuple[str, ...]
    results: tuple[str, ...]

    @staticmethod
    def of(sets: Sequence[SharingSet]) -> Frame:
        """Every key and result once; refused where one query's key is another's result."""
        members = [member for each in sets for member in each.members]
        keys = dict.fromkeys(key for member in members for key in member.query.keys)
        results = dict.fromkeys(name for member in members for name in member.results)
        both = next((name for name in results if name in keys), None)
        if both is not None:
            one = next(m.id for m in members if both in m.query.keys)
            other = next(m.id for m in members if both in m.results)
            raise QueryError(
                f"{both!r} is a key of query {one!r} and a result of query {other!r}: {REMEDY}"
            )
        spelled: dict[str, str] = {}
        for name in (*keys, *results):
            if spelled.setdefault(name.lower(), name) != name:
                raise QueryError(
                    f"{spelled[name.lower()]!r} and {name!r} differ only in case, which is one "
                    f"column to engines: {REMEDY}"
                )
        return Frame(tuple(keys), tuple(results))


def check_delivery(deliver: str) -> None:
    if not is_one_of(deliver, DELIVERIES):
        raise StrategyError(unknown("deliver", deliver, DELIVERIES))


def check_types(sets: Sequence[SharingSet], types: Sequence[Mapping[str, str]]) -> None:
    """Refuse a column that would have two types; `types` are those of each combined result."""
    known: dict[str, tuple[str, str]] = {}
    for each, kinds in zip(sets, types, strict=True):
        for member in each.members:
            places = {key: key for key in ("window", *member.query.keys)} | dict(member.results)
            for name, place in places.items():
                kind, first = known.setdefault(name, (kinds[place], member.id))
                if kind != kinds[place]:
                    raise QueryError(
                        f"{name!r} is {kind} in query {first!r} and {kinds[place]} in query "
                        f"{member.id!r}: {REMEDY}"
                    )

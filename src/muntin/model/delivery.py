"""One result for several queries: which columns it has, and where each query's come from.

The columns are query_id, window_id, window, the keys and then the results of all queries, each name
once, in the order in which the queries name them; a column is null in the rows of queries that do
not have it. Two queries may give one name to different things, as long as these are of one type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from muntin.errors import QueryError, StrategyError, is_one_of, unknown
from muntin.model.choices import Deliver
from muntin.model.queries import SharingSet

DELIVERIES = get_args(Deliver)
REMEDY = "use .alias(...) in one of them, or deliver='dict' for a result of each"


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
    """Refuse an unknown way to deliver."""
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

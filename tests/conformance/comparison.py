"""A result beside the oracle's, and the smallest question that still differs."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from conformance.everyday import Question
from conformance.oracle import Place, Rows
from muntin.model.query import Query
from muntin_testing.values import same

TOLERANCE = 1e-9
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def by_place(rows: Iterable[Mapping[str, Any]], keys: Iterable[str], context: str = "") -> Rows:
    """Rows of the long layout by window, begin, end and keys; no place may come twice."""
    found: Rows = {}
    for row in rows:
        window = row["window"]
        ends = [microseconds(window[end]) for end in ("start", "end")]
        place = (row["window_id"], *ends, *(plain(row[key]) for key in keys))
        assert place not in found, f"two rows for {place} {context}"
        left = {"window_id", "window", *keys}
        found[place] = {n: plain(value) for n, value in row.items() if n not in left}
    return found


def of_query(rows: Iterable[Mapping[str, Any]], id: str, query: Query) -> Rows:
    """The rows of one of several queries, without the columns of the others."""
    names = ["window_id", "window", *query.keys, *(a.name for a in query.aggregates)]
    own = [{name: row[name] for name in names} for row in rows if row["query_id"] == id]
    return by_place(own, query.keys, f"of query {id}")


def microseconds(instant: datetime) -> int:
    """Since 1970."""
    aware = instant if instant.tzinfo else instant.replace(tzinfo=UTC)
    gone = aware - EPOCH
    return (gone.days * 86_400 + gone.seconds) * 1_000_000 + gone.microseconds


def plain(value: Any) -> Any:
    """A value as Python has it; what pandas marks as missing is None."""
    if value is None or value != value or type(value).__name__ in ("NAType", "NaTType"):
        return None
    return value.item() if hasattr(value, "item") else value


def differences(ours: Mapping[Place, Any], theirs: Mapping[Place, Any]) -> list[str]:
    """What differs, in words: rows that only one side has, and values that are not the same."""
    found = [f"only Muntin has {p}: {ours[p]}" for p in ours.keys() - theirs.keys()]
    found += [f"only the oracle has {p}: {theirs[p]}" for p in theirs.keys() - ours.keys()]
    for place in ours.keys() & theirs.keys():
        left, right = ours[place], theirs[place]
        wrong = [n for n in right if n not in left or not same(left[n], right[n], TOLERANCE)]
        wrong += [n for n in left if n not in right]
        found += [f"{place} {n}: {left.get(n)!r}, the oracle's {right.get(n)!r}" for n in wrong]
    return sorted(found)


def smallest(question: Question, differs: Callable[[Question], bool]) -> Question:
    """The question with windows, aggregates, keys and rows left out as long as it differs."""
    for smaller in question.without_one():
        if differs(smaller):
            return smallest(smaller, differs)
    return question

"""The parts of a query that read columns, each with the words that name it in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from muntin.aggregates.columns import distinct_inputs
from muntin.dialects.expressions import parse_expression
from muntin.errors import ColumnError, QueryError, did_you_mean, shown
from muntin.model.query import Query

NAMES = ("time", "key", "order_by")
CONDITIONS = ("where", "filter")


@dataclass(frozen=True, slots=True)
class Part:
    """A name of a column, a condition or another expression, as the user wrote it."""

    what: str
    text: str

    def fails(self, reason: str) -> ColumnError:
        """The error that says so."""
        verb = "evaluated" if self.what == "where" else "computed"
        return ColumnError(f"{self.what} {shown(self.text)} cannot be {verb}: {reason}")

    def reads(self, columns: Sequence[str]) -> set[str] | None:
        """The columns it may read, in lower case, or None for all of them."""
        if self.what in NAMES or self.text in columns:
            return {self.text.lower()}
        tree = parse_expression(self.text)
        if tree is None:
            return set()  # which is refused for other reasons
        if tree.find(exp.Star):
            return None
        return {name.name.lower() for name in tree.find_all(exp.Identifier)}


def parts_of(query: Query) -> tuple[Part, ...]:
    """Every part, in the order in which to blame them."""
    parts = [Part("time", query.time), *(Part("key", key) for key in query.keys)]
    if query.where is not None:
        parts.append(Part("where", query.where))
    for each in distinct_inputs(query.aggregates):
        if each.predicate is not None:
            parts.append(Part("filter", each.predicate))
        parts.append(Part("input", each.argument))
    parts += [Part("window input", text) for w in query.data_windows for text in w.inputs]
    parts += [Part("order_by", name) for name in query.order_by]
    return tuple(dict.fromkeys(parts))


def _check_names(query: Query) -> None:
    """Refuse a column that would come back under half of its name."""
    names = (query.time, *query.keys, *(a.name for a in query.aggregates))
    inputs = (part.text for part in parts_of(query) if part.what == "input")
    for name in (*names, *inputs):
        if "\0" in name:
            raise QueryError(
                f"{shown(name)} holds a NUL, where names end in DuckDB: rename the column, or use "
                ".alias(...)"
            )


def columns_read(queries: Sequence[Query], columns: Sequence[str]) -> list[int]:
    """Which columns the queries read, by position; refused where a name fits none or several.

    Names that differ only in case are one name in DuckDB, as in Spark by default.
    """
    for query in queries:
        _check_names(query)
    places: dict[str, list[int]] = {}
    for place, name in enumerate(columns):
        places.setdefault(name.lower(), []).append(place)
    read: set[int] = set()
    for part in dict.fromkeys(part for query in queries for part in parts_of(query)):
        if part.what in NAMES and part.text.lower() not in places:
            hint = did_you_mean(part.text, columns)
            raise ColumnError(f"{part.what} {shown(part.text)} is not a column: {hint}")
        names = part.reads(columns)
        for name in places if names is None else names & places.keys():
            if len(places[name]) > 1:
                same = [columns[place] for place in places[name]]
                raise ColumnError(
                    f"{part.what} {shown(part.text)} is ambiguous: the table has {same}; "
                    "rename all but one of them"
                )
            read.update(places[name])
    return sorted(read)

"""Each query its own rows, in SQL: the combined result joined with a small table of who asked.

SELECT query_id, label AS window_id, … FROM (…) AS combined JOIN (VALUES …) AS labels ON …
"""

from __future__ import annotations

from collections.abc import Sequence

from muntin.dialects.writer import Writer
from muntin.model.queries import QUERY_ID, Frame, Member, SharingSet


def in_one_sql(texts: Sequence[str], sets: Sequence[SharingSet], writer: Writer) -> str:
    """One statement for all queries, from that of each set's combined query."""
    frame = Frame.of(sets)
    parts = [_handed_out(t, each, frame, writer) for t, each in zip(texts, sets, strict=True)]
    return "\nUNION ALL\n".join(parts)


def own_sql(text: str, member: Member, writer: Writer) -> str:
    """The statement of one query of a set."""
    label, quoted = writer.literal, writer.quoted
    pairs = [f"({label(combined)}, {label(id)})" for id, combined in member.windows.items()]
    columns = [
        "labels.label AS window_id",
        *(f"{_of(name, writer)} AS {quoted(name)}" for name in ("window", *member.query.keys)),
        *(f"{_of(place, writer)} AS {quoted(name)}" for name, place in member.results.items()),
    ]
    return _joined(columns, text, pairs, "asked, label")


def _handed_out(text: str, each: SharingSet, frame: Frame, writer: Writer) -> str:
    label, quoted = writer.literal, writer.quoted
    pairs = [
        f"({label(combined)}, {label(member.id)}, {label(id)})"
        for member in each.members
        for id, combined in member.windows.items()
    ]
    values = {"window": _of("window", writer)}
    values |= {k: _of(k, writer) if k in each.query.keys else "NULL" for k in frame.keys}
    values |= {name: _value(name, each, writer) for name in frame.results}
    named = [f"{value} AS {quoted(name)}" for name, value in values.items()]
    columns = [f"labels.{QUERY_ID}", "labels.label AS window_id", *named]
    return _joined(columns, text, pairs, f"asked, {QUERY_ID}, label")


def _joined(columns: list[str], text: str, pairs: list[str], names: str) -> str:
    asked = f"(VALUES {', '.join(pairs)}) AS labels ({names})"
    select = "SELECT\n  " + ",\n  ".join(columns)
    source = f"FROM (\n{text}\n) AS combined"
    return f"{select}\n{source}\nJOIN {asked} ON labels.asked = combined.window_id"


def _of(name: str, writer: Writer) -> str:
    return f"combined.{writer.quoted(name)}"


def _value(name: str, each: SharingSet, writer: Writer) -> str:
    """What a name means in the row of each query; null where it means nothing."""
    places = {m.id: m.results[name] for m in each.members if name in m.results}
    if not places:
        return "NULL"
    if len(places) == len(each.members) and len(set(places.values())) == 1:
        return _of(next(iter(places.values())), writer)
    cases = [f"WHEN {writer.literal(id)} THEN {_of(p, writer)}" for id, p in places.items()]
    return f"CASE labels.{QUERY_ID} {' '.join(cases)} END"

"""Lists and structs in SQL: constants, one list made of another, steps between two numbers.

                 Spark                                     DuckDB
    a struct     named_struct('a', 1)                      {'a': 1}
    each         transform(filter(l, x -> c), x -> b)      [b for x in l if c]
    steps        sequence(first, last, step)               range(first, last + 1, step)
    a constant   from_json('[...]', 'ARRAY<...>')          CAST([...] AS ...[])

A constant is one small literal: engines fold it when they plan.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Protocol

from muntin.dialects.duckdb_text import DuckdbWriter
from muntin.dialects.spark_text import SparkWriter
from muntin.dialects.writer import Writer

Fields = Mapping[str, str]
"""Fields of a struct and their SQL, or their types."""

_IN_DUCKDB = {"STRING": "VARCHAR"}


class ListWriter(Protocol):
    """One engine's way to write lists and structs."""

    @property
    def scalars(self) -> Writer:
        """The writer of everything else."""

    def struct(self, fields: Fields) -> str:
        """A struct of these expressions."""

    def array(self, items: Sequence[str]) -> str:
        """A list of these expressions."""

    def each(self, items: str, name: str, body: str, where: str | None = None) -> str:
        """The list of `body` for each item under this name, where a condition holds."""

    def steps(self, first: str, last: str, step: str) -> str:
        """first, first + step, … up to last: an empty list where it is before the first."""

    def flatten(self, lists: str) -> str:
        """One list of all items of lists."""

    def item(self, items: str, place: str) -> str:
        """The item of a list at a place that is counted from 0."""

    def constant(self, rows: object, fields: Fields, depth: int = 1) -> str:
        """A constant list of structs with fields of these types (STRING, INT, BIGINT).

        With depth 2 it is a list of such lists.
        """


class SparkLists:
    """Spark SQL."""

    scalars: Writer = SparkWriter()

    def struct(self, fields: Fields) -> str:
        parts = (f"{self.scalars.literal(name)}, {sql}" for name, sql in fields.items())
        return f"named_struct({', '.join(parts)})"

    def array(self, items: Sequence[str]) -> str:
        return f"array({', '.join(items)})"

    def each(self, items: str, name: str, body: str, where: str | None = None) -> str:
        """
        >>> SparkLists().each("l", "x", "x + 1", "x > 2")
        'transform(filter(l, x -> x > 2), x -> x + 1)'
        """
        chosen = items if where is None else f"filter({items}, {name} -> {where})"
        return chosen if body == name else f"transform({chosen}, {name} -> {body})"

    def steps(self, first: str, last: str, step: str) -> str:
        """Spark's sequence would run backwards, or fail."""
        return f"if({first} <= {last}, sequence({first}, {last}, {step}), array())"

    def flatten(self, lists: str) -> str:
        return f"flatten({lists})"

    def item(self, items: str, place: str) -> str:
        return f"element_at({items}, {place} + 1)"

    def constant(self, rows: object, fields: Fields, depth: int = 1) -> str:
        inner = ", ".join(f"{name} {kind}" for name, kind in fields.items())
        kind = "ARRAY<" * depth + f"STRUCT<{inner}>" + ">" * depth
        return f"from_json({self.scalars.literal(json.dumps(rows))}, '{kind}')"


class DuckdbLists:
    """DuckDB."""

    scalars: Writer = DuckdbWriter()

    def struct(self, fields: Fields) -> str:
        return "{" + ", ".join(f"'{name}': {sql}" for name, sql in fields.items()) + "}"

    def array(self, items: Sequence[str]) -> str:
        return f"[{', '.join(items)}]"

    def each(self, items: str, name: str, body: str, where: str | None = None) -> str:
        """
        >>> DuckdbLists().each("l", "x", "x + 1", "x > 2")
        '[x + 1 for x in l if x > 2]'
        """
        return f"[{body} for {name} in {items}{'' if where is None else f' if {where}'}]"

    def steps(self, first: str, last: str, step: str) -> str:
        return f"range({first}, {last} + 1, {step})"

    def flatten(self, lists: str) -> str:
        return f"flatten({lists})"

    def item(self, items: str, place: str) -> str:
        return f"list_extract({items}, {place} + 1)"

    def constant(self, rows: object, fields: Fields, depth: int = 1) -> str:
        inner = ", ".join(f"{name} {_IN_DUCKDB.get(kind, kind)}" for name, kind in fields.items())
        return f"CAST({self._value(rows)} AS STRUCT({inner}){'[]' * depth})"

    def _value(self, value: object) -> str:
        match value:
            case str():
                return self.scalars.literal(value)
            case dict():
                return self.struct({name: self._value(each) for name, each in value.items()})
            case list() | tuple():
                return self.array([self._value(each) for each in value])
        return str(value)

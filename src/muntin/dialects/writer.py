"""What a dialect must be able to write; everything else of a rewritten query is common SQL."""

from __future__ import annotations

from typing import Protocol

from sqlglot import exp

from muntin.aggregates.columns import Columns
from muntin.dialects.expressions import Kinds


class Writer(Protocol):
    """One engine's way to write the few things that differ."""

    @property
    def name(self) -> str:
        """The name that users write."""

    def quoted(self, name: str) -> str:
        """A name of a column or table."""

    def literal(self, text: str) -> str:
        """A text constant."""

    def expression(self, tree: exp.Expr) -> str:
        """An expression that was read as Spark SQL."""

    def aggregates(self, columns: Columns, kinds: Kinds) -> Columns:
        """Lifts, merges and finals, given as Spark SQL, for inputs v0, v1, … of these types."""

    def microseconds(self, column: str, kind: str | None) -> str:
        """A time column as microseconds since 1970."""

    def instant(self, microseconds: str, kind: str | None) -> str:
        """Microseconds since 1970 as the type that window bounds have for this time column."""

    def bounds(self, start: str, end: str) -> str:
        """A struct with the fields start and end, as Spark's window() names them."""

    def remainder(self, value: str, step: int | str) -> str:
        """The value modulo the step, never negative."""

    def latest(self, position: str, origin: int, step: int) -> str:
        """The latest instant at or before a position that is the origin modulo the step."""

    def quotient(self, value: str, step: int) -> str:
        """A whole number divided by a step that divides it."""

    def counting(self, table: str, count: int) -> str:
        """Each row of a table with each i from 0 to count - 1."""

    def cte(self, name: str, readers: int) -> str:
        """The head of a common table expression that so many others read."""

"""Spark SQL."""

from __future__ import annotations

from sqlglot import exp

from muntin.aggregates.columns import Columns
from muntin.dialects.expressions import AnsiSpark, Kinds, shift
from muntin.errors import ColumnError, QueryError

_EPOCH = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"


class SparkWriter:
    """Spark 4 in ANSI mode."""

    name = "spark"

    def quoted(self, name: str) -> str:
        """
        >>> print(SparkWriter().quoted("a `b` c"))
        `a ``b`` c`
        """
        return "`" + _unreplaced(name).replace("`", "``") + "`"

    def literal(self, text: str) -> str:
        """Backslashes escape in Spark, and ${...} would be replaced by a setting.

        >>> print(SparkWriter().literal("it's ${x}"))
        'it\\'s \\u0024{x}'
        """
        escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
        return "'" + escaped.replace("\r", "\\r").replace("${", "\\u0024{") + "'"

    def expression(self, tree: exp.Expr) -> str:
        """Quoted names, no comments."""
        text = tree.sql(AnsiSpark, identify=True, comments=False, normalize_functions="lower")
        return _unreplaced(text)

    def aggregates(self, columns: Columns, kinds: Kinds) -> Columns:
        """They are Spark's already."""
        return columns

    def microseconds(self, column: str, kind: str | None) -> str:
        """Without a zone, time counts as if it were UTC; a date is midnight of the session."""
        match kind:
            case None | "timestamp":
                return f"unix_micros({column})"
            case "date":
                return f"unix_micros(CAST({column} AS TIMESTAMP))"
            case "timestamp_ntz":
                return f"timestampdiff(MICROSECOND, {_EPOCH}, {column})"
        raise ColumnError(
            f"time column {column} is {kind}, not a timestamp: convert it first, for instance with "
            f"to_timestamp({column}) for text or timestamp_seconds({column}) for Unix seconds"
        )

    def instant(self, microseconds: str, kind: str | None) -> str:
        """`timestamp`, or `timestamp_ntz` where the time column is."""
        if kind == "timestamp_ntz":
            # Division of a bigint is in doubles, which lose microseconds centuries from 1970.
            seconds = f"CAST(CAST({microseconds} AS DECIMAL(20, 0)) / 1000000 AS DECIMAL(18, 6))"
            return f"{_EPOCH} + make_dt_interval(0, 0, 0, {seconds})"
        return f"timestamp_micros({microseconds})"

    def bounds(self, start: str, end: str) -> str:
        return f"named_struct('start', {start}, 'end', {end})"

    def remainder(self, value: str, step: int | str) -> str:
        """pmod is never negative."""
        return f"pmod({value}, {step})"

    def latest(self, position: str, origin: int, step: int) -> str:
        """
        >>> print(SparkWriter().latest("t", 5, 60))
        t - pmod(t - 5, 60)
        """
        return f"{position} - {self.remainder(shift(position, -origin), step)}"

    def quotient(self, value: str, step: int) -> str:
        return f"({value}) div {step}"

    def counting(self, table: str, count: int) -> str:
        """i is a bigint: products with it would overflow an int."""
        return f"{table} LATERAL VIEW explode(sequence(0L, {count - 1}L)) AS i"

    def cte(self, name: str, readers: int) -> str:
        """Spark reuses the exchange of an expression that is read twice."""
        return f"{name} AS"


def _unreplaced(text: str) -> str:
    """The text, if Spark takes it as it is: in names, nothing can stop it from replacing ${...}."""
    if "${" in text:
        raise QueryError(
            f"Spark would replace the ${{...}} in {text} by a setting: rename it, or run the plan "
            "with plan.apply(df) instead of SQL text"
        )
    return text

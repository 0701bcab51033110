"""DuckDB's SQL."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from muntin.aggregates.columns import Columns
from muntin.dialects.duckdb_aggregates import for_duckdb, transpiled
from muntin.dialects.expressions import Kinds
from muntin.errors import ColumnError

_BY_ZERO = "division by zero: divide by nullif(..., 0), or use try_divide, for null instead"


def _divided(node: exp.Expr) -> exp.Expr:
    """A division that fails where the divisor is zero: DuckDB's gives an infinity, or null."""
    if not isinstance(node, exp.Div | exp.IntDiv | exp.Mod):
        return node
    divisor = node.expression.unnest()
    if isinstance(divisor, exp.Literal) and not divisor.is_string and float(divisor.this):
        return node
    zero = exp.EQ(this=exp.paren(divisor.copy()), expression=exp.Literal.number(0))
    there = exp.Not(this=exp.Is(this=exp.paren(node.this.copy()), expression=exp.Null()))
    fails = exp.func("error", exp.Literal.string(_BY_ZERO))
    for side in ("this", "expression"):  # transform does not enter what it has replaced
        node.set(side, node.args[side].transform(_divided))
    return exp.paren(exp.Case().when(exp.and_(zero, there), fails).else_(node))


@dataclass(frozen=True, slots=True)
class DuckdbWriter:
    """DuckDB 1.3 or later."""

    name: str = "duckdb"

    def quoted(self, name: str) -> str:
        """
        >>> print(DuckdbWriter().quoted('a "b" c'))
        "a ""b"" c"
        """
        return '"' + name.replace('"', '""') + '"'

    def literal(self, text: str) -> str:
        """
        >>> print(DuckdbWriter().literal("it's"))
        'it''s'
        """
        return "'" + text.replace("'", "''") + "'"

    def expression(self, tree: exp.Expr) -> str:
        """Quoted names, no comments; a division by zero fails, as in Spark.

        >>> from sqlglot import parse_one
        >>> print(DuckdbWriter().expression(parse_one("a / 2")))
        "a" / 2
        """
        return transpiled(tree.transform(_divided), identify=True)

    def aggregates(self, columns: Columns, kinds: Kinds) -> Columns:
        """Transpiled, with Spark's result types."""
        return for_duckdb(columns, kinds)

    def microseconds(self, column: str, kind: str | None) -> str:
        """Nanoseconds are cut off towards the past, also before 1970."""
        match kind:
            case None | "timestamp" | "timestamp_ntz" | "date":
                return f"epoch_us({column})"
            case "timestamp_ns" | "timestamp_tz_ns":
                nanos = f"epoch_ns({column})"
                return f"({nanos} - {self.remainder(nanos, 1000)}) // 1000"
        raise ColumnError(f"time column {column} is {kind}: convert it to a timestamp first")

    def instant(self, microseconds: str, kind: str | None) -> str:
        """With a zone where the time column has one."""
        zoned = kind in ("timestamp", "timestamp_tz_ns")
        make = "make_timestamptz" if zoned else "make_timestamp"
        return f"{make}({microseconds})"

    def bounds(self, start: str, end: str) -> str:
        """As Spark's window() names them."""
        return f"{{'start': {start}, 'end': {end}}}"

    def remainder(self, value: str, step: int) -> str:
        """DuckDB's % takes the sign of the value."""
        inner = value if value.isidentifier() or value.endswith(")") else f"({value})"
        return f"({inner} % {step} + {step}) % {step}"

    def quotient(self, value: str, step: int) -> str:
        """Of whole numbers."""
        return f"({value}) // {step}"

    def counting(self, table: str, count: int) -> str:
        """A small table of numbers beside every row."""
        return f"{table} CROSS JOIN range({count}) AS pieces(i)"

    def cte(self, name: str, readers: int) -> str:
        """Partials that several nodes read are kept; rows never are."""
        return f"{name} AS MATERIALIZED" if readers > 1 else f"{name} AS"

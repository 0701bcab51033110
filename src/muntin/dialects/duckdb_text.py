"""DuckDB's SQL: names and times as DuckDB writes them, aggregates with Spark's results and types.

sqlglot translates names and syntax. What it cannot know is put right here:

    a / b              by zero is an infinity or null in DuckDB, an error in Spark
    sum                of whole numbers is a HUGEINT in DuckDB, a BIGINT in Spark
    count_if           of nulls alone is null in DuckDB, 0 in Spark
    min_by, max_by     pass over null values in DuckDB; Spark passes over null orders only
    var_pop            of one infinity is 0 in DuckDB, NaN in Spark
    collect_set        of nulls alone is null in DuckDB, empty in Spark

A result that needs more, such as the average of a decimal, declares its form in DuckDB itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from muntin.aggregates import Partial
from muntin.aggregates.columns import Columns, ResultColumn
from muntin.dialects.expressions import AnsiSpark, Kinds, kind_of, shift
from muntin.errors import AggregateError, ColumnError

_BY_ZERO = "division by zero: divide by nullif(..., 0), or use try_divide, for null instead"
_INTEGERS = ("tinyint", "smallint", "int", "bigint")
_RENAMED: dict[type[exp.Expr], str] = {exp.ArgMin: "arg_min_null", exp.ArgMax: "arg_max_null"}


def not_in_duckdb(partials: Sequence[Partial]) -> str | None:
    """Why DuckDB cannot make or merge these partials, or None."""
    return next((p.not_in_duckdb for p in partials if p.not_in_duckdb), None)


def transpile(tree: exp.Expr, identify: bool = False) -> str:
    """An expression read as Spark SQL, written for DuckDB."""
    fixed = tree.transform(_renamed)
    return fixed.sql("duckdb", identify=identify, comments=False, normalize_functions="lower")


_VARIANCE = (
    "CASE WHEN bool_or(NOT isfinite({0})) THEN CAST('NaN' AS DOUBLE) "
    "ELSE var_pop({0}) FILTER (WHERE isfinite({0})) END"
)


def _renamed(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.VariancePop):
        value = transpile(node.this)
        return sqlglot.parse_one(_VARIANCE.format(value), read="duckdb")
    if isinstance(node, exp.ArrayUniqueAgg):
        value = transpile(node.this)
        distinct = f"list(DISTINCT {value}) FILTER (WHERE {value} IS NOT NULL)"
        return sqlglot.parse_one(f"coalesce({distinct}, [])", read="duckdb")
    if isinstance(node, exp.CountIf):
        return exp.Count(this=exp.Case().when(node.this, exp.Literal.number(1)))
    if type(node) in _RENAMED:
        return exp.Anonymous(this=_RENAMED[type(node)], expressions=[node.this, node.expression])
    return node


def parse_spark(text: str) -> exp.Expr:
    """Spark SQL of an aggregate."""
    try:
        return sqlglot.parse_one(text, read=AnsiSpark)
    except SqlglotError:
        raise AggregateError(f"{text} cannot be written for DuckDB: use Spark") from None


def _narrowed(tree: exp.Expr, kinds: Kinds) -> str:
    """Sums of whole numbers as BIGINT, as in Spark, where too large a sum is an error too."""

    def fix(node: exp.Expr) -> exp.Expr:
        whole = isinstance(node, exp.Sum) and kind_of(node.this, kinds) in _INTEGERS
        return exp.cast(node, "bigint") if whole else node

    return transpile(tree.transform(fix))


def final_in_duckdb(result: ResultColumn) -> str:
    """A result over merged partial columns."""
    return result.in_duckdb or transpile(parse_spark(result.final))


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


@lru_cache(maxsize=256)
def _transpiled(columns: Columns, kinds: tuple[tuple[str, str | None], ...]) -> Columns:
    """Known of the same aggregates over the same types: to parse takes 10 ms for three of them."""
    reason = not_in_duckdb(columns.partials)
    if reason:
        raise AggregateError(f"DuckDB cannot run this query: {reason}; use Spark")
    known = dict(kinds)
    partials = []
    for partial in columns.partials:
        lift = parse_spark(partial.lift)
        written = _narrowed(lift, known)
        known[partial.name] = kind_of(lift, known)
        merge = _narrowed(parse_spark(partial.merge), known)
        partials.append(replace(partial, lift=written, merge=merge))
    results = [ResultColumn(each.name, final_in_duckdb(each)) for each in columns.results]
    return replace(columns, partials=tuple(partials), results=tuple(results))


class DuckdbWriter:
    """DuckDB 1.3 or later."""

    name = "duckdb"

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
        return transpile(tree.transform(_divided), identify=True)

    def aggregates(self, columns: Columns, kinds: Kinds) -> Columns:
        """Transpiled, with Spark's result types."""
        return _transpiled(columns, tuple(kinds.items()))

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
        zone = "tz" if kind in ("timestamp", "timestamp_tz_ns") else ""
        return f"make_timestamp{zone}({microseconds})"

    def bounds(self, start: str, end: str) -> str:
        return f"{{'start': {start}, 'end': {end}}}"

    def remainder(self, value: str, step: int | str) -> str:
        """DuckDB's % takes the sign of the value."""
        inner = value if value.isidentifier() or value.endswith(")") else f"({value})"
        return f"({inner} % {step} + {step}) % {step}"

    def latest(self, position: str, origin: int, step: int) -> str:
        """One division for each record: // rounds towards zero, so earlier instants go first.

        >>> print(DuckdbWriter().latest("t", 0, 60))
        CASE WHEN t < 0 THEN t - 59 ELSE t END // 60 * 60
        """
        after = shift(position, -origin)
        earlier = shift(position, -origin - step + 1)
        whole = f"CASE WHEN {after} < 0 THEN {earlier} ELSE {after} END // {step} * {step}"
        return shift(whole, origin)

    def quotient(self, value: str, step: int) -> str:
        return f"({value}) // {step}"

    def counting(self, table: str, count: int) -> str:
        """A small table of numbers beside every row."""
        return f"{table} CROSS JOIN range({count}) AS pieces(i)"

    def cte(self, name: str, readers: int) -> str:
        """Partials that several nodes read are kept; rows never are."""
        return f"{name} AS MATERIALIZED" if readers > 1 else f"{name} AS"

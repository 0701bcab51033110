"""Aggregates of Spark as aggregates of DuckDB, with the same results and types.

sqlglot translates names and syntax. What it cannot know is put right here:

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

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from muntin.aggregates import Partial
from muntin.aggregates.columns import Columns, ResultColumn
from muntin.dialects.expressions import AnsiSpark, Kinds, kind_of
from muntin.errors import AggregateError

_INTEGERS = ("tinyint", "smallint", "int", "bigint")
_RENAMED: dict[type[exp.Expr], str] = {exp.ArgMin: "arg_min_null", exp.ArgMax: "arg_max_null"}


def not_in_duckdb(partials: Sequence[Partial]) -> str | None:
    """Why DuckDB cannot make or merge these partials, or None."""
    return next((p.not_in_duckdb for p in partials if p.not_in_duckdb), None)


def transpiled(tree: exp.Expr, identify: bool = False) -> str:
    """An expression read as Spark SQL, written for DuckDB."""
    fixed = tree.transform(_renamed)
    return fixed.sql("duckdb", identify=identify, comments=False, normalize_functions="lower")


_NOT_FINITE = "CASE WHEN bool_or(NOT isfinite({0})) THEN CAST('NaN' AS DOUBLE) "
_FINITE = "ELSE var_pop({0}) FILTER (WHERE isfinite({0})) END"


def _renamed(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.VariancePop):
        value = transpiled(node.this)
        return sqlglot.parse_one((_NOT_FINITE + _FINITE).format(value), read="duckdb")
    if isinstance(node, exp.ArrayUniqueAgg):
        value = transpiled(node.this)
        distinct = f"list(DISTINCT {value}) FILTER (WHERE {value} IS NOT NULL)"
        return sqlglot.parse_one(f"coalesce({distinct}, [])", read="duckdb")
    if isinstance(node, exp.CountIf):
        return exp.Count(this=exp.Case().when(node.this, exp.Literal.number(1)))
    if type(node) in _RENAMED:
        return exp.Anonymous(this=_RENAMED[type(node)], expressions=[node.this, node.expression])
    return node


def for_duckdb(columns: Columns, kinds: Kinds) -> Columns:
    """The same columns for inputs v0, v1, … of these types."""
    reason = not_in_duckdb(columns.partials)
    if reason:
        raise AggregateError(f"DuckDB cannot run this query: {reason}; use Spark")
    known = dict(kinds)
    partials = []
    for partial in columns.partials:
        lift = parsed_spark(partial.lift)
        written = _narrowed(lift, known)
        known[partial.name] = kind_of(lift, known)
        merge = _narrowed(parsed_spark(partial.merge), known)
        partials.append(replace(partial, lift=written, merge=merge))
    results = [ResultColumn(each.name, _finished(each)) for each in columns.results]
    return replace(columns, partials=tuple(partials), results=tuple(results))


def parsed_spark(text: str) -> exp.Expr:
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

    return transpiled(tree.transform(fix))


def _finished(result: ResultColumn) -> str:
    return result.in_duckdb or transpiled(parsed_spark(result.final))

"""Aggregates of Spark as aggregates of DuckDB, with the same results and types.

sqlglot translates names and syntax. What it cannot know is put right here:

    sum                of whole numbers is a HUGEINT in DuckDB, a BIGINT in Spark
    count_if           of nulls alone is null in DuckDB, 0 in Spark
    min_by, max_by     pass over null values in DuckDB; Spark passes over null orders only
    avg of a decimal   is a double in DuckDB; Spark's is a decimal, rounded once, half up
    var_pop            of one infinity is 0 in DuckDB, NaN in Spark
    collect_set        of nulls alone is null in DuckDB, empty in Spark
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from muntin.aggregates import Partial
from muntin.aggregates.columns import Columns, PartialColumn, ResultColumn
from muntin.errors import AggregateError
from muntin.sql.expressions import AnsiSpark, Kinds, kind_of

_INTEGERS = ("tinyint", "smallint", "int", "bigint")
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
NOT_IN_DUCKDB = {
    "hll_sketch_agg": "DuckDB has no mergeable sketch of distinct values",
    "kll_sketch_agg": "DuckDB has no mergeable sketch of quantiles",
    "skewness": "DuckDB's skewness and kurtosis lose their digits where values are large",
    "custom": "it is written in Python",
}
"""Spark functions in lifts for which DuckDB has nothing to offer, and why."""

_RENAMED: dict[type[exp.Expr], str] = {exp.ArgMin: "arg_min_null", exp.ArgMax: "arg_max_null"}


def not_in_duckdb(partials: Sequence[Partial | PartialColumn]) -> str | None:
    """Why DuckDB cannot make or merge these partials, or None."""
    for partial in partials:
        for function, reason in NOT_IN_DUCKDB.items():
            if function in partial.lift or function == partial.merger:
                return reason
    return None


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
    results = [_finished(each, columns, known) for each in columns.results]
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


def _finished(result: ResultColumn, columns: Columns, kinds: Kinds) -> ResultColumn:
    tree = parsed_spark(result.final)
    mean = _decimal_mean(tree, columns, kinds)
    return ResultColumn(result.name, mean or transpiled(tree))


def _decimal_mean(tree: exp.Expr, columns: Columns, kinds: Kinds) -> str | None:
    """A decimal sum divided by a count and cast to a decimal, in exact whole numbers.

    With U the unscaled sum and C the count, the result has four more digits: U·10⁴/C rounded half
    away from zero. With U = qC + r that is q·10⁴ + (r·2·10⁴ + C) // 2C, which is never longer than
    the result; its digits become a decimal by way of text.
    """
    cast = tree.find(exp.Cast)
    if cast is None or not cast.find(exp.Div):
        return None
    target = _DECIMAL.fullmatch(cast.to.sql("spark").lower().replace(" ", ""))
    names = {column.name for column in tree.find_all(exp.Column)}
    sums = [p.name for p in columns.partials if p.name in names and _is(p, exp.Sum)]
    counts = [p.name for p in columns.partials if p.name in names and _is(p, exp.Count)]
    if target is None or len(sums) != 1 or len(counts) != 1:
        return None
    total, count, scale = sums[0], counts[0], int(target[2])
    unscaled = f"CAST(replace(CAST(abs({total}) AS VARCHAR), '.', '') AS HUGEINT)"
    rounded = f"(({unscaled} % {count}) * 20000 + {count}) // (2 * {count})"
    digits = f"CAST(({unscaled} // {count}) * 10000 + {rounded} AS VARCHAR)"
    padded = f"('{'0' * scale}' || {digits})"
    minus = f"CASE WHEN {total} < 0 THEN '-' ELSE '' END"
    text = f"{minus} || left({padded}, -{scale}) || '.' || right({padded}, {scale})"
    return f"CASE WHEN {count} > 0 THEN CAST({text} AS DECIMAL({target[1]}, {scale})) END"


def _is(partial: PartialColumn, kind: type[exp.Expr]) -> bool:
    return isinstance(parsed_spark(partial.lift), kind)

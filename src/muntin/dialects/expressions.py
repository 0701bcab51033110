"""Expressions of the user's, read as Spark SQL and written for an engine.

All expressions of a query (arguments, filters, where) are Spark SQL. They are parsed, never pasted:
what is written out is one expression with quoted names, so that no text can leave its place.
An argument that is exactly the name of a known column is that column, whatever characters it has;
where the columns are not known, text that is no expression is taken for a column's name.
"""

from __future__ import annotations

from collections.abc import Mapping

import sqlglot
from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.parsers.spark import SparkParser

from muntin.aggregates.expression_text import check_expression, incomplete, without_comments
from muntin.errors import QueryError, shown

Kinds = Mapping[str, str | None]
"""Spark type names of columns; None where a type is unknown."""


class AnsiSpark(Spark):
    """Spark 4: casts and divisions fail on bad values instead of giving null."""

    SAFE_DIVISION = False

    class Parser(SparkParser):
        """CAST stays CAST."""

        STRICT_CAST = True


def parse_expression(text: str) -> exp.Expr | None:
    """The one expression that a text is, or None if it is anything else.

    >>> [parse_expression(text) for text in ("my column", "1; DROP TABLE t", "a) --")]
    [None, None, None]
    """
    if incomplete(text):
        return None
    try:
        trees = sqlglot.parse(without_comments(text), read=AnsiSpark)
    except (SqlglotError, RecursionError, ArithmeticError, ValueError):
        return None
    if len(trees) != 1 or not isinstance(trees[0], exp.Condition):
        return None
    return None if trees[0].find(exp.Placeholder, exp.Parameter) else trees[0]


def parse_argument(text: str, columns: Kinds | None) -> exp.Expr:
    """An argument of an aggregate: a known column, an expression, or else a column's name."""
    if columns is not None and text in columns:
        return exp.column(text, quoted=True)
    tree = parse_expression(text)
    if tree is not None:
        return tree
    if columns is not None:
        check_expression(text, "input")
        raise QueryError(
            f"{shown(text)} is neither a column nor an SQL expression that can be read"
        )
    return exp.column(text, quoted=True)


def parse_condition(text: str, what: str) -> exp.Expr:
    """A predicate."""
    check_expression(text, what)
    tree = parse_expression(text)
    if tree is None:
        raise QueryError(f"{what} {shown(text)} cannot be read as one SQL condition")
    return tree


def kind_of(tree: exp.Expr, kinds: Kinds) -> str | None:
    """The Spark type of an expression over columns of known types, as far as it can be told.

    >>> kind_of(parse_expression("v0 + 1"), {"v0": "bigint"})
    'bigint'
    """
    known = {name.lower(): kind for name, kind in kinds.items()}

    def typed(node: exp.Expr) -> exp.Expr:
        kind = known.get(node.name.lower()) if isinstance(node, exp.Column) else None
        return exp.cast(node, kind, dialect="spark") if kind else node

    if isinstance(tree, exp.Column):
        return known.get(tree.name.lower())
    try:
        found = annotate_types(tree.transform(typed), dialect="spark").type
    except SqlglotError:
        return None
    if found is None or found.this in (exp.DataType.Type.UNKNOWN, exp.DataType.Type.NULL):
        return None
    return found.sql("spark").lower().replace(" ", "")


def shift(value: str, amount: int) -> str:
    """A whole number, so much later.

    >>> shift("t", 5), shift("t", -5), shift("t", 0)
    ('t + 5', 't - 5', 't')
    """
    if amount == 0:
        return value
    return f"{value} + {amount}" if amount > 0 else f"{value} - {-amount}"

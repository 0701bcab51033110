"""Names and constants in SQL text: quoting, finding columns and tables, writing literals."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from muntin.aggregates.expression_text import check_expression
from muntin.dialects.spark_text import SparkWriter
from muntin.engines.spark.faults import translate_refusals
from muntin.errors import ColumnError, did_you_mean

_FIELD = re.compile(r"`(?:[^`]|``)*`|[^`.]+")
_PATH = re.compile(rf"(?:{_FIELD.pattern})(?:\.(?:{_FIELD.pattern}))*")
"""A field of a struct by its path: e.k, or e.`a b`."""


def quoted(name: str) -> str:
    """A column name as Spark SQL reads it, whatever characters it has.

    >>> print(quoted("it's `my` col.umn"))
    `it's ``my`` col.umn`
    """
    return "`" + name.replace("`", "``") + "`"


def column(name: str) -> Column:
    """The column of exactly that name."""
    return F.expr(quoted(name))


def named(sql: str, name: str) -> Column:
    """An expression of ours under a name, in one text.

    `.alias()` would send eleven messages more to the JVM, which is most of a small call's time.
    """
    return F.expr(f"{sql} AS {quoted(name)}")


def constant(value: object, kind: str) -> str:
    """SQL for a constant of this type: one small literal, which Spark folds when it plans.

    >>> constant([1, 2], "ARRAY<BIGINT>")
    "from_json('[1, 2]', 'ARRAY<BIGINT>')"
    """
    return f"from_json({SparkWriter().literal(json.dumps(value))}, '{kind}')"


def expression(argument: str, columns: Sequence[str]) -> str:
    """An argument as SQL: the column of exactly that name, or else the expression itself.

    >>> expression("a -- the first", ["a"])
    'a -- the first\\n'
    """
    if argument in columns:
        return quoted(argument)
    check_expression(argument, "input")
    return f"{argument}\n" if "--" in argument else argument  # where the comment ends


def find_column(name: str, columns: Sequence[str], what: str) -> str:
    """The column of that name as SQL, as Spark would find it: case may differ, if only one fits."""
    if columns.count(name) == 1:
        return quoted(name)
    same = [c for c in columns if c.lower() == name.lower()]
    if len(same) == 1:
        return quoted(same[0])
    if same:
        raise ColumnError(
            f"{what} {name!r} is ambiguous: the table has {same}; rename all but one of them"
        )
    head, dot, _ = name.partition(".")
    path = _PATH.fullmatch(name)
    if dot and path and head.lower() in (c.lower() for c in columns):
        return ".".join(
            field if field.startswith("`") else quoted(field) for field in _FIELD.findall(name)
        )
    raise ColumnError(f"{what} {name!r} is not a column: {did_you_mean(name, columns)}")


def find_table(spark: SparkSession, name: str) -> DataFrame:
    """A table or view of the session."""
    with translate_refusals(f"{name!r} is no table or view of the session: pass it as {name}=df"):
        table = spark.table(quoted(name))
        table.schema  # noqa: B018
    return table

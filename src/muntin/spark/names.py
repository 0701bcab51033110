"""Names in SQL text: quoting, finding columns and tables, telling a name from an expression."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession

from muntin.errors import ColumnError, did_you_mean
from muntin.spark.faults import told


def quoted(name: str) -> str:
    """A column name as Spark SQL reads it, whatever characters it has.

    >>> print(quoted("it's `my` col.umn"))
    `it's ``my`` col.umn`
    """
    return "`" + name.replace("`", "``") + "`"


def expression(argument: str, columns: Sequence[str]) -> str:
    """An argument as SQL: the column of exactly that name, or else the expression itself.

    >>> expression("a -- the first", ["a"])
    'a -- the first\\n'
    """
    if argument in columns:
        return quoted(argument)
    return f"{argument}\n" if "--" in argument else argument  # where the comment ends


def existing(name: str, columns: Sequence[str], what: str) -> str:
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
    head, dot, rest = name.partition(".")
    if dot and head.lower() in (c.lower() for c in columns):
        return name if "`" in name else ".".join(map(quoted, (head, *rest.split("."))))
    raise ColumnError(f"{what} {name!r} is not a column: {did_you_mean(name, columns)}")


def table_named(spark: SparkSession, name: str) -> DataFrame:
    """A table or view of the session."""
    with told(f"{name!r} is no table or view of the session: pass it as {name}=df"):
        table = spark.table(quoted(name))
        table.schema  # noqa: B018
    return table

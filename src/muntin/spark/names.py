"""Names in SQL text: quoting, and telling a column's name from an expression."""

from __future__ import annotations

from collections.abc import Sequence

from muntin.errors import ColumnError, did_you_mean


def quoted(name: str) -> str:
    """A column name as Spark SQL reads it, whatever characters it has.

    >>> print(quoted("it's `my` col.umn"))
    `it's ``my`` col.umn`
    """
    return "`" + name.replace("`", "``") + "`"


def expression(argument: str, columns: Sequence[str]) -> str:
    """An argument as SQL: the column of exactly that name, or else the expression itself."""
    return quoted(argument) if argument in columns else argument


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

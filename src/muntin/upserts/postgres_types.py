"""Types of PostgreSQL for types of Spark.

Numbers, texts, booleans, bytes, dates and timestamps have a type of their own, and so do arrays of
them. Structs, maps and arrays of those become jsonb. Intervals, variants and columns without a type
are refused.
"""

from __future__ import annotations

import re

from muntin.errors import SinkError, shortened
from muntin.upserts.columns import Column

PLAIN = {
    "boolean": "boolean",
    "tinyint": "smallint",
    "smallint": "smallint",
    "int": "integer",
    "bigint": "bigint",
    "float": "real",
    "double": "double precision",
    "string": "text",
    "binary": "bytea",
    "date": "date",
    "timestamp": "timestamp with time zone",
    "timestamp_ntz": "timestamp without time zone",
}
"""As PostgreSQL writes them itself, so that they can be compared."""

_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_TEXT = re.compile(r"(var)?char\(\d+\)|string collate .*", re.IGNORECASE)
_NESTED = ("array<", "struct<", "map<")
_REFUSED = re.compile(r"\b(interval|variant|void|geometry|geography|time)\b")
JSON = "jsonb"
LONGEST_NAME = 63
"""Bytes of a name; PostgreSQL cuts longer ones off."""


def postgres_type(column: Column) -> str:
    """The type of a column in PostgreSQL.

    >>> postgres_type(Column("n", "decimal(10,2)", ("n",)))
    'numeric(10,2)'
    >>> postgres_type(Column("n", "array<double>", ("n",)))
    'double precision[]'
    >>> postgres_type(Column("n", "map<string,int>", ("n",)))
    'jsonb'
    """
    found = _type(column.kind)
    if found is None:
        raise SinkError(
            f"column {shortened(column.name)!r} is {shortened(column.kind)}, which PostgreSQL has "
            "no fitting type for: cast it, for example to a number or to a string"
        )
    if len(column.name.encode()) > LONGEST_NAME:
        raise SinkError(
            f"column {shortened(column.name)!r} has {len(column.name.encode())} bytes in its name, "
            f"and PostgreSQL keeps {LONGEST_NAME}: give it a shorter one, .alias('n')"
        )
    return found


def _type(kind: str) -> str | None:
    if kind in PLAIN:
        return PLAIN[kind]
    if decimal := _DECIMAL.fullmatch(kind):
        return f"numeric({decimal[1]},{decimal[2]})"
    if _TEXT.fullmatch(kind):
        return PLAIN["string"]
    if not kind.startswith(_NESTED) or _REFUSED.search(kind):
        return None
    of = _type(kind.removeprefix("array<")[:-1]) if kind.startswith("array<") else None
    if of is None or of == JSON or of.endswith("[]"):
        return JSON
    return f"{without_digits(of)}[]"


def without_digits(kind: str) -> str:
    """A numeric type as the elements of an array have it: of any precision."""
    return "numeric" if kind.startswith("numeric") else kind


def is_same(found: str, wanted: str) -> bool:
    """Whether a column of the type that was found holds values of the one wanted, unchanged."""
    return found == wanted or (found == "numeric" and wanted.startswith("numeric("))

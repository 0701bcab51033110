"""The partial of every row: keys, time and partials, for what groups rows in Python.

Partials that cannot be merged in Arrow (sets, sketches) or keys that it cannot group (structs,
arrays) have no such form: `not_in_arrow` says why.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructField

from muntin.kernels.mergers import not_merged
from muntin.spark.table import Table
from muntin.sql.row_lifts import row_lift

_NUMBERS = {"tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "boolean"}
_TIMES = {"date", "timestamp", "timestamp_ntz"}
_PLAIN = _NUMBERS | _TIMES | {"string", "binary", "char", "varchar"}
"""Types that Arrow groups and compares as Spark does; a string with a collation is not one."""

_OF_STRUCTS = ("moments", "four_moments", "comoments")


def not_in_arrow(table: Table) -> str | None:
    """Why rows cannot be grouped in Python, or None."""
    partials = table.columns.partials
    stranger = not_merged(p.merger for p in partials)
    if stranger:
        return f"{stranger} is merged only by Spark itself"
    if any(row_lift(p.lift) is None for p in partials):
        return "a partial of one row has no plain expression"
    kinds = {field.name: field.dataType.simpleString() for field in partial_fields(table)}
    compared = [kinds[p.name] for p in partials if p.merger not in _OF_STRUCTS and not p.beside]
    compared += [field.dataType.simpleString() for field in key_fields(table)]
    strange = next((kind for kind in compared if kind.partition("(")[0] not in _PLAIN), None)
    return f"{strange} is grouped and compared only by Spark itself" if strange else None


def lifted(table: Table) -> tuple[DataFrame, dict[str, str]]:
    """k…, t and the partials of every row; and which column holds each partial.

    The sum, the least and the largest of one value are that value: equal columns are sent once.
    """
    kinds = {field.name: field.dataType.simpleString() for field in partial_fields(table)}
    texts = {p.name: f"CAST({row_lift(p.lift)} AS {kinds[p.name]})" for p in table.columns.partials}
    holder = {text: name for name, text in reversed(texts.items())}
    rows = table.rows.select(
        *(F.expr(one_zero(field)).alias(field.name) for field in key_fields(table)),
        "t",
        *(F.expr(text).alias(name) for text, name in holder.items()),
    )
    return rows, {name: holder[text] for name, text in texts.items()}


def key_fields(table: Table) -> list[StructField]:
    """The keys with their types."""
    schema = table.rows.schema
    return [StructField(name, schema[name].dataType) for name in table.keys]


def partial_fields(table: Table) -> list[StructField]:
    """The partial columns with their types."""
    lifts = [F.expr(p.lift).alias(p.name) for p in table.columns.partials]
    return [StructField(f.name, f.dataType) for f in table.rows.agg(*lifts).schema]


def one_zero(field: StructField) -> str:
    """A key as Spark groups it: 0.0 and -0.0 are one."""
    kind = field.dataType.simpleString()
    return f"{field.name} + CAST(0 AS {kind})" if kind in ("float", "double") else field.name

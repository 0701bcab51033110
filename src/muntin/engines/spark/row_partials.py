"""The partial of every row: keys, time and partials, for what groups rows in Python.

Partials that cannot be merged in Arrow (sets, sketches) or keys that it cannot group (structs,
arrays) have no such form: `not_in_arrow` says why.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructField

from muntin.engines.spark.table import Table
from muntin.kernels.mergers import not_merged
from muntin.kernels.sent_columns import Sent

_NUMBERS = {"tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "boolean"}
_TIMES = {"date", "timestamp", "timestamp_ntz"}
_PLAIN = _NUMBERS | _TIMES | {"string", "binary", "char", "varchar"}
"""Types that Arrow groups and compares as Spark does; a string with a collation is not one."""

_OF_STRUCTS = ("moments", "four_moments", "comoments")


_NOT_IN_ARROW = re.compile(r"interval (year|month)|interval(?! )")
"""Intervals of months, and those that make_interval gives, alone or inside another type."""


def not_in_arrow(table: Table, compared: tuple[str, ...] = ()) -> str | None:
    """Why rows cannot be grouped, or put in order by the columns compared, in Python; or None."""
    partials = table.columns.partials
    stranger = not_merged(p.merger for p in partials)
    if stranger:
        return f"{stranger} is merged only by Spark itself"
    if any(p.row is None for p in partials):
        return "a partial of one row has no plain expression"
    own = {p.name for p in partials if p.merger not in _OF_STRUCTS and not p.beside}
    others, made = fields_of(table, (*table.keys, *compared)), table.fields
    plain = [*others, *(f for f in made if f.name in own)]
    kinds = [f.dataType.simpleString() for f in plain]
    strange = next((kind for kind in kinds if kind.partition("(")[0] not in _PLAIN), None)
    if strange:
        return f"{strange} is grouped and compared only by Spark itself"
    foreign = arrow_refusal([*others, *made])
    return f"{foreign} cannot be handed to Python" if foreign else None


def arrow_refusal(fields: Iterable[StructField]) -> str | None:
    """Which type of these columns PySpark cannot hand to Python and back, or None."""
    kinds = (field.dataType.simpleString() for field in fields)
    return next((kind for kind in kinds if _NOT_IN_ARROW.search(kind)), None)


def lift_rows(table: Table) -> DataFrame:
    """k…, t, p… of every row; and u…, o…: what windows read and records are ordered by."""
    partials = [F.expr(sql).alias(name) for name, sql in _partials(table).items()]
    return table.rows.select(*_others(table), *partials)


@dataclass(frozen=True, slots=True)
class SentRows:
    """Rows as they are sent to Python, and what their columns are."""

    rows: DataFrame
    sent: Sent


def send_rows(table: Table) -> SentRows:
    """The rows of a table with as few columns as hold all partials.

    A value that other partials need is not counted in the JVM: whether it is there, Python sees.
    """
    partials, kinds = _partials(table), dict(table.rows.dtypes)
    values = {
        p.row: p.name
        for p in table.columns.partials
        if p.row in kinds and partials[p.name] == _cast(p.row, kinds[p.row])
    }
    counted = {
        p.name: values.get(p.counts)
        for p in table.columns.partials
        if p.counts is not None and (p.counts in values or p.counts == p.row)
    }
    holder = {sql: name for name, sql in reversed(partials.items()) if name not in counted}
    once = [F.expr(sql).alias(name) for sql, name in holder.items()]
    own = {name: holder[sql] for name, sql in partials.items() if name not in counted}
    held = {name: of and own[of] for name, of in counted.items()}
    return SentRows(table.rows.select(*_others(table), *once), Sent(own, held))


def fields_of(table: Table, names: Iterable[str]) -> list[StructField]:
    """Columns with their types."""
    schema = table.rows.schema
    return [StructField(name, schema[name].dataType) for name in names]


def one_zero(key: StructField) -> str:
    """A key as Spark groups it: 0.0 and -0.0 are one."""
    kind = key.dataType.simpleString()
    return f"{key.name} + CAST(0 AS {kind})" if kind in ("float", "double") else key.name


def _partials(table: Table) -> dict[str, str]:
    """SQL for the partials of one row."""
    kinds = {field.name: field.dataType.simpleString() for field in table.fields}
    return {p.name: _cast(p.row, kinds[p.name]) for p in table.columns.partials}


def _cast(row: str | None, kind: str) -> str:
    return f"CAST({row} AS {kind})"


def _others(table: Table) -> list[Column]:
    keys = [F.expr(one_zero(f)).alias(f.name) for f in fields_of(table, table.keys)]
    return [*keys, *(F.col(name) for name in ("t", *table.read, *table.order))]

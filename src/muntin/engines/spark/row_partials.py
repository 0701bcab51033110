"""The partial of every row: keys, time and partials, for what groups or keeps rows in Python.

Partials that cannot be merged in Arrow (sets, sketches) or keys that it cannot group (structs,
arrays) have no such form: `not_in_arrow` says why. State that keeps records takes more, by the
keepers of partials: `not_kept` says what it cannot take.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql.types import StructField

from muntin.engines.spark.names import column, named
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


def not_kept(table: Table, compared: tuple[str, ...] = ()) -> str | None:
    """Why state in Python cannot keep records, or put them in order by these columns; or None."""
    partials = table.columns.partials
    taken = {p.name: p for p in partials if p.keeper is not None}
    rest = replace(table.columns, partials=tuple(p for p in partials if p.name not in taken))
    fields = tuple(f for f in table.fields if f.name not in taken)
    refused = not_in_arrow(replace(table, columns=rest, fields=fields), compared)
    if refused or not taken:
        return refused
    rows = fields_of(replace(table, rows=lift_records(table)), taken)
    foreign = arrow_refusal(rows)
    if foreign:
        return f"{foreign} cannot be handed to Python"
    return _not_plain(f for f in rows if taken[f.name].code is None)


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
    foreign = arrow_refusal([*others, *made])
    return _not_plain(plain) or (f"{foreign} cannot be handed to Python" if foreign else None)


def _not_plain(fields: Iterable[StructField]) -> str | None:
    kinds = (f.dataType.simpleString() for f in fields)
    strange = next((kind for kind in kinds if kind.partition("(")[0] not in _PLAIN), None)
    if strange is None:
        return None
    return f"{strange} is grouped and compared only by Spark itself: give a plain column or a text"


def arrow_refusal(fields: Iterable[StructField]) -> str | None:
    """Which type of these columns PySpark cannot hand to Python and back, or None."""
    kinds = (field.dataType.simpleString() for field in fields)
    return next((kind for kind in kinds if _NOT_IN_ARROW.search(kind)), None)


def lift_rows(table: Table) -> DataFrame:
    """k…, t, p… of every row; and u…, o…: what windows read and records are ordered by."""
    partials = [named(sql, name) for name, sql in _partials(table).items()]
    return table.rows.select(*_others(table), *partials)


def lift_records(table: Table) -> DataFrame:
    """The same for state that keeps records: p… are what the keepers of partials take of a row."""
    kinds = {field.name: field.dataType.simpleString() for field in table.fields}
    taken = {
        p.name: p.keeper.row if p.keeper is not None else _cast(p.row, kinds[p.name])
        for p in table.columns.partials
    }
    partials = [named(sql, name) for name, sql in taken.items()]
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
    once = [named(sql, name) for sql, name in holder.items()]
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
    keys = [named(one_zero(f), f.name) for f in fields_of(table, table.keys)]
    return [*keys, *map(column, ("t", *table.read, *table.order))]

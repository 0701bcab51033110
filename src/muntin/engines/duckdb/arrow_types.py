"""Arrow columns as DuckDB reads them without loss, and results with the types that columns had.

DuckDB counts intervals, and instants with a zone, in microseconds. Both are handed over as such
where nothing is lost; nanoseconds that matter stay nanoseconds, or are refused.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from muntin.errors import ColumnError


def make_readable(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The same values in a type that DuckDB reads as they are."""
    kind = column.type
    try:
        if pa.types.is_dictionary(kind):
            return make_readable(name, column.cast(kind.value_type))
        if pa.types.is_float16(kind):
            return column.cast(pa.float32())
        if pa.types.is_decimal256(kind) and kind.precision <= 38:
            return column.cast(pa.decimal128(kind.precision, kind.scale))
        if pa.types.is_duration(kind):
            return column.cast(pa.duration("us"))
    except pa.ArrowInvalid as error:
        raise ColumnError(f"column {name!r} is {kind}, which cannot be read: {error}") from None
    if pa.types.is_timestamp(kind) and kind.tz is not None and kind.unit == "ns":
        try:
            return column.cast(pa.timestamp("us", kind.tz))
        except pa.ArrowInvalid:
            return column
    return column


def _restore_type(column: pa.ChunkedArray, kind: pa.DataType, whole: bool) -> pa.ChunkedArray:
    """A result column with the type of the column that its values are from.

    Keys are as they were in every way (`whole`); of others, instants get their zone and unit back,
    and lengths of time their unit. What would lose digits stays as it is.
    """
    if pa.types.is_interval(column.type):
        column = pa.chunked_array([_lengths(column)], pa.duration("us"))
    instants = pa.types.is_timestamp(column.type) and pa.types.is_timestamp(kind)
    lengths = pa.types.is_duration(column.type) and pa.types.is_duration(kind)
    if column.type == kind or not (whole or instants or lengths):
        return column
    if instants and (column.type.tz is None) != (kind.tz is None):
        return column
    try:
        if pa.types.is_dictionary(kind):
            return column.cast(kind.value_type).dictionary_encode().cast(kind)
        return column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return column


def in_zone(window: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """The bounds of windows in the zone of the time column."""
    if not pa.types.is_timestamp(kind) or kind.tz is None:
        return window
    bounds = pa.timestamp("us", kind.tz)
    return window.cast(pa.struct([("start", bounds), ("end", bounds)]))


def restore_types(
    table: pa.Table, origins: Mapping[str, pa.DataType], keys: frozenset[str]
) -> pa.Table:
    """A result in which every column whose values are from a column of the input has its type."""
    columns = [
        _restore_type(column, origins.get(name, column.type), name in keys)
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    return pa.Table.from_arrays(columns, names=table.column_names)


def _lengths(column: pa.ChunkedArray) -> pa.Array:
    """Intervals as microseconds; those of DuckDB that come from lengths of time have no months."""
    each = [
        None if length is None else length.days * 86_400_000_000 + length.nanoseconds // 1000
        for length in column.to_pylist()
    ]
    return pc.cast(pa.array(each, pa.int64()), pa.duration("us"))

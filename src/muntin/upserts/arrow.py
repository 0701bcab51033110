"""Arrow columns by their path, with their instants in UTC, whatever zone the session is in."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc


def pick(rows: pa.RecordBatch | pa.Table, path: tuple[str, ...]) -> pa.Array:
    """The column at a path, in UTC.

    The bounds of a window are taken here, so that Spark's plan stays that of the result.

    >>> rows = pa.table({"window": [{"start": 1, "end": 2}]})
    >>> pick(rows, ("window", "end")).to_pylist()
    [2]
    """
    column = rows.column(path[0])
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    for name in path[1:]:
        array = pc.struct_field(array, name)
    return in_utc(array)


def in_utc(column: pa.Array) -> pa.Array:
    """The same values; timestamps with a zone are in UTC.

    >>> berlin = pa.array([0], pa.timestamp("us", "Europe/Berlin"))
    >>> str(in_utc(berlin).type)
    'timestamp[us, tz=UTC]'
    """
    kind = utc_type(column.type)
    return column if kind == column.type else column.cast(kind)


def utc_type(kind: pa.DataType) -> pa.DataType:
    """The type of a column in UTC, inside lists too."""
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return pa.timestamp(kind.unit, "UTC")
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(utc_type(kind.value_type)))
    return kind

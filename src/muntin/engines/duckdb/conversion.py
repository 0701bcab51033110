"""Values on their way into DuckDB and back, each as it was: Arrow columns and pandas DataFrames.

DuckDB counts intervals, and instants with a zone, in microseconds. Both are handed over as such
where nothing is lost; nanoseconds that matter stay nanoseconds, or are refused. In a DataFrame:

    whole numbers    int64 and its like; Int64 and its like where some are missing
    truth            bool; boolean where some are missing
    decimals         decimal.Decimal objects
    text, dates      objects: str, datetime.date; None where there is none
    timestamps       datetime64 with the unit and zone of the column they are from
    keys             the dtype that they had, a category too

If a column that the query reads is an ArrowDtype, so are all columns of the result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from muntin.errors import ColumnError

if TYPE_CHECKING:
    import pandas as pd


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


def to_arrow(frame: pd.DataFrame, places: Sequence[int]) -> pa.Table:
    """These columns; the index is ignored."""
    names = [str(frame.columns[place]) for place in places]
    columns = [_column(name, frame.iloc[:, at]) for name, at in zip(names, places, strict=True)]
    return pa.Table.from_arrays(columns, names=names)


def _column(name: str, values: pd.Series[Any]) -> pa.ChunkedArray:
    try:
        array = pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        line = str(error).splitlines()[0]
        raise ColumnError(
            f"column {name!r} ({values.dtype}) cannot be read: {line}; give all its values one "
            f"type first, for instance with df[{name!r}].astype(str)"
        ) from None
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def from_arrow(table: pa.Table, frame: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """A result as a DataFrame; `keys` are columns of the frame too, perhaps in another case."""
    import pandas as pd

    kinds = {str(name).lower(): kind for name, kind in frame.dtypes.items()}
    in_arrow = any(isinstance(kind, pd.ArrowDtype) for kind in kinds.values())

    def convert(name: str, column: pa.ChunkedArray) -> Any:
        kind = kinds[name.lower()] if name in keys else None
        if isinstance(kind, pd.ArrowDtype) or (kind is None and in_arrow):
            return pd.Series(pd.arrays.ArrowExtensionArray(column))
        values = _values(column)
        if kind is None or values.dtype == kind:
            return values
        if pd.api.types.is_object_dtype(kind):
            return _objects(column)
        return values.astype(kind)

    columns = zip(table.column_names, table.columns, strict=True)
    return pd.DataFrame({name: convert(name, column) for name, column in columns})


def _values(column: pa.ChunkedArray) -> Any:
    import pandas as pd

    kind = column.type
    if pa.types.is_nested(kind) and not _is_window(kind):
        return _objects(column)
    exact: dict[pa.DataType, Any] = {}
    if column.null_count and pa.types.is_integer(kind):
        exact[kind] = pd.api.types.pandas_dtype(str(kind).replace("int", "Int").replace("u", "U"))
    if column.null_count and pa.types.is_boolean(kind):
        exact[kind] = pd.BooleanDtype()
    return column.to_pandas(types_mapper=exact.get)


def _is_window(kind: pa.DataType) -> bool:
    return pa.types.is_struct(kind) and all(pa.types.is_timestamp(field.type) for field in kind)


def _objects(column: pa.ChunkedArray) -> Any:
    """Python's own values, and None: nothing becomes a float, an array or a pd.NA."""
    import pandas as pd

    return pd.Series(column.to_pylist(), dtype=object)

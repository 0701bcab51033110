"""pandas DataFrames to Arrow and back, every value as it was.

    whole numbers    int64 and its like; Int64 and its like where some are missing
    truth            bool; boolean where some are missing
    decimals         decimal.Decimal objects
    text, dates      objects: str, datetime.date; None where there is none
    timestamps       datetime64 with the unit and zone of the column they are from
    keys             the dtype that they had, a category too

If a column that the query reads is an ArrowDtype, so are all columns of the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from muntin.errors import ColumnError

if TYPE_CHECKING:
    import pandas as pd


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

    def made(name: str, column: pa.ChunkedArray) -> Any:
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
    return pd.DataFrame({name: made(name, column) for name, column in columns})


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

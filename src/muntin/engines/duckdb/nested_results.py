"""Results of mt.distinct and mt.join in process, as the kind of table that was given.

Keys come back in the types they had, instants in the zone of the time column; a relation stays one,
and is computed when it is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from muntin.engines.duckdb.conversion import from_arrow, restore_types
from muntin.engines.duckdb.tables import Source
from muntin.model.query import Query

if TYPE_CHECKING:
    import duckdb


def give(
    result: duckdb.DuckDBPyRelation,
    source: Source,
    query: Query,
    frame: Any,
    exchanged: Mapping[str, Any] | None = None,
) -> Any:
    """The result of a query over a source; `frame` is the DataFrame that was given, if one was.

    `exchanged` are functions that make a column of what stands in its place.
    """
    if source.given is None:
        return result
    kinds = {field.name.lower(): field.type for field in source.given.schema}
    origins = {key: kinds[key.lower()] for key in query.keys}
    table = restore_types(result.to_arrow_table(), origins, frozenset(query.keys))
    zone = kinds[query.time.lower()]
    columns = [
        exchanged[name](column)
        if exchanged and name in exchanged
        else column
        if name in query.keys
        else column.cast(_in_zone(column.type, zone))
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    table = pa.Table.from_arrays(columns, names=table.column_names)
    return table if frame is None else from_arrow(table, frame, list(query.keys))


def _in_zone(kind: pa.DataType, time: pa.DataType) -> pa.DataType:
    """A type with the zone of the time column for each instant in it."""
    if not pa.types.is_timestamp(time) or time.tz is None:
        return kind
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", time.tz)
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_in_zone(field.type, time)) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(_in_zone(kind.value_type, time))
    return kind

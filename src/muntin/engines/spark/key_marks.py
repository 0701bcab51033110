"""The key columns of a result are marked in their metadata, so that sinks know them.

Spark keeps the metadata of a column through select, alias, where and foreachBatch, classic and on
Connect; the column `window` is left as it is, since its metadata holds the watermark.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pyspark.sql import DataFrame

from muntin.engines.spark.names import column
from muntin.upserts import Column

KEY = "muntin.key"
REVISED = "muntin.revision"
"""Marks the column that numbers revisions."""
LATE = "muntin.late"
"""Marks the column that is null for results, and tells of late rows what they missed."""
LISTED = "muntin.records"
"""Marks the column that is null for results, and lists late rows themselves."""


def marked(metadata: Mapping[str, object] | None = None) -> dict[str, object]:
    """The metadata of a key column, with its mark."""
    return {**(metadata or {}), KEY: True}


def mark_keys(result: DataFrame, names: Iterable[str]) -> DataFrame:
    """The same result, whose columns of these names are marked."""
    keys = set(names)
    if all((f.metadata or {}).get(KEY) for f in result.schema if f.name in keys):
        return result
    return result.select(
        *(
            column(field.name).alias(field.name, metadata=marked(field.metadata))
            if field.name in keys
            else column(field.name)
            for field in result.schema
        )
    )


def forget_keys(rows: DataFrame) -> DataFrame:
    """The same rows without marks: what is computed of them has another key.

    A mark is set to false: Spark 4.0 takes no metadata for that of the column itself.
    """
    if not any((field.metadata or {}).get(KEY) for field in rows.schema):
        return rows
    return rows.select(
        *(
            column(field.name).alias(field.name, metadata={**field.metadata, KEY: False})
            if (field.metadata or {}).get(KEY)
            else column(field.name)
            for field in rows.schema
        )
    )


def read_columns(result: DataFrame) -> list[Column]:
    """The columns of a result as sinks know them."""
    return [
        Column(
            field.name,
            field.dataType.simpleString(),
            (field.name,),
            bool((field.metadata or {}).get(KEY)),
        )
        for field in result.schema
    ]


def find_marked(result: DataFrame, mark: str) -> str | None:
    """The column of a result that has a mark, if there is one."""
    marked = (field.name for field in result.schema if (field.metadata or {}).get(mark))
    return next(marked, None)

"""Results of a stateful processor by column, for Spark to take without another Python stage.

A pandas frame makes floats of integers that may be null, and takes NaN for null. Not so where its
columns are Arrow's own: of the types in PLAIN every value leaves as it entered. A frame also has
columns for what a step says of itself, filled in one row that has no node.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pandas as pd
import pyarrow as pa
from pyspark.sql.types import LongType, StringType, StructField, StructType

from muntin.state.bucket import Step

PLAIN = {
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "string": pa.string(),
}
"""Types whose values leave such a frame as they entered it."""

REPORT = (
    StructField("late", LongType()),
    StructField("dropped", LongType()),
    StructField("complete_from", StringType()),
)
FRAME = 100_000
"""Results that leave together, or a few more."""


def plain_schema(results: StructType) -> tuple[StructType, pa.Schema] | None:
    """The columns of a frame, for Spark and for Arrow; None where a type would be changed."""
    own = StructType([*results, *REPORT])
    kinds = {field.name: field.dataType.simpleString() for field in own}
    if not set(kinds.values()) <= set(PLAIN):
        return None
    return own, pa.schema([(name, PLAIN[kind]) for name, kind in kinds.items()])


def plain_frames(step: Step, since: list[int | None], schema: pa.Schema) -> Iterator[pd.DataFrame]:
    """What a step did, and its results; `since` is from when each window is complete."""
    said = json.dumps(since) if step.complete_from else None
    report = {"late": [step.late], "dropped": [step.dropped], "complete_from": [said]}
    waiting, rows = [_widen(pa.table(report), schema)], 0
    for table in step.results:
        waiting.append(_widen(table, schema))
        rows += table.num_rows
        if rows >= FRAME:
            yield _frame(waiting)
            waiting, rows = [], 0
    if waiting:
        yield _frame(waiting)


def _widen(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The table with all columns of a schema, null where it has none."""
    columns = [
        table.column(field.name).cast(field.type)
        if field.name in table.column_names
        else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)


def _frame(tables: list[pa.Table]) -> pd.DataFrame:
    whole = pa.concat_tables(tables).combine_chunks()  # Spark takes a column in one piece
    frame: pd.DataFrame = whole.to_pandas(types_mapper=pd.ArrowDtype)
    return frame

"""A column that Python computes of sorted rows, which themselves stay in the JVM.

From Spark 4.1 on, only the arguments are sent and only the result comes back (`arrow_udf`, which
takes an iterator over the columns of a partition). On 4.0 whole rows go both ways (mapInArrow).

What is computed of a row depends on the rows before it. So Spark is told that the function is not
deterministic: it then moves no filter below it, and leaves out no sort that it relies on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from muntin.engines.spark.arrow_stage import limit_batches, map_in_arrow
from muntin.engines.spark.names import column
from muntin.engines.spark.session_facts import version_of
from muntin.engines.spark.settled_worker import settle_worker

Compute = Callable[[Iterator[tuple[pa.Array, ...]]], Iterator[pa.Array]]
"""From the arguments of all rows of a partition, some at a time, to as many results in order."""


def keeps_rows(spark: SparkSession) -> bool:
    """Whether rows can stay in the JVM while Python computes a column of them."""
    return version_of(spark) >= (4, 1)


def add_computed(
    rows: DataFrame, name: str, compute: Compute, arguments: tuple[str, ...], kind: DataType
) -> DataFrame:
    """The rows with one more column, computed partition by partition in their order."""
    kind = _nullable(kind)
    if not keeps_rows(rows.sparkSession):
        schema = StructType([*rows.schema, StructField(name, kind)])
        return map_in_arrow(rows, _Beside(compute, arguments, name), schema)

    def computed(batches: Iterator[tuple[pa.Array, ...]]) -> Iterator[pa.Array]:
        several = len(arguments) > 1  # of one column, Spark gives no tuples
        yield from compute(batches if several else ((only,) for only in batches))
        settle_worker()

    limit_batches(rows.select(*map(column, arguments)))
    function = F.arrow_udf(computed, kind).asNondeterministic()  # type: ignore[attr-defined]
    return rows.select("*", function(*map(column, arguments)).alias(name))


@dataclass(frozen=True, slots=True)
class _Beside:
    """Whole rows through Python: each comes back with what was computed of it."""

    compute: Compute
    arguments: tuple[str, ...]
    name: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        waiting: list[pa.RecordBatch] = []

        def arguments() -> Iterator[tuple[pa.Array, ...]]:
            for batch in batches:
                waiting.append(batch)
                yield tuple(batch.column(each) for each in self.arguments)

        for found in self.compute(arguments()):
            held = pa.Table.from_batches(waiting)
            rows = held.slice(0, len(found)).append_column(self.name, found)
            waiting[:] = held.slice(len(found)).to_batches()
            yield from rows.combine_chunks().to_batches()


def _nullable(kind: DataType) -> DataType:
    """The same type, of which every part may be null: as Arrow says of what Python gives."""
    if isinstance(kind, StructType):
        return StructType([StructField(f.name, _nullable(f.dataType)) for f in kind])
    if isinstance(kind, ArrayType):
        return ArrayType(_nullable(kind.elementType))
    if isinstance(kind, MapType):
        return MapType(_nullable(kind.keyType), _nullable(kind.valueType))
    return kind

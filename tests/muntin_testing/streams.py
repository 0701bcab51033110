"""Scripted streams: files read one by one, each a micro-batch, and the rows that every batch gave.

All sides of a comparison run in one query, each under a label: so they see the same batches and the
same watermark, and one comparison costs one query. `played` gives, for every batch in order, the
rows of every side.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

Side = Callable[[DataFrame], DataFrame]
Batches = list[dict[str, list[Row]]]

FIRST = 1_700_000_000
"""When the first file says that it was written: the source takes older files first."""


def written(spark: SparkSession, batches: Sequence[DataFrame], folder: Path) -> Path:
    """The batches as parquet files, one each, which a file source takes in this order."""
    folder.mkdir(parents=True, exist_ok=True)
    for i, batch in enumerate(batches):
        parts = folder.parent / f"{folder.name}-{i}"
        batch.coalesce(1).write.parquet(str(parts))
        [part] = parts.glob("*.parquet")
        target = folder / f"{i:04}.parquet"
        part.rename(target)
        os.utime(target, (FIRST + i, FIRST + i))
    return folder


def streamed(spark: SparkSession, folder: Path) -> DataFrame:
    """The files as a stream, one a micro-batch."""
    schema = spark.read.parquet(str(folder)).schema
    reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    return reader.parquet(str(folder))


def played(stream: DataFrame, sides: Mapping[str, Side], output: str, checkpoint: Path) -> Batches:
    """Run all sides to the end of the files; what each gave, batch by batch."""
    labelled = [side(stream).withColumn("side", F.lit(name)) for name, side in sides.items()]
    batches: Batches = []

    def keep(rows: DataFrame, number: int) -> None:
        found: dict[str, list[Row]] = {name: [] for name in sides}
        for row in rows.collect():
            found[row["side"]].append(Row(*row[:-1]))
        batches.append(found)

    query = (
        reduce(DataFrame.unionAll, labelled)
        .writeStream.foreachBatch(keep)
        .outputMode(output)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return batches


def progress_of(query: Any) -> list[Any]:
    """What a query said of its batches."""
    return [p for p in query.recentProgress if p]

"""Scripted streams: files read one by one, each a micro-batch, and the rows that every batch gave.

All sides of a comparison run in one query, each under a label: so they see the same batches and the
same watermark, and one comparison costs one query. `played` gives, for every batch in order, the
rows of every side.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from muntin.model.query import Query, query
from muntin_testing.tables import KEYS, SCHEMA, SECOND, random_aggregates, random_rows
from muntin_testing.windows import random_window

Side = Callable[[DataFrame], DataFrame]
Batches = list[dict[str, list[Row]]]

FIRST = 1_700_000_000
"""When the first file says that it was written: the source takes older files first."""


@dataclass(frozen=True)
class Script:
    """A query, the micro-batches of rows that it sees, and how late they may be."""

    query: Query
    schema: str
    batches: list[list[tuple[Any, ...]]]
    watermark: str

    def files(self, spark: SparkSession, folder: Path) -> Path:
        """One parquet file for each batch, which a file source takes in this order."""
        return written(spark, self.batches, self.schema, folder)


def script(seed: str, batches: int = 5, rows: int = 80) -> Script:
    """Rows in about the order of their times, some of them far too late, and keys that fall silent.

    Half of the queries have only aggregates that merge in bounded state. Some streams begin in 1970
    or before, where a stream's watermark begins; in some the first batch has no row.
    """
    random, start = Random(seed), Random(f"{seed}/start")
    unit = random.choice([SECOND, 60 * SECOND])
    base = start.choice([FIRST * SECOND, FIRST * SECOND, 0, -20 * unit])
    windows = list(dict.fromkeys(random_window(random, unit) for _ in range(3)))
    asked = query(
        time="time",
        windows=windows,
        aggregates=_streamable(random),
        keys=random.sample(KEYS, random.randrange(len(KEYS) + 1)),
        where=random.choice([None, None, "small IS NULL OR small <> 3"]),
    )
    found = random_rows(random, "timestamp", base, 60 * unit, rows)
    found.sort(key=lambda row: (row[0] is not None, row[0] and row[0].isoformat()))
    parts: list[list[tuple[Any, ...]]] = [[] for _ in range(batches)]
    for i, row in enumerate(found):
        late = random.choice([0, 0, 0, 0, 1, 2, batches]) if random.random() < 0.5 else 0
        parts[min(i * batches // max(len(found), 1) + late, batches - 1)].append(row)
    if start.random() < 0.25:
        parts[1][:0], parts[0] = parts[0], []
    delay = random.choice([0, 2, 5]) * unit // SECOND
    return Script(asked, SCHEMA.format(kind="timestamp"), parts, f"{delay} seconds")


def _streamable(random: Random) -> list[Any]:
    """Aggregates that Spark's own streams take too, which makes it a judge."""
    possible = [
        a
        for a in random_aggregates(random)
        if not a.function.approximate
        and not a.function.holistic
        and a.function.name != "count_distinct"
    ]
    bounded = [a for a in possible if not _growing(a)]
    return bounded if bounded and random.random() < 0.6 else possible


def _growing(aggregate: Any) -> bool:
    types = [None] * max(len(aggregate.arguments), 1)
    return any("collect_list" in p.merge for p in aggregate.function.partials(types))


def written(
    spark: SparkSession, batches: Sequence[Sequence[tuple[Any, ...]]], schema: str, folder: Path
) -> Path:
    """The batches as parquet files, made by one small job."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [(*row, i) for i, batch in enumerate(batches) for row in batch]
    table = spark.createDataFrame(rows, f"{schema}, batch int").toArrow()
    numbers = table.column("batch").to_numpy()
    for i in range(len(batches)):
        target = folder / f"{i:04}.parquet"
        pq.write_table(table.filter(numbers == i).drop_columns("batch"), target)
        os.utime(target, (FIRST + i, FIRST + i))
    return folder


def streamed(spark: SparkSession, folder: Path, schema: str) -> DataFrame:
    """The files as a stream, one a micro-batch."""
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


def run_to_end(
    rows: DataFrame, keep: Callable[[list[Any]], None], checkpoint: Path, output: str
) -> tuple[StreamingQuery, int]:
    """Run until all files are read; `keep` gets each batch. The query, and how many were late."""
    query = (
        rows.writeStream.foreachBatch(lambda batch, _: keep(batch.collect()))
        .outputMode(output)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    metrics = [m for p in query.recentProgress for m in p["observedMetrics"].values()]
    return query, sum(m["dropped"] or 0 for m in metrics if "dropped" in m)

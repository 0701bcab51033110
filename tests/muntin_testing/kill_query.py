"""The stream that is killed, for the process that dies and for the session that goes on with it.

It reads FOLDER/files, one file a micro-batch, in one query for each operator and sink: "file" is
Spark's file sink, "each" foreachBatch with writes that may be repeated, "postgres" and "delta" are
sinks of ours.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

import muntin as mt

DSN = "MUNTIN_TEST_DSN"
"""The variable that leads to a PostgreSQL server."""
SCHEMA = "ts timestamp, k string, n bigint"
QUERY = mt.query(
    "ts",
    [mt.tumbling("10 seconds"), mt.hopping("30 seconds", "10 seconds")],
    [mt.sum("n").alias("total"), mt.max("n").alias("most"), mt.count().alias("rows")],
    keys="k",
)
RECORDS = mt.query(
    "ts",
    [
        mt.session("2 seconds"),
        mt.count_window(4, 2),
        mt.threshold("n", 300),
        mt.hopping("30 seconds", "10 seconds"),
    ],
    QUERY.aggregates,
    keys="k",
    order_by="n",
)
"""Windows that the data decides."""


TRAILING: Any = {
    "time": "ts",
    "windows": ["20 seconds", mt.trailing(rows=3), mt.lifetime()],
    "aggregates": QUERY.aggregates,
    "keys": "k",
    "order_by": "n",
}
"""What is asked as of each row."""


FEATURES = ("as_of", "labels", "arrival")
"""Rows with features: of their own past, of events that are another stream, and served at once."""


def features(rows: DataFrame, operator: str) -> DataFrame:
    """Rows with the features of one of these."""
    events = rows if operator == "labels" else None
    output: Any = "arrival" if operator == "arrival" else "append"
    found: DataFrame = mt.as_of(
        rows, **TRAILING, events=events, output=output, watermark="5 seconds"
    )
    return found


def run(spark: SparkSession, folder: Path, names: list[str], files: Path | None = None) -> None:
    """All queries until the files are read, from where their checkpoints say."""
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    stream = reader.parquet(str(files or folder / "files"))
    plans = {True: mt.optimize(RECORDS), False: mt.optimize(QUERY, "shared-pairs")}
    queries = []
    for name in names:
        operator, sink = name.split("-")
        if operator in FEATURES:
            rows = features(stream, operator)
        else:
            plan = plans[operator == "records"]
            rows = plan.apply(stream, watermark="5 seconds", operator=operator)  # type: ignore[arg-type]
        writer = rows.writeStream.trigger(availableNow=True).option(
            "checkpointLocation", str(folder / "checkpoints" / name)
        )
        target = str(folder / "out" / name)
        if sink == "file":
            queries.append(writer.format("parquet").option("path", target).start())
        else:
            queries.append(writer.foreachBatch(_sink(sink, name, target)).start())
    for query in queries:
        query.awaitTermination()


def _sink(kind: str, name: str, target: str) -> Callable[[DataFrame, int], None]:
    if kind == "postgres":
        return mt.sinks.postgres(f"env:{DSN}", f'"{name}"')
    return mt.sinks.delta(target) if kind == "delta" else _again(target)


def _again(target: str) -> Callable[[DataFrame, int], None]:
    """A write that leaves the same behind however often it is repeated."""

    def write(batch: DataFrame, number: int) -> None:
        batch.write.mode("overwrite").parquet(f"{target}/batch={number}")

    return write

"""A stream that starts from history, for the process that dies and the session that goes on.

It reads FOLDER/past as its history and FOLDER/files, one file a micro-batch, and writes to
FOLDER/out, with its checkpoint in FOLDER/checkpoint.
"""

from datetime import datetime
from pathlib import Path

from pyspark.sql import SparkSession

import muntin as mt

SCHEMA = "ts timestamp, k string, n bigint"
UNTIL = datetime(2024, 1, 1, 0, 2, 7)
WINDOWS = [mt.tumbling("10 seconds"), mt.hopping("65 seconds", "20 seconds", "5 seconds")]
AGGREGATES = [mt.sum("n").alias("total"), mt.count().alias("rows")]
QUERY = mt.query("ts", WINDOWS, AGGREGATES, keys="k")


def run(spark: SparkSession, folder: Path) -> None:
    """To the end of the files, from where the checkpoint says."""
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    past = mt.History(spark.read.parquet(str(folder / "past")), until=f"{UNTIL.isoformat()}Z")
    results = mt.aggregate(
        reader.parquet(str(folder / "files")),
        time="ts",
        keys="k",
        windows=WINDOWS,
        aggregates=AGGREGATES,
        watermark="5 minutes",
        history=past,
    )
    query = (
        results.writeStream.format("parquet")
        .option("path", str(folder / "out"))
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()

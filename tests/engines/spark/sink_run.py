"""A stream into sinks on Spark Connect, in a process of its own.

    python sink_run.py FOLDER

Writes files into FOLDER, streams them into PostgreSQL (the DSN is in the environment) and Delta,
repeats the last micro-batch, and prints what the sink says that nobody bound to a checkpoint.
"""

import os
import shutil
import sys
from pathlib import Path

os.environ["TZ"] = "UTC"
os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
if __name__ == "__main__":  # and not where its doctests are collected
    os.environ["SPARK_TESTING"] = "1"  # a free port instead of 15002, which may be taken

from pyspark.sql import DataFrame, SparkSession

import muntin as mt
from muntin.engines.spark.sinks import Sink
from muntin_testing.kill_query import DSN, QUERY, SCHEMA


def results(rows: DataFrame) -> DataFrame:
    return mt.optimize(QUERY, "shared-pairs").apply(rows, watermark="0 seconds", operator="native")


def run(spark: SparkSession, folder: Path, sink: Sink, checkpoint: Path) -> None:
    stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    writer = results(stream.parquet(str(folder / "files"))).writeStream.foreachBatch(sink)
    writer = writer.option("checkpointLocation", str(checkpoint))
    writer.trigger(availableNow=True).start().awaitTermination()


def main(folder: Path) -> None:
    spark = (
        SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    )
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    made = spark.range(60).selectExpr(
        "timestamp_seconds(1700000000 + id * 2) AS ts", "string(id % 3) AS k", "id AS n"
    )
    for part in range(3):
        made.where(f"id div 20 = {part}").coalesce(1).write.mode("append").parquet(
            str(folder / "files")
        )
    sinks = [mt.sinks.postgres(f"env:{DSN}", "connected"), mt.sinks.delta(folder / "delta")]
    for number, sink in enumerate(sinks):
        checkpoint = folder / f"checkpoint-{number}"
        bound = sink.for_checkpoint(str(checkpoint))
        run(spark, folder, bound, checkpoint)
        last = max(int(file.name) for file in checkpoint.glob("commits/[0-9]*"))
        (checkpoint / "commits" / str(last)).unlink()
        (checkpoint / "commits" / f".{last}.crc").unlink(missing_ok=True)
        run(spark, folder, bound, checkpoint)
        print("rows", type(sink).__name__, last, flush=True)
    table = spark.read.parquet(str(folder / "files"))
    mt.sinks.postgres(f"env:{DSN}", "whole")(mt.optimize(QUERY).apply(table))
    try:
        run(spark, folder, sinks[0], folder / "unbound")
    except Exception as error:
        print("said", "bind it to the stream's checkpoint" in str(error), flush=True)
    spark.stop()


if __name__ == "__main__":
    shutil.rmtree(Path(sys.argv[1]) / "files", ignore_errors=True)
    main(Path(sys.argv[1]))

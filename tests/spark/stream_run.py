"""A stream in a process of its own, made to be killed: files in, results out, a checkpoint beside.

    python stream_run.py FOLDER OPERATOR-SINK…

Reads FOLDER/files, one file a micro-batch, in one query for each operator and sink: "file" is
Spark's file sink, "each" foreachBatch with writes that may be repeated. Ends when all are read.
"""

import sys
from pathlib import Path

from pyspark.sql import DataFrame

import muntin as mt
from muntin_testing.kill_query import QUERY, RECORDS, SCHEMA
from muntin_testing.small_session import session


def main(folder: Path, names: list[str]) -> None:
    spark = session()
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    stream = reader.parquet(str(folder / "files"))
    plans = {True: mt.optimize(RECORDS), False: mt.optimize(QUERY, "shared-pairs")}
    queries = []
    for name in names:
        operator, sink = name.split("-")
        rows = plans[operator == "cutty"].apply(stream, watermark="5 seconds", operator=operator)  # type: ignore[arg-type]
        writer = rows.writeStream.trigger(availableNow=True).option(
            "checkpointLocation", str(folder / "checkpoints" / name)
        )
        target = str(folder / "out" / name)
        if sink == "file":
            queries.append(writer.format("parquet").option("path", target).start())
        else:
            queries.append(writer.foreachBatch(again(target)).start())
    for query in queries:
        query.awaitTermination()
    spark.stop()


def again(target: str) -> object:
    """A write that leaves the same behind however often it is repeated."""

    def write(batch: DataFrame, number: int) -> None:
        batch.write.mode("overwrite").parquet(f"{target}/batch={number}")

    return write


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])

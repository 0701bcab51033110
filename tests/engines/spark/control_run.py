"""A stream with a control in a process of its own, made to be killed.

    python control_run.py FOLDER [KIND]

KIND is one of muntin_testing.control_kinds; without one, periodic windows are aggregated.

Reads FOLDER/files as they arrive, obeys FOLDER/control, and writes FOLDER/out by Spark's file sink,
until there is a file FOLDER/stop.
"""

import sys
import time
from pathlib import Path

from pyspark.sql import DataFrame

import muntin as mt
from muntin_testing.control_kinds import KINDS
from muntin_testing.control_query import AGGREGATES, SCHEMA, WINDOWS
from muntin_testing.small_session import session


def aggregate(stream: DataFrame, control: mt.Control) -> DataFrame:
    """Periodic windows."""
    found: DataFrame = mt.aggregate(
        stream,
        "ts",
        WINDOWS,
        AGGREGATES,
        "k",
        watermark="10 seconds",
        buckets=2,
        control=control,
    )
    return found


def main(folder: Path, kind: str | None = None) -> None:
    spark = session()
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    build = aggregate if kind is None else KINDS[kind].build
    rows = build(reader.parquet(str(folder / "files")), mt.Control(folder / "control"))
    writer = rows.writeStream.option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.format("parquet").option("path", str(folder / "out")).start()
    while not (folder / "stop").exists():
        if not query.isActive:
            raise SystemExit(str(query.exception()))
        time.sleep(0.05)
    query.processAllAvailable()
    query.stop()
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])

"""Windows that come and go on a running stream, without a restart.

    python examples/control/control.py

Sensors report a temperature every ten seconds. The stream starts with one window; while it runs, a
second one is registered, then the first is suspended. Files stand for what would be Kafka, and a
second Control, as another process would open it, gives the commands.
"""

import sys
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import mkdtemp

from pyspark.sql import SparkSession

import muntin as mt

START = datetime(2024, 6, 1, 12)
SCHEMA = "ts timestamp, sensor string, t double"


def readings(spark: SparkSession, folder: Path, first: int, last: int) -> None:
    """Let the readings of some minutes arrive, as one file."""
    rows = [
        (START + timedelta(seconds=s), f"sensor {i}", 20.0 + i + (s % 90) / 10)
        for s in range(first * 60, last * 60, 10)
        for i in range(2)
    ]
    spark.createDataFrame(rows, SCHEMA).coalesce(1).write.mode("append").parquet(str(folder))


def main(spark: SparkSession, place: Path) -> None:
    """Run the story below a folder."""
    files = place / "files"
    readings(spark, files, 0, 4)
    stream = spark.readStream.schema(SCHEMA).parquet(str(files))
    results = mt.aggregate(
        stream,
        time="ts",
        keys=["sensor"],
        windows=[mt.tumbling("1 minute", id="minute")],
        aggregates=[mt.max("t").alias("hottest"), mt.count().alias("readings")],
        watermark="30 seconds",
        control=mt.Control(place / "control", grain="1 second"),
    )
    query = results.writeStream.format("memory").queryName("temperatures").start()
    query.processAllAvailable()

    # From here on, anyone who sees the directory may give commands:
    control = mt.Control(place / "control")
    control.register("3 minutes/1 minute", id="trend", aggregates=["hottest"])
    control.register("45 seconds", id="odd")
    readings(spark, files, 4, 8)
    query.processAllAvailable()
    print(control.list(), end="\n\n")

    control.suspend("minute")
    try:
        control.suspend("second")
    except mt.MuntinError as refused:
        print(f"refused: {refused}\n")
    readings(spark, files, 8, 11)
    query.processAllAvailable()
    query.stop()
    print(control.list(), end="\n\n")
    found = spark.table("temperatures").where("sensor = 'sensor 0'")
    found.orderBy("window.end", "window_id").select(
        "window_id",
        "window.start",
        "window.end",
        "hottest",
        "readings",
    ).show(100, truncate=False)


if __name__ == "__main__":
    from muntin.engines.spark.session import session

    main(session("control"), Path(sys.argv[1] if len(sys.argv) > 1 else mkdtemp()))

"""The same stream in Python: one read of the files, one stateful query for all windows."""

from pathlib import Path

import muntin as mt
from muntin.engines.spark.session import local_session

READINGS = Path(__file__).parent / "readings"


def main() -> None:
    """Count what four windows emit, and show the coldest ten minutes."""
    spark = local_session("sensors")
    readings = (
        spark.readStream.schema("EntryTime TIMESTAMP, DeviceID STRING, temperature DOUBLE")
        .option("header", "true")
        .csv(str(READINGS))
    )
    coldest = mt.aggregate(
        readings,
        time="EntryTime",
        keys=["DeviceID"],
        windows=[mt.tumbling(f"{n} minutes") for n in (10, 20, 30, 40)],
        aggregates=[mt.min("temperature").alias("MinTemp")],
        watermark="10 minutes",
    )
    query = (
        coldest.writeStream.format("memory").queryName("coldest").trigger(availableNow=True).start()
    )
    query.awaitTermination()
    spark.table("coldest").groupBy("window_id").count().orderBy("window_id").show()
    spark.table("coldest").orderBy("MinTemp").show(3, truncate=False)


if __name__ == "__main__":
    main()

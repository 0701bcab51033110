"""What needs Spark: the flights that the package ships, and what a running stream is doing."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from muntin.engines.spark.progress import Progress


def demo_flights(spark: SparkSession) -> DataFrame:
    """Departures from New York in 2013: departure, origin, carrier, dest, delay, distance.

    `spark` is your session. The file comes with the package, and nothing is downloaded.

    >>> import muntin as mt
    >>> flights = mt.demo_flights(spark)
    >>> flights.count()
    336776
    """
    return spark.read.parquet(str(files("muntin.demo") / "flights.parquet"))


def progress(query: StreamingQuery) -> Progress | None:
    """The last micro-batch of a stream: rates, results of each window, watermark, state, late rows.

    `query` is what `start()` gives, of a stream by mt.aggregate or mt.as_of. The result is a value
    with a field for each of them (docs/production.md says what to watch), or None before the first
    micro-batch has ended.

    >>> import muntin as mt
    >>> source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 60)
    >>> ticks = source.option("advanceMillisPerBatch", 60_000).load()
    >>> minutes = mt.aggregate(
    ...     ticks,
    ...     time="timestamp",
    ...     windows=[mt.tumbling("1 minute")],
    ...     aggregates=[mt.count()],
    ...     watermark="1 minute",
    ... )
    >>> query = minutes.writeStream.format("noop").trigger(availableNow=True).start()
    >>> done = query.awaitTermination()
    >>> now = mt.progress(query)
    >>> now.late_rows, now.active, now.batch >= 0
    (0, False, True)
    """
    from muntin.engines.spark.progress import progress as of_spark

    return of_spark(query)

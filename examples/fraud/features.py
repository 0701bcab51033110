"""Features of every payment, as of its own instant, served from PostgreSQL.

    python features.py FOLDER DSN

FOLDER/arriving holds the payments that arrive, FOLDER/history.parquet those before FOLDER/until;
`fraud.py start` runs this. At work the payments come from Kafka: the README shows what changes.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import muntin as mt

SCHEMA = "payment STRING, paid TIMESTAMP, card STRING, amount DOUBLE"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
ALARM = "count__5_minutes >= 5 AND sum_amount__5_minutes > 5 * avg_amount__1_week"


def features(payments: DataFrame, history: mt.History) -> DataFrame:
    """Each payment with what its card did before it, and whether to ring the alarm.

    The first payment of the stream already knows the week before it, from the history.
    `output="arrival"` gives a payment out at once: a decision cannot wait for the watermark.
    """
    rows = mt.as_of(
        payments,
        time="paid",
        keys=["card"],
        windows=["5 minutes", "1 hour", "7 days"],
        aggregates=[mt.count(), mt.sum("amount"), mt.avg("amount")],
        watermark="10 minutes",
        output="arrival",
        history=history,
    )
    return rows.selectExpr("*", f"coalesce({ALARM}, false) AS alarm")


def session() -> SparkSession:
    """Spark on this machine; state is kept outside of the JVM's heap."""
    builder = SparkSession.builder.appName("fraud").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.session.timeZone", "UTC")
    builder = builder.config("spark.sql.shuffle.partitions", "2")
    return builder.config("spark.sql.streaming.stateStore.providerClass", ROCKSDB).getOrCreate()


def main(folder: str, dsn: str) -> None:
    """Run until somebody stops it; started again, it goes on from its checkpoint."""
    spark = session()
    payments = spark.readStream.schema(SCHEMA).json(f"{folder}/arriving")
    until = Path(folder, "until").read_text(encoding="utf-8")
    history = mt.History(spark.read.parquet(f"{folder}/history.parquet"), until=until)
    query = (
        features(payments, history)
        .writeStream.foreachBatch(mt.sinks.postgres(dsn, "features", key="payment"))
        .option("checkpointLocation", f"{folder}/checkpoint")
        .trigger(processingTime="1 second")
        .start()
    )
    query.awaitTermination()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])

"""A selection of queries on a session of another kind, in a process of its own.

    python engine_run.py connect | cluster

Prints one line for each query that has Spark's own rows, and fails on any that has not. On Connect,
where Spark's own errors come late, every wrong input must get its sentence of ours as well.
"""

import os
import sys
from datetime import datetime, timedelta
from random import Random

os.environ["TZ"] = "UTC"
os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
if sys.argv[1:] == ["connect"]:
    os.environ["SPARK_TESTING"] = "1"  # a free port instead of 15002, which may be taken

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.spark.session import ROCKSDB
from muntin_testing.bad_inputs import CASES, unanswered

WINDOWS = [
    mt.tumbling("10 seconds"),
    mt.tumbling("1 minute"),
    mt.hopping("2 minutes", "20 seconds"),
]


def session(kind: str) -> SparkSession:
    if kind == "connect":
        builder = SparkSession.builder.remote("local[2]")
    else:
        builder = SparkSession.builder.master("local-cluster[2,1,1024]")
        builder = builder.config("spark.executor.memory", "1g")
    return (
        builder.config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )


def longest() -> mt.Aggregate:
    return mt.custom("longest", len, max, int, 0, idempotent=True, result="bigint")("word")


def streamed(spark: SparkSession, df: DataFrame, query: mt.Query) -> None:
    """The rows of a finished stream are those of the batch."""
    df.coalesce(1).write.parquet("arriving")  # into the folder that this process runs in
    stream = spark.readStream.schema(df.schema).parquet(os.path.abspath("arriving"))
    rows = mt.optimize(query, "wcg").apply(
        stream, watermark="1 minute", output="complete", operator="native"
    )
    writer = rows.writeStream.format("memory").queryName("finished").outputMode("complete")
    writer.trigger(availableNow=True).start().awaitTermination()
    batch = mt.optimize(query, "wcg").apply(df)
    close = [
        F.col(c) if c.startswith(("window", "key", "min")) else F.round(c, 6) for c in batch.columns
    ]
    left, right = (side.select(*close) for side in (spark.table("finished"), batch))
    assert left.exceptAll(right).count() == right.exceptAll(left).count() == 0
    print("equal stream native", left.count(), flush=True)


def by_records(spark: SparkSession, df: DataFrame) -> None:
    """Windows that the data decides: the rows of a finished stream are those of the batch."""
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    later = df.limit(1).withColumns({"ts": F.lit(datetime(2025, 1, 1)), "key": F.lit("end")})
    df.unionAll(later).coalesce(1).write.parquet("records")
    stream = spark.readStream.schema(df.schema).parquet(os.path.abspath("records"))
    windows = [mt.session("5 seconds"), mt.count_window(7, 2), WINDOWS[2]]
    asked = {"time": "ts", "windows": windows, "aggregates": [mt.count(), mt.sum("n")]}
    asked |= {"keys": "key", "order_by": ["n", "word"]}
    rows = mt.aggregate(stream, **asked, watermark="1 minute")
    writer = rows.writeStream.format("memory").queryName("by_records")
    writer.trigger(availableNow=True).start().awaitTermination()
    left = spark.table("by_records").where("key IS NULL OR key <> 'end'")
    right = mt.aggregate(df, **asked)
    assert left.exceptAll(right).count() == right.exceptAll(left).count() == 0
    print("equal stream cutty", left.count(), flush=True)


def main(kind: str) -> None:
    spark = session(kind)
    random = Random(1)
    start = datetime(2024, 1, 1)
    rows = [
        (
            start + timedelta(seconds=random.randrange(600)),
            random.choice(["a", None]),
            random.randrange(100),
            "w" * random.randrange(9),
        )
        for _ in range(200)
    ]
    df = spark.createDataFrame(rows, "ts timestamp, key string, n bigint, word string")
    exact = [mt.sum("n"), mt.avg("n"), mt.min("word"), mt.corr("n", "n * n"), mt.kurtosis("n")]
    sets = [mt.count_distinct("n"), mt.median("n"), mt.approx_count_distinct("n")]
    mixed = mt.query("ts", WINDOWS, [*exact, *sets], keys="key")
    plain = mt.query("ts", WINDOWS, exact, keys="key")
    runs = [(plain, "wcg", "expand"), (plain, "shared-pairs", "kernel"), (mixed, "wcg", "expand")]
    for query, strategy, operator in runs:
        found = mt.verify(df, mt.optimize(query, strategy, operator=operator))
        assert found, f"{strategy} {operator}: {found}"
        print("equal", strategy, operator, found.rows, flush=True)
    own, judge = (
        mt.aggregate(
            df,
            "ts",
            WINDOWS,
            [a.alias("length"), mt.count_distinct("n").alias("distinct")],
            "key",
            layout="wide",
            empty="fill",
        )
        for a in (longest(), mt.max("length(word)"))
    )
    left, right = (sorted(map(str, side.na.fill(0).collect())) for side in (own, judge))
    assert left, "there are rows"
    assert left == right
    print("equal custom wide", len(left), flush=True)
    streamed(spark, df, plain)
    by_records(spark, df)
    if kind == "connect":
        wrong = list(unanswered(spark))
        assert not wrong, wrong
        print("sentences", len(CASES), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])

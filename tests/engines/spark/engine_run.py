"""The cases of muntin_testing.engine_cases on a session of another kind, in a process of its own.

    python engine_run.py connect | cluster

Prints one line for each case whose rows are the judge's, or that Spark Connect is too old for and
that is refused with the reason, and fails on any other. On Connect, where Spark's own errors come
late, every wrong input must also get its sentence of ours.
"""

import os
import sys

os.environ["TZ"] = "UTC"
os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
if sys.argv[1:] == ["connect"]:
    os.environ["SPARK_TESTING"] = "1"  # a free port instead of 15002, which may be taken

from pyspark.sql import SparkSession

from muntin.engines.spark.session import ROCKSDB
from muntin.engines.spark.session_facts import version_of
from muntin_testing import bad_inputs
from muntin_testing.engine_cases import CASES, NOT_ON_OLD_CONNECT, events, refused


def session(kind: str) -> SparkSession:
    if kind == "connect":
        builder = SparkSession.builder.remote("local[2]")
    else:
        builder = SparkSession.builder.master("local-cluster[2,1,1024]")
        builder = builder.config("spark.executor.memory", "1g")
    return (
        builder.config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )


def main(kind: str) -> None:
    spark = session(kind)
    df = events(spark)
    old = kind == "connect" and version_of(spark) < (4, 1)
    for name, case in CASES.items():
        if old and name in NOT_ON_OLD_CONNECT:
            print("refused", name, refused(case, df), sep="\t", flush=True)
            continue
        print("equal", name, case(df), sep="\t", flush=True)
    if kind == "connect":
        wrong = list(bad_inputs.unanswered(spark))
        assert not wrong, wrong
        print("sentences", "for wrong input", len(bad_inputs.CASES), sep="\t", flush=True)
    spark.stop()
    bad_inputs.after_the_end(df)


if __name__ == "__main__":
    main(sys.argv[1])

"""Spark sessions for the command line, and tables to measure on; programs bring their own."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
"""Keeps the state of streams outside the JVM's heap; the bucketed operator needs it."""

START = 1_700_000_000_000_000
"""14 November 2023: the first event of a made table, in microseconds."""

LOCAL = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "4g",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
    "spark.log.level": "ERROR",
}
"""A quiet session on one machine."""


def local_session(app: str = "muntin") -> SparkSession:
    """A quiet session on all cores of this machine, in UTC."""
    return session(app)


def session(
    app: str,
    master: str | None = None,
    remote: str | None = None,
    conf: Mapping[str, str] | None = None,
) -> SparkSession:
    """A session in UTC on this machine, on a cluster, or on a Spark Connect server.

    Python workers are started with this interpreter: by default Spark takes python3 from PATH,
    which need not have the same packages. Settings given win over ours.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(app)
    builder = builder.remote(remote) if remote else builder.master(master or "local[*]")
    ours = LOCAL if not remote and (master or "local").startswith("local") else {}
    for key, value in ({"spark.sql.session.timeZone": "UTC"} | ours | dict(conf or {})).items():
        builder = builder.config(key, value)
    found: SparkSession = builder.getOrCreate()
    return found


@contextmanager
def quiet_start(shown: Callable[[str], str] = str) -> Iterator[None]:
    """Keep the greetings of a starting JVM off the terminal; show them if the start fails.

    They repeat the settings of the session: `shown` may leave out what nobody should see.

    The JVM inherits the standard error of the moment it is started in, so its later log goes the
    same way; what goes wrong in a query reaches the caller as an exception all the same.
    """
    sys.stderr.flush()
    terminal = os.dup(2)
    with tempfile.TemporaryFile() as log:
        os.dup2(log.fileno(), 2)
        try:
            yield
        except BaseException:
            os.dup2(terminal, 2)
            log.seek(0)
            sys.stderr.write(shown(log.read().decode(errors="replace")))
            raise
        finally:
            os.dup2(terminal, 2)
            os.close(terminal)


def make_table(spark: SparkSession, folder: str, rows: int, keys: int, rate: int) -> DataFrame:
    """A table of ts, device and value in parquet files, kept in the folder for the next time.

    Every core has files to read, and each holds a stretch of time, as tables that grow have it.
    """
    cores = cores_of(spark)
    path = f"{folder}/made-{rows}-{keys}-{rate}-{cores}.parquet"
    try:
        return spark.read.parquet(path)
    except AnalysisException:
        made = spark.range(0, rows, 1, 2 * cores).selectExpr(
            f"timestamp_micros({START}L + id * {1_000_000 // rate}L) AS ts",
            f"CAST(pmod(xxhash64(id), {keys}L) AS INT) AS device",
            "20 + 5 * randn(7) AS value",
        )
    made.write.parquet(path)
    return spark.read.parquet(path)


def cores_of(spark: SparkSession) -> int:
    """How many tasks run at once: into how many parts Spark splits a range by itself."""
    parts = spark.range(4096).select(F.spark_partition_id().alias("part")).distinct()
    return parts.count()

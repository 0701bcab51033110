"""A local Spark session for the command line; programs bring their own."""

from __future__ import annotations

import os
import sys

from pyspark.sql import SparkSession


def local_session(app: str = "muntin", shuffle_partitions: int = 4) -> SparkSession:
    """A quiet session on all cores of this machine, in UTC.

    Python workers are started with this interpreter: by default Spark takes python3 from PATH,
    which need not have the same packages.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session: SparkSession = (
        SparkSession.builder.master("local[*]")
        .appName(app)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "4g")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", str(shuffle_partitions))
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    return session

"""A local Spark session for the command line; programs bring their own."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

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


@contextmanager
def quiet_start() -> Iterator[None]:
    """Keep the greetings of a starting JVM off the terminal; show them if the start fails.

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
            sys.stderr.write(log.read().decode(errors="replace"))
            raise
        finally:
            os.dup2(terminal, 2)
            os.close(terminal)

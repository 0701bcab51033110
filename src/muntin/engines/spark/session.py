"""Spark sessions for the command line; programs bring their own."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from pyspark.sql import SparkSession

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
"""Keeps the state of streams outside the JVM's heap; the bucketed operator needs it."""

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

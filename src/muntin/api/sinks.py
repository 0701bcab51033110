"""Where results go: idempotent upserts into PostgreSQL and Delta.

A sink is given to a stream, or called with a table of results; docs/sinks.md is the guide.

>>> import muntin as mt
>>> sink = mt.sinks.postgres("env:PGDSN", "hourly")  # results.writeStream.foreachBatch(sink)
>>> sink
PostgresSink(...)
"""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import TYPE_CHECKING

from muntin.errors import check_library

if TYPE_CHECKING:
    from muntin.engines.spark.sinks import DeltaSink, PostgresSink

__all__ = ["delta", "postgres"]


def postgres(
    dsn: str,
    table: str,
    key: str | Iterable[str] | None = None,
    late_to: str | None = None,
) -> PostgresSink:
    """A sink that upserts results into a table of PostgreSQL 15 or newer.

    Give it to a stream, `results.writeStream.foreachBatch(sink)`, or call it with a table of
    results, `sink(results)`. Rows whose key is there are replaced, the others inserted. A
    micro-batch that comes again, after a crash or a kill, changes nothing.

    `dsn` is what libpq takes, or "env:NAME" for an environment variable that holds it. `table` is
    "name" or "schema.name", made if it is missing. `key` names the columns that tell rows apart;
    results of mt.aggregate know theirs. `late_to` is the table for rows of a stream that came too
    late, with the windows that they missed: mt.aggregate(..., late_rows="keep") lets them out. The
    guide is docs/sinks.md.

    Refused are a server older than 15, a table whose columns or unique index do not fit, and two
    rows of one write with the same key; nothing is written then.
    """
    check_library("psycopg", "postgres", "PostgreSQL")
    from muntin.engines.spark.sinks import postgres_sink

    return postgres_sink(dsn, table, key, late_to)


def delta(
    path: str | PathLike[str],
    key: str | Iterable[str] | None = None,
    late_to: str | PathLike[str] | None = None,
) -> DeltaSink:
    """A sink that upserts results into a Delta table, made if it is missing; no jar is needed.

    Used as mt.sinks.postgres is: in foreachBatch, or called with a table of results. `path` is the
    folder of the table, `key` and `late_to` are as there, but that `late_to` is a folder. The rows
    of one micro-batch, or of the table, pass through the driver's memory, unless the session has
    Delta itself. Columns that do not fit the table are refused.

    >>> import muntin as mt
    >>> from tempfile import mkdtemp
    >>> folder = mkdtemp() + "/hourly"
    >>> rows = spark.sql("SELECT 'a' AS device, 3 AS readings")
    >>> mt.sinks.delta(folder, key="device")(rows)
    >>> mt.sinks.delta(folder, key="device")(rows)  # replaces the row by itself
    >>> from deltalake import DeltaTable
    >>> DeltaTable(folder).to_pyarrow_table().to_pylist()
    [{'device': 'a', 'readings': 3}]
    """
    check_library("deltalake", "delta", "Delta")
    from muntin.engines.spark.sinks import delta_sink

    return delta_sink(path, key, late_to)

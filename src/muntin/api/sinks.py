"""Where results go: idempotent upserts into PostgreSQL and Delta."""

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

    Used as mt.sinks.postgres is: in foreachBatch, or called with a table of results. The rows of
    one micro-batch, or of the table, pass through the driver's memory.
    """
    check_library("deltalake", "delta", "Delta")
    from muntin.engines.spark.sinks import delta_sink

    return delta_sink(path, key, late_to)

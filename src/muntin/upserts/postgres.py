"""Write a result into PostgreSQL: stage it from many processes, merge it in one transaction.

Tasks COPY into a staging table, each attempt under a number of its own. The driver then merges the
rows of the attempts that Spark counted, together with the number of the micro-batch: both are
written, or neither. So retried and speculative tasks add nothing, and a repeated micro-batch
changes nothing.

A staging table belongs to the connection that holds its advisory lock. Whoever writes next drops
those whose lock is free: their writer is dead.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import psycopg

from muntin.errors import SinkError, shortened
from muntin.upserts.batch import Batch
from muntin.upserts.columns import Column
from muntin.upserts.postgres_text import COMMITS, STAGE, Target, parse_table, quoted
from muntin.upserts.postgres_types import is_same, postgres_type
from muntin.upserts.server import OLDEST, Server

_DDL = 0x6D756E74696E
"""The advisory lock of those who create tables: "muntin" in ASCII."""
_DROP_PATIENCE = "5s"
"""How long to wait for tasks that still write into a staging table."""

_EXISTING = """
SELECT a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
       a.atthasdef OR a.attidentity <> '' OR a.attgenerated <> ''
FROM pg_attribute a WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
"""
_KEYS = """
SELECT array_agg(a.attname::text), bool_and(i.indnullsnotdistinct OR a.attnotnull)
FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey[0:i.indnkeyatts - 1]) AS k(attnum)
JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
WHERE i.indrelid = %s::regclass AND i.indisunique AND i.indisvalid
  AND i.indpred IS NULL AND i.indexprs IS NULL
GROUP BY i.indexrelid
"""
_STAGES = """
SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relkind = 'r' AND c.relname ~ %s
"""


@dataclass(frozen=True, slots=True)
class Session:
    """One connection of the driver, for one write into one target."""

    server: Server
    connection: psycopg.Connection
    target: Target

    def is_written(self, batch: Batch) -> bool:
        """Whether this micro-batch, or a later one of the same query, is in the table."""
        with self.server.translate(f"{self.target.beside(COMMITS)} cannot be read"):
            row = self.connection.execute(
                self.target.last_commit().encode(), (batch.query, self.target.name)
            ).fetchone()
        return row is not None and int(row[0]) >= batch.number

    @contextmanager
    def stage(self) -> Iterator[str]:
        """The name of a staging table, which is gone in the end."""
        name = f"{STAGE}{secrets.randbits(63):016x}"
        with self.server.translate(f"no staging table can be made in {self._schema}"):
            self._drop_orphans()
            self.connection.execute("SELECT pg_advisory_lock(%s)", (_lock(name),))
            self.connection.execute(self.target.create_stage(name).encode())
        try:
            yield name
        finally:
            with suppress(psycopg.Error):  # whoever writes next drops it
                self._drop(name)

    def merge(self, stage: str, attempts: Iterable[str], batch: Batch | None) -> bool:
        """Merge what these attempts staged; False if the micro-batch was written meanwhile."""
        with (
            self.server.translate(f"rows cannot be merged into {self.target.place}"),
            self.connection.transaction(),
        ):
            if batch is not None:
                values = (batch.query, self.target.name, batch.number)
                if not self.connection.execute(self.target.commit().encode(), values).rowcount:
                    return False
            self.connection.execute(self.target.merge(stage, attempts).encode())
        return True

    def _drop(self, name: str) -> None:
        with self.connection.transaction():
            self.connection.execute(f"SET LOCAL lock_timeout = '{_DROP_PATIENCE}'".encode())
            self.connection.execute(f"DROP TABLE IF EXISTS {self.target.beside(name)}".encode())

    def _drop_orphans(self) -> None:
        """Drop the staging tables that writers left which were killed."""
        pattern = f"^{STAGE}[0-9a-f]{{16}}$"
        for (name,) in self.connection.execute(_STAGES, (self.target.schema, pattern)).fetchall():
            lock = (_lock(name),)
            row = self.connection.execute("SELECT pg_try_advisory_lock(%s)", lock).fetchone()
            if row and row[0]:
                with suppress(psycopg.Error):  # another user's, or a task still writes into it
                    self._drop(name)
                self.connection.execute("SELECT pg_advisory_unlock(%s)", lock)

    @property
    def _schema(self) -> str:
        return f"schema {shortened(self.target.schema)!r}"


@contextmanager
def open_session(
    server: Server, table: str, columns: tuple[Column, ...], key: tuple[str, ...]
) -> Iterator[Session]:
    """A connection to a table that is there, has these columns and a unique index on the key."""
    schema, name = parse_table(table)
    types = {column.name: postgres_type(column) for column in columns}
    with server.connect() as connection:
        with server.translate(f"table {table} cannot be made ready"):
            _check_release(connection)
            connection.execute("SET idle_session_timeout = 0")  # staging may take long
            target = Target(_find_schema(connection, schema, name), name, types, key)
            _create(connection, target)
        yield Session(server, connection, target)


def _check_release(connection: psycopg.Connection) -> None:
    release = connection.info.server_version // 10_000
    if release < OLDEST:
        raise SinkError(
            f"this server is PostgreSQL {release}, and keys in which null is a value need "
            f"{OLDEST} or newer (UNIQUE NULLS NOT DISTINCT)"
        )


def _find_schema(connection: psycopg.Connection, schema: str | None, table: str) -> str:
    """The schema that was named; else that of the table, or the one where it would be made."""
    if schema is not None:
        row = connection.execute(
            "SELECT nspname::text FROM pg_namespace WHERE nspname = %s", (schema,)
        ).fetchone()
        if row is None:
            raise SinkError(
                f"there is no schema {shortened(schema)!r}: create it, or write into another"
            )
        return schema
    row = connection.execute(
        "SELECT coalesce((SELECT n.nspname FROM pg_class c JOIN pg_namespace n "
        "ON n.oid = c.relnamespace WHERE c.oid = to_regclass(%s)), current_schema())::text",
        (quoted(table),),
    ).fetchone()
    if row is None or row[0] is None:
        raise SinkError(f"no schema is on the search path: write table='schema.{table}'")
    return str(row[0])


def _create(connection: psycopg.Connection, target: Target) -> None:
    """Make the tables that are missing, and check those that are there."""
    exists = "SELECT to_regclass(%s) IS NOT NULL, to_regclass(%s) IS NOT NULL"
    places = (target.place, target.beside(COMMITS))
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_DDL,))
        has_table, has_commits = connection.execute(exists, places).fetchone() or (False, False)
        if not has_commits:
            connection.execute(target.create_commits().encode())
        if not has_table:
            connection.execute(target.create().encode())
            connection.execute(target.create_key().encode())
        else:
            _check_shape(connection, target)


def _check_shape(connection: psycopg.Connection, target: Target) -> None:
    """Refuse a table whose columns or keys do not fit, and say which."""
    rows = connection.execute(_EXISTING, (target.place,)).fetchall()
    there = {name: kind for name, kind, *_ in rows}
    wrong = [
        f"{shortened(name)!r} is {there[name]} and not {kind}"
        if name in there
        else f"{shortened(name)!r} ({kind}) is missing"
        for name, kind in target.types.items()
        if not is_same(there.get(name, ""), kind)
    ]
    wrong += [
        f"{shortened(name)!r} must not be null and is not in the result"
        for name, _, not_null, has_default in rows
        if not_null and not has_default and name not in target.types
    ]
    if wrong:
        raise SinkError(
            f"table {target.place} has another shape than the result: column {'; '.join(wrong)}. "
            "Write into another table, or change this one"
        )
    keys = connection.execute(_KEYS, (target.place,)).fetchall()
    if not any(set(names) == set(target.key) and nulls for names, nulls in keys):
        raise SinkError(
            f"table {target.place} has no unique index on exactly its key in which null is a "
            f"value: create one with {target.create_key()}"
        )


def _lock(stage: str) -> int:
    """The advisory lock of a staging table, from the digits of its name."""
    return int(stage.removeprefix(STAGE), 16)

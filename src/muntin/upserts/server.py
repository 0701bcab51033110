"""A PostgreSQL server: how to connect, and what may be said of it.

The DSN may hold a password, so no message repeats it: messages name host, port, database and user.
"env:NAME" takes the DSN from an environment variable of the process that writes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import psycopg
from psycopg.conninfo import conninfo_to_dict

from muntin.errors import SinkError, shown

ENV = "env:"
OLDEST = 15
"""The first release with UNIQUE NULLS NOT DISTINCT."""
HIDDEN = "…"
_SECRETS = ("password", "sslpassword", "passfile", "sslkey")
_SHORTEST = 3
"""Letters of a password worth hiding."""
_PATIENCE = 30
"""Seconds to wait for a connection, unless the DSN says otherwise."""


@dataclass(frozen=True, slots=True)
class Server:
    """What to connect with; its repr names no value."""

    options: Mapping[str, str] = field(repr=False)

    def __str__(self) -> str:
        """Where it is: PostgreSQL at localhost:5432, database db."""
        host, port = self.options.get("host", "localhost"), self.options.get("port", "5432")
        database = self.options.get("dbname")
        at = f"PostgreSQL at {host}:{port}"
        return self.hide(f"{at}, database {database}" if database else at)

    def hide(self, text: str) -> str:
        """A text without the passwords of the DSN.

        >>> parse_dsn("host=db user=ada password=s3cret").hide("no role ada with s3cret")
        'no role ada with …'
        """
        for name in _SECRETS:
            secret = self.options.get(name, "")
            if len(secret) >= _SHORTEST:
                text = text.replace(secret, HIDDEN)
        return text

    def connect(self) -> psycopg.Connection:
        """A connection that commits each statement, unless a transaction is opened."""
        options = {"connect_timeout": str(_PATIENCE), "application_name": "muntin", **self.options}
        try:
            return psycopg.connect(**options, autocommit=True)  # type: ignore[arg-type]
        except psycopg.Error as error:
            reason = self.hide(str(error).strip().splitlines()[-1])
        raise SinkError(
            f"cannot connect to {self}: {reason.strip()}. Check the DSN, and that the server runs"
        )

    @contextmanager
    def translate(self, what: str) -> Iterator[None]:
        """What the server refuses inside the block is told in a sentence that begins so."""
        try:
            yield
        except psycopg.Error as error:
            raise SinkError(f"{what}: {self.hide(explain(error))}") from None


def explain(error: psycopg.Error) -> str:
    """What PostgreSQL says on one line, and what to do about it where that is known."""
    said = error.diag.message_primary or str(error).strip().partition("\n")[0] or "no reason given"
    hints: dict[str, str] = {
        "21000": (
            "two rows of the same write have the same key: the key must tell all rows of the "
            "result apart, so name more columns in key="
        ),
        "23505": "two rows would have the same key: the table has another unique index",
        "42501": "the user needs CREATE on the schema, and INSERT, UPDATE and SELECT on the table",
    }
    hint = hints.get(error.sqlstate or "", "")
    return f"{said} ({hint})" if hint else said


def parse_dsn(dsn: str) -> Server:
    """The server of a DSN, as libpq reads it, or of an environment variable that holds one.

    >>> print(parse_dsn("postgresql://ada:s3cret@db.example:5433/flights"))
    PostgreSQL at db.example:5433, database flights
    >>> parse_dsn("host=db.example password=s3cret")
    Server()
    """
    if not isinstance(dsn, str):
        raise SinkError(
            f"dsn must be text such as 'postgresql://host/db', not {type(dsn).__name__}"
        )
    text = dsn
    if dsn.startswith(ENV):
        name = dsn.removeprefix(ENV)
        if not os.environ.get(name):
            raise SinkError(f"dsn is 'env:…', and there is no environment variable {shown(name)}")
        text = os.environ[name]
    try:
        options = conninfo_to_dict(text)
    except psycopg.Error:  # whose message would repeat what it cannot read
        options = {}
    if not text.strip() or not options:
        raise SinkError(
            "dsn cannot be read: write 'postgresql://user@host:5432/database' or 'host=… dbname=…' "
            "with special characters of a password as %40 and so on; or 'env:NAME'"
        )
    return Server({name: str(value) for name, value in options.items() if value is not None})

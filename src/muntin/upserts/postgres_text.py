"""SQL text for PostgreSQL: the target, its key, the staging table, the merge and the commits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from muntin.errors import SinkError, shown

COMMITS = "muntin_commits"
"""The table beside the target that says which micro-batch each query has written last."""
STAGE = "muntin_stage_"
"""How the names of staging tables begin; 16 hexadecimal digits follow."""
ATTEMPT = "muntin attempt"
"""The column of a staging table that tells attempts of a task apart."""

_PART = re.compile(r'"(?P<quoted>(?:[^"\0]|"")+)"|(?P<plain>[A-Za-z_][\w$]*)')


def quoted(name: str) -> str:
    """A name as PostgreSQL reads it, whatever characters it has.

    >>> print(quoted('a "b"'))
    "a ""b\"""
    """
    return '"' + name.replace('"', '""') + '"'


def parse_table(text: str) -> tuple[str | None, str]:
    """Schema and name of a table, as PostgreSQL reads them: unquoted letters are small.

    >>> parse_table("Results"), parse_table('data."Hourly ""x"" rows"')
    ((None, 'results'), ('data', 'Hourly "x" rows'))
    """
    parts: list[str] = []
    rest = text if isinstance(text, str) else ""
    while match := _PART.match(rest):
        plain = match["plain"]
        parts.append(plain.lower() if plain else match["quoted"].replace('""', '"'))
        rest = rest[match.end() :]
        if not rest.startswith("."):
            break
        rest = rest[1:] or "."
    if rest or not 1 <= len(parts) <= 2:
        raise SinkError(
            f"table {shown(text)} is not a table name: write 'results', 'schema.results', or "
            "with other characters 'schema.\"my results\"'"
        )
    return (parts[0], parts[1]) if len(parts) == 2 else (None, parts[0])


@dataclass(frozen=True, slots=True)
class Target:
    """A table to write: where it is, its columns with their types, and its key."""

    schema: str
    name: str
    types: Mapping[str, str]
    key: tuple[str, ...]

    @property
    def place(self) -> str:
        """The table as SQL names it."""
        return self.beside(self.name)

    def beside(self, name: str) -> str:
        """Another table of the same schema."""
        return f"{quoted(self.schema)}.{quoted(name)}"

    def create(self) -> str:
        """The table itself."""
        return f"CREATE TABLE IF NOT EXISTS {self.place} ({_declared(self.types)})"

    def create_key(self) -> str:
        """The unique index that rows are replaced by; null is a value like any other."""
        return f"CREATE UNIQUE INDEX ON {self.place} ({_listed(self.key)}) NULLS NOT DISTINCT"

    def create_commits(self) -> str:
        """The table that remembers what was written."""
        return (
            f"CREATE TABLE IF NOT EXISTS {self.beside(COMMITS)} (query text, target text, "
            "batch bigint NOT NULL, at timestamp with time zone NOT NULL DEFAULT now(), "
            "PRIMARY KEY (query, target))"
        )

    def create_stage(self, stage: str) -> str:
        """A table for the rows of one write; it is never part of a backup."""
        types = {ATTEMPT: "uuid", **self.types}
        return f"CREATE UNLOGGED TABLE {self.beside(stage)} ({_declared(types)})"

    def copy(self, stage: str) -> str:
        """What a task sends its rows to."""
        return f"COPY {self.beside(stage)} ({_listed([ATTEMPT, *self.types])}) FROM STDIN"

    def merge(self, stage: str, attempts: Iterable[str]) -> str:
        """Replace and insert the rows of these attempts, given as hexadecimal digits."""
        names = _listed(self.types)
        others = [name for name in self.types if name not in self.key]
        news = ", ".join(f"{quoted(name)} = excluded.{quoted(name)}" for name in others)
        return (
            f"INSERT INTO {self.place} ({names}) SELECT {names} FROM {self.beside(stage)} "
            f"WHERE {quoted(ATTEMPT)} = ANY ('{{{','.join(attempts)}}}'::uuid[]) "
            f"ON CONFLICT ({_listed(self.key)}) DO " + (f"UPDATE SET {news}" if news else "NOTHING")
        )

    def commit(self) -> str:
        """Remember a micro-batch, if it is newer than the last; takes query, target and batch."""
        return (
            f"INSERT INTO {self.beside(COMMITS)} AS c (query, target, batch) VALUES (%s, %s, %s) "
            "ON CONFLICT (query, target) DO UPDATE SET batch = excluded.batch, at = now() "
            "WHERE c.batch < excluded.batch"
        )

    def last_commit(self) -> str:
        """The last micro-batch; takes query and target."""
        return f"SELECT batch FROM {self.beside(COMMITS)} WHERE query = %s AND target = %s"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(quoted, names))


def _declared(types: Mapping[str, str]) -> str:
    return ", ".join(f"{quoted(name)} {kind}" for name, kind in types.items())

"""Sinks on Spark: upserts into PostgreSQL and Delta, for foreachBatch and for a whole table.

A sink reads its DataFrame exactly once. A micro-batch that is written already is read too, into
nothing: a stateful query that nobody reads could not go on.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from typing import Self

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from muntin.engines.spark.faults import first_line, silence_log
from muntin.engines.spark.key_marks import read_columns
from muntin.engines.spark.late_rows import (
    BATCH,
    STREAM,
    check_late,
    number_late,
    refuse_nowhere,
    split_late,
)
from muntin.engines.spark.names import column
from muntin.engines.spark.own_delta import OwnDelta, has_delta
from muntin.engines.spark.session_facts import check_table, is_connect
from muntin.errors import SinkError, check_library, shown
from muntin.upserts import Column, find_key
from muntin.upserts.batch import Batch
from muntin.upserts.columns import flatten
from muntin.upserts.delta_rules import check_types
from muntin.upserts.keys import check_key
from muntin.upserts.postgres_text import parse_table
from muntin.upserts.postgres_types import JSON, postgres_type

QUERY_ID = "sql.streaming.queryId"
"""The local property in which Spark tells the thread of a stream which query it runs."""

_OF_A_TASK = re.compile(r"muntin\.errors\.SinkError: (.*)")


@dataclass(frozen=True, slots=True)
class Sink(ABC):
    """What foreachBatch calls with each micro-batch; called with a table alone, it writes that."""

    key: tuple[str, ...] | None
    checkpoint: str | None = field(default=None, kw_only=True)
    late_to: str | None = field(default=None, kw_only=True)

    def __call__(self, rows: DataFrame, batch_id: int | None = None) -> None:
        """Write the rows: replace those whose key is there, insert the others."""
        check_table(rows)
        if rows.isStreaming:
            raise SinkError(
                "this is a stream, and a sink writes its micro-batches: "
                "stream.writeStream.foreachBatch(sink).option('checkpointLocation', ...).start()"
            )
        batch = None if batch_id is None else Batch(self._query(rows), batch_id)
        has_late = check_late(rows, self.late_to)
        if batch is None or not has_late:
            if batch is not None and self.late_to is not None:
                raise refuse_nowhere(self.late_to)
            self._upsert(rows, batch)
            return
        with split_late(rows) as (results, late):
            self._upsert(results, batch)
            if not late.isEmpty():
                self._aside()._upsert(number_late(late, batch), batch, (STREAM, BATCH))

    def _upsert(self, rows: DataFrame, batch: Batch | None, more_key: tuple[str, ...] = ()) -> None:
        columns = flatten(read_columns(rows))
        given = None if self.key is None else (*more_key, *self.key)
        self._write(rows, columns, find_key(columns, given), batch)

    def for_checkpoint(self, checkpoint: str) -> Self:
        """The same sink for the stream with this checkpoint, which Spark Connect has to be told.

        On classic Spark the sink sees by itself which query calls it.
        """
        return replace(self, checkpoint=str(checkpoint))

    @abstractmethod
    def _aside(self) -> Sink:
        """The sink of late rows: of the same kind, into another place."""

    @abstractmethod
    def _write(
        self,
        rows: DataFrame,
        columns: tuple[Column, ...],
        key: tuple[str, ...],
        batch: Batch | None,
    ) -> None:
        """Upsert the rows, once for a micro-batch."""

    def _query(self, rows: DataFrame) -> str:
        """The id that the checkpoint gives the query that calls."""
        if self.checkpoint is not None:
            return _read_id(rows, self.checkpoint)
        if is_connect(rows):
            raise SinkError(
                "on Spark Connect a sink cannot see which stream calls it: bind it to the "
                "stream's checkpoint, sink.for_checkpoint('/path/of/the/checkpoint')"
            )
        found = rows.sparkSession.sparkContext.getLocalProperty(QUERY_ID)
        if not found:
            raise SinkError(
                "a batch_id is given, and no stream calls: leave it out to write a table, or bind "
                "the sink to a checkpoint, sink.for_checkpoint('/path/of/the/checkpoint')"
            )
        return str(found)


@dataclass(frozen=True, slots=True)
class PostgresSink(Sink):
    """Upserts into a table of PostgreSQL."""

    dsn: str = field(repr=False)
    table: str

    def _aside(self) -> PostgresSink:
        return replace(self, table=str(self.late_to), late_to=None)

    def _write(
        self,
        rows: DataFrame,
        columns: tuple[Column, ...],
        key: tuple[str, ...],
        batch: Batch | None,
    ) -> None:
        from muntin.upserts.copying import ATTEMPT_ROWS, Copier
        from muntin.upserts.postgres import open_session
        from muntin.upserts.server import parse_dsn

        server = parse_dsn(self.dsn)
        with open_session(server, self.table, columns, key) as session:
            if batch is not None and session.is_written(batch):
                _consume(rows)
                return
            with session.stage() as stage:
                copier = Copier(
                    server, session.target.copy(stage), tuple(each.path for each in columns)
                )
                with _translate_tasks():
                    ended = _plain(rows, columns).mapInArrow(copier.copy, ATTEMPT_ROWS).collect()
                session.merge(stage, [row["attempt"] for row in ended], batch)


@dataclass(frozen=True, slots=True)
class DeltaSink(Sink):
    """Upserts into a Delta table, by Spark's own Delta where the session has it.

    Elsewhere the library deltalake writes it, and no jar is needed.
    """

    path: str

    def _aside(self) -> DeltaSink:
        return replace(self, path=str(self.late_to), late_to=None)

    def _write(
        self,
        rows: DataFrame,
        columns: tuple[Column, ...],
        key: tuple[str, ...],
        batch: Batch | None,
    ) -> None:
        check_types(columns)
        if has_delta(rows.sparkSession):
            OwnDelta(self.path, key).write(rows, columns, batch)
            return
        check_library("deltalake", "delta", "Delta")
        from muntin.upserts.delta import DeltaTarget, flat_table

        target = DeltaTarget(self.path, key)
        if batch is not None and target.is_written(batch):
            _consume(rows)
            return
        target.merge(flat_table(rows.toArrow(), columns), batch)


def postgres_sink(
    dsn: str, table: str, key: str | Iterable[str] | None = None, late_to: str | None = None
) -> PostgresSink:
    """A sink into PostgreSQL; what is wrong with its arguments is told at once."""
    check_library("psycopg", "postgres", "PostgreSQL")
    from muntin.upserts.server import ENV, parse_dsn

    parse_table(table)
    if late_to is not None and parse_table(late_to) == parse_table(table):
        raise SinkError(f"late_to {shown(late_to)} is the table of the results: name another one")
    if not str(dsn).startswith(ENV):  # which may be set where the sink runs, and not here
        parse_dsn(dsn)
    return PostgresSink(check_key(key), dsn, table, late_to=late_to)


def delta_sink(
    path: str | PathLike[str],
    key: str | Iterable[str] | None = None,
    late_to: str | PathLike[str] | None = None,
) -> DeltaSink:
    """A sink into a Delta table; what is wrong with its arguments is told at once."""
    session = SparkSession.getActiveSession()
    if session is None or not has_delta(session):
        check_library("deltalake", "delta", "Delta")
    places = (_folder(path, "path"), None if late_to is None else _folder(late_to, "late_to"))
    if places[0] == places[1]:
        raise SinkError(
            f"late_to {shown(late_to)} is the table of the results: give another folder"
        )
    return DeltaSink(check_key(key), places[0], late_to=places[1])


def _folder(path: object, name: str) -> str:
    if not isinstance(path, str | PathLike) or not str(path):
        raise SinkError(
            f"{name} is {shown(path)}: give the folder of a Delta table, '/data/results'"
        )
    return str(fspath(path))


def _plain(rows: DataFrame, columns: tuple[Column, ...]) -> DataFrame:
    """The rows as PostgreSQL takes them: what has no type there is JSON."""
    json_names = {each.name for each in columns if postgres_type(each) == JSON}
    return rows.select(
        *(
            F.to_json(column(name)).alias(name) if name in json_names else column(name)
            for name in rows.columns
        )
    )


def _consume(rows: DataFrame) -> None:
    rows.write.format("noop").mode("overwrite").save()


@contextmanager
def _translate_tasks() -> Iterator[None]:
    """What a task says in a sentence of ours is raised as that, without Spark's stack traces."""
    try:
        with silence_log():
            yield
    except PySparkException as error:
        said = _OF_A_TASK.search(str(error))
        if said is None:
            raise
    else:
        return
    raise SinkError(said[1].strip())


def _read_id(rows: DataFrame, checkpoint: str) -> str:
    """The query's id in the file `metadata` of a checkpoint, which is there before batch 0."""
    try:
        with silence_log():
            lines = rows.sparkSession.read.text(f"{checkpoint.rstrip('/')}/metadata").collect()
        return str(json.loads("".join(line["value"] for line in lines))["id"])
    except (PySparkException, ValueError, KeyError, TypeError) as error:
        reason = first_line(error) if isinstance(error, PySparkException) else "it is no checkpoint"
    raise SinkError(
        f"checkpoint {shown(checkpoint)} cannot be read: {reason} Give for_checkpoint the path "
        "that the stream is started with"
    )

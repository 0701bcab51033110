"""A job: where rows come from, what is asked of them, where results go, and when.

Each class is a section of the file; a path without a scheme is taken from the file's own folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import get_args

from muntin.jobs.fields import option
from muntin.model.choices import Closed, FrameOperator, FrameOutput

FILES = ("parquet", "csv", "json", "delta")
"""Sources that are a folder of files: a table, or a stream of the files that arrive."""
ENDLESS = ("kafka", "rate", "socket")
"""Sources that are always a stream."""


@dataclass(frozen=True, slots=True)
class Input:
    """Where the rows come from."""

    format: str = option("what kind of source", choices=FILES + ENDLESS)
    path: str | None = option("file or folder of parquet, csv, json or delta", None)
    stream: bool = option("read a folder of files as a stream of those that arrive", False)
    schema: str | None = option(
        "columns as Spark writes them, 'ts TIMESTAMP, t DOUBLE'; of kafka and socket: of the JSON "
        "in each message. Left out, files that are there already are looked at",
        None,
    )
    topic: str | None = option("kafka: the topic, or several with commas", None)
    servers: str | None = option("kafka: host:port of the brokers", None)
    host: str = option("socket: the host to listen to", "localhost")
    port: float | None = option("socket: its port", None, most=65_535, whole=True)
    rows_per_second: float | None = option(
        "rate: rows a second, of columns timestamp, value", None, most=1e9, whole=True
    )
    columns: Mapping[str, str] = option("further columns as SQL expressions, by name", {})
    options: Mapping[str, str] = option("handed to Spark's reader as they are", {})

    @property
    def streaming(self) -> bool:
        """Whether rows keep coming."""
        return self.stream or self.format in ENDLESS


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of the rows."""

    time: str = option("the timestamp column")
    windows: tuple[str, ...] = option(
        "each range[/slide][@offset], '1 hour/5 minutes' or '1h/5min', or decided by the data: "
        "'session 30 minutes', '100/10 "
        "records', '10/5 of mileage', 'snapshot'; with an id: id = range/slide"
    )
    aggregates: tuple[str, ...] = option("each such as 'avg(t) as mean'")
    keys: tuple[str, ...] = option("columns to group by", ())
    where: str | None = option("SQL condition on the rows to count", None)
    order_by: tuple[str, ...] = option(
        "columns that order rows of equal time, for windows that the data decides", ()
    )
    watermark: str | None = option("how late rows of a stream may be, '10 minutes'", None)
    allowed_lateness: str | None = option(
        "windows of a stream that have fired are kept so much longer, '1 hour', and come again "
        "with a column `revision` when late rows change them: docs/streaming.md",
        None,
    )
    future: str | None = option(
        "rows of a stream further ahead of the clock than this are left out, '10 minutes'", None
    )
    strategy: str = option("how windows share their work: a strategy's name, or auto", "auto")
    operator: str | None = option("force how the plan runs, see `muntin explain`", None)
    rate: float = option("events per second over all keys, for the plan's cost", 100.0, most=1e12)
    distinct_keys: float = option(
        "how many distinct keys there are, for the plan's cost", 1.0, most=1e12
    )
    layout: str = option("one row a window, or one row an instant", "long", ("long", "wide"))
    empty: str = option("what becomes of windows without rows", "omit", ("omit", "fill"))
    fill_for: str | None = option(
        "with empty = 'fill' on a stream: how long a key without rows still gets empty windows; as "
        "long as its longest window if left out",
        None,
    )
    output: str = option("what a stream emits", "append", ("append", "update", "complete"))
    control: str | None = option(
        "folder of commands by which windows come and go while a stream runs: docs/control.md", None
    )
    grain: str | None = option("with a control: what all windows are multiples of", None)


@dataclass(frozen=True, slots=True)
class Features:
    """What is asked as of each row: aggregates over its own trailing windows."""

    time: str = option("the timestamp column of the rows")
    windows: tuple[str, ...] = option(
        "each '1 hour', '10 rows' or 'lifetime'; 'delayed by 5 minutes' may follow; with an id: "
        "day = 24 hours"
    )
    aggregates: tuple[str, ...] = option("each such as 'avg(t) as mean'")
    keys: tuple[str, ...] = option("columns by which rows find their events", ())
    events_time: str | None = option("the timestamp column of the events, if it is another", None)
    where: str | None = option("SQL condition on the events to count", None)
    closed: str = option(
        "which bounds of a window belong to it: docs/as-of.md", "left", get_args(Closed)
    )
    order_by: tuple[str, ...] = option(
        "columns that order events of equal time, for windows of so many rows", ()
    )
    operator: str = option("how a batch runs", "auto", get_args(FrameOperator))
    watermark: str | None = option("how late rows of a stream may be, '10 minutes'", None)
    future: str | None = option(
        "rows of a stream further ahead of the clock than this are left out, '10 minutes'", None
    )
    output: str = option(
        "when rows of a stream come out: once the watermark has passed them, or as they arrive",
        "append",
        get_args(FrameOutput),
    )
    control: str | None = option(
        "folder of commands by which windows come and go while a stream runs; then a row comes out "
        "once for each window of the moment: docs/control.md",
        None,
    )


@dataclass(frozen=True, slots=True)
class Output:
    """Where the results go."""

    format: str = option(
        "what kind of sink",
        choices=("console", "parquet", "delta", "iceberg", "kafka", "memory", "postgres"),
    )
    path: str | None = option("folder of parquet or delta", None)
    mode: str = option(
        "what a batch does with results already there; 'upsert', of delta and also for streams, "
        "replaces rows by key and needs no jar: docs/sinks.md",
        "error",
        ("error", "overwrite", "append", "upsert"),
    )
    dsn: str | None = option(
        "postgres: 'postgresql://user@host/database', or 'env:NAME' for a variable that holds it",
        None,
    )
    table: str | None = option(
        "postgres: 'name' or 'schema.name' of the table; iceberg: 'catalog.namespace.name'", None
    )
    key: tuple[str, ...] = option(
        "postgres, and delta with 'upsert': the columns that tell rows apart, if not those that "
        "the query knows",
        (),
    )
    late_to: str | None = option(
        "where rows of a stream go that came too late, with the windows that they missed: a table "
        "of postgres, a folder of delta with 'upsert', or of parquet beside parquet and console",
        None,
    )
    late_records: bool = option(
        "with late_to: keep the rows themselves too, as JSON in a column `records`", False
    )
    partition_by: tuple[str, ...] = option("columns that become folders", ())
    name: str | None = option("memory: the name of the table", None)
    topic: str | None = option("kafka: the topic", None)
    servers: str | None = option("kafka: host:port of the brokers", None)
    rows: float = option("console: how many rows to print", 20.0, most=1e6, whole=True)
    options: Mapping[str, str] = option("handed to Spark's writer as they are", {})

    @property
    def upserts(self) -> bool:
        """Whether rows of the same key are replaced, by a sink of ours."""
        return self.format == "postgres" or self.mode == "upsert"


@dataclass(frozen=True, slots=True)
class Trigger:
    """When a stream works, and where it keeps its place."""

    available_now: bool = option("work through what is there, then stop", False)
    interval: str | None = option("start a micro-batch this often, '10 seconds'", None)
    checkpoint: str | None = option("folder in which the stream keeps its place and state", None)


@dataclass(frozen=True, slots=True)
class Past:
    """The earlier rows that a stream starts from."""

    path: str | None = option(
        "file or folder of the earlier rows; of the earlier events where [events] has others", None
    )
    format: str = option("what kind of files", "parquet", FILES)
    until: str | None = option(
        "where the stream begins, with its zone: '2026-11-01T00:00:00Z'; rows of these files from "
        "there on and rows of the stream before are not taken",
        None,
    )
    options: Mapping[str, str] = option("handed to Spark's reader as they are", {})

    @property
    def given(self) -> bool:
        """Whether the job has such rows."""
        return self != Past()


@dataclass(frozen=True, slots=True)
class Settings:
    """Which Spark to run on."""

    master: str | None = option("a cluster's master; left out, all cores of this machine", None)
    remote: str | None = option("a Spark Connect server instead, 'sc://host'", None)
    conf: Mapping[str, str] = option("settings of the session, spark.… = …", {})


SECTIONS: dict[str, type] = {
    "source": Input,
    "query": Question,
    "as_of": Features,
    "events": Input,
    "sink": Output,
    "trigger": Trigger,
    "history": Past,
    "spark": Settings,
}
"""The tables of a job file."""


@dataclass(frozen=True, slots=True)
class Job:
    """A checked job file."""

    file: Path
    source: Input
    query: Question | None
    sink: Output
    trigger: Trigger = field(default_factory=Trigger)
    history: Past = field(default_factory=Past)
    spark: Settings = field(default_factory=Settings)
    as_of: Features | None = None
    events: Input | None = None

    @property
    def asked(self) -> Question | Features:
        """What is asked, over windows of the clock or as of each row."""
        asked = self.query or self.as_of
        assert asked is not None, "the reader lets no job pass that asks nothing"
        return asked

    @property
    def mode(self) -> str:
        """The output mode of a streaming query: rows with features are only ever added."""
        return self.query.output if self.query else "append"

    def as_table(self) -> Job:
        """The same job over the rows that are there, read as a table."""
        events = self.events and replace(self.events, stream=False)
        source = replace(self.source, stream=False)
        return replace(self, source=source, events=events, history=Past())

    def input(self, name: str) -> Input:
        """The section [source] or [events]."""
        found = self.source if name == "source" else self.events
        assert found is not None, "asked for where it is there"
        return found

    @property
    def counted(self) -> Input:
        """Where the rows come from that count: the events, if there are others than the rows."""
        return self.source if self.events is None else self.events

    def place(self, path: str) -> str:
        """A path of the file: one with a scheme as it is, else from the file's folder."""
        return path if "://" in path or path.startswith("/") else str(self.file.parent / path)


def reader_options(job: Job, name: str = "source") -> dict[str, str]:
    """Options of the reader of [source] or [events]; those given in its options win.

    Kafka is read from the beginning of a topic, since a job's results should not depend on when
    it was first started.
    """
    source = job.input(name)
    options: dict[str, str] = {}
    if source.format in FILES and source.path is not None:
        options["path"] = job.place(source.path)
    if source.format == "csv":
        options["header"] = "true"
    if source.format == "kafka":
        options["kafka.bootstrap.servers"] = source.servers or ""
        options["subscribe"] = source.topic or ""
        options["startingOffsets"] = "earliest"
    if source.format == "socket":
        options |= {"host": source.host, "port": f"{source.port or 0:.0f}"}
    if source.format == "rate" and source.rows_per_second:
        options["rowsPerSecond"] = f"{source.rows_per_second:.0f}"
    return options | dict(source.options)


def writer_options(job: Job) -> dict[str, str]:
    """Options of the writer; those given in [sink.options] win."""
    sink = job.sink
    options: dict[str, str] = {}
    if sink.path is not None:
        options["path"] = job.place(sink.path)
    if sink.format == "kafka":
        options |= {"kafka.bootstrap.servers": sink.servers or "", "topic": sink.topic or ""}
    if sink.format == "console":
        options |= {"numRows": f"{sink.rows:.0f}", "truncate": "false"}
    if job.trigger.checkpoint is not None:
        options["checkpointLocation"] = job.place(job.trigger.checkpoint)
    return options | dict(sink.options)

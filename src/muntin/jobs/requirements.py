"""What the options of a job need of each other, told before Spark is started.

Each rule yields the key and what is wrong with it; the first one met is reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from muntin.errors import MuntinError, WindowError
from muntin.jobs.job import ENDLESS, FILES, Input, Job, Output
from muntin.jobs.job_query import parse_as_of, parse_query
from muntin.jobs.secrets import SAID
from muntin.model.durations import LONGEST, duration_text, microseconds
from muntin.model.history import parse_instant

LONGEST_DURATION = 200
"""Letters of one that a message repeats."""

Problem = tuple[str, str]
"""A key and what is wrong with it."""

OF_A_FORMAT = {"topic": "kafka", "servers": "kafka", "port": "socket", "rows_per_second": "rate"}
"""Keys that only one format of a source or sink has; all but the rate it needs."""

OF_A_DATABASE = {"dsn": ("postgres",), "table": ("postgres", "iceberg")}
"""Keys that only these sinks have, and need."""

FOR_STREAMS = (
    "is for streams, and this source is read as a table: set source.stream = true, or leave it out"
)


def unmet_needs(job: Job) -> Iterator[Problem]:
    """Every rule that the job breaks."""
    yield from _source(job, "source")
    if job.events is not None:
        yield from _events(job)
    yield from _question(job) if job.query is not None else _features(job)
    yield from _sink(job)
    yield from _trigger(job)
    yield from _history(job)
    if job.spark.master and job.spark.remote:
        yield "spark.remote", "and spark.master are both given: keep one"


def _source(job: Job, name: str) -> Iterator[Problem]:
    source = job.input(name)
    kind = f"{name}.format = {source.format!r}"
    if source.format in FILES:
        yield from _source_path(job, name, kind)
    elif source.path is not None:
        yield f"{name}.path", f"is given, but {kind} reads no files: leave it out"
    for key, owner in OF_A_FORMAT.items():
        if getattr(source, key) is not None and source.format != owner:
            yield f"{name}.{key}", f"is given, but {kind} has none: leave it out"
    yield from _missing(name, source)
    if source.format in ("kafka", "socket") and source.schema is None and not source.columns:
        problem = (
            "is missing: give the columns of the JSON in each message, 'ts TIMESTAMP, t DOUBLE', "
            f"or make columns out of `value` in [{name}.columns]"
        )
        yield f"{name}.schema", problem


def _source_path(job: Job, name: str, kind: str) -> Iterator[Problem]:
    path = job.input(name).path
    if path is None:
        yield f"{name}.path", f"is missing: {kind} reads a file or folder"
    elif "://" not in path and not _real(job, path).exists():
        problem = f"leads to no file or folder, seen from {job.file.parent}: give another path"
        yield f"{name}.path", problem
    elif job.input(name).stream and _real(job, path).is_file():
        problem = (
            "is a file, and a stream reads a folder of files that arrive: give the folder, or "
            f"leave out {name}.stream"
        )
        yield f"{name}.path", problem


def _events(job: Job) -> Iterator[Problem]:
    """Events of their own are for features, and of the kind of the rows."""
    assert job.events is not None, "asked for where they are there"
    if job.as_of is None:
        yield "events", "is a section for [as_of], and this job has [query]: leave it out"
    yield from _source(job, "events")
    if job.events.streaming != job.source.streaming:
        kinds = ("a stream", "a table") if job.events.streaming else ("a table", "a stream")
        problem = (
            f"makes events {kinds[0]}, and rows are {kinds[1]}: read both as streams or both as "
            "tables"
        )
        yield "events.stream", problem


def _missing(name: str, section: Input | Output) -> Iterator[Problem]:
    for key, owner in OF_A_FORMAT.items():
        if owner == section.format != "rate" and getattr(section, key) is None:
            yield f"{name}.{key}", f"is missing: {name}.format = {section.format!r} needs it"


def _features(job: Job) -> Iterator[Problem]:
    """What is asked as of each row, and what a stream of them must have."""
    asked = job.as_of
    assert asked is not None, "there is one of the two"
    try:
        parse_as_of(job)
    except MuntinError as error:
        key, _, problem = str(error).partition(" ")
        yield key, problem
    if asked.watermark is not None:
        yield from _duration("as_of.watermark", asked.watermark, zero=True)
    elif job.source.streaming:
        problem = "is missing: a stream must know how late rows may be, such as '10 minutes'"
        yield "as_of.watermark", problem
    if asked.future is not None:
        yield from _duration("as_of.future", asked.future, zero=True)
        if not job.source.streaming:
            yield "as_of.future", FOR_STREAMS
    if asked.control is not None:
        if not job.source.streaming:
            yield "as_of.control", FOR_STREAMS
        if job.sink.upserts and job.sink.key and "window_id" not in job.sink.key:
            problem = "lacks 'window_id': with a control a row comes out once for each window"
            yield "sink.key", problem
    if job.sink.upserts and not job.sink.key:
        problem = "is missing: rows with features have no key of their own; give the columns that "
        yield "sink.key", problem + "tell them apart"


def _question(job: Job) -> Iterator[Problem]:
    question = job.query
    assert question is not None, "there is one of the two"
    try:
        if parse_query(job).data_windows and job.source.streaming:
            yield from _by_records(job)
    except MuntinError as error:
        key, _, problem = str(error).partition(" ")
        yield key, problem
    if question.watermark is not None:
        yield from _duration("query.watermark", question.watermark, zero=True)
    for key in ("future", "allowed_lateness", "fill_for"):
        if (given := getattr(question, key)) is not None:
            yield from _duration(f"query.{key}", given, zero=key == "future")
            if not job.source.streaming:
                yield f"query.{key}", FOR_STREAMS
    if question.grain is not None:
        yield from _duration("query.grain", question.grain)
        if question.control is None:
            problem = "is for streams with a control: give query.control, or leave it out"
            yield "query.grain", problem
    if job.source.streaming:
        yield from _streamed(job)
    elif question.control is not None:
        yield "query.control", FOR_STREAMS


def _streamed(job: Job) -> Iterator[Problem]:
    """What a stream must have, and what it cannot."""
    question = job.query
    assert question is not None, "asked for windows of the clock"
    unbounded = question.watermark is None or question.output == "complete"
    if question.control is not None and unbounded:
        yield "query.control", "needs a watermark, and output = 'append' or 'update'"
    if question.watermark is None and question.output == "append":
        problem = (
            "is missing: a stream that appends results must know how late rows may be, such as "
            "'10 minutes'"
        )
        yield "query.watermark", problem
    if question.layout == "wide":
        yield "query.layout", "is 'wide', which a stream does not have: leave it out"
    yield from _filled(job)


def _filled(job: Job) -> Iterator[Problem]:
    """What empty windows on a stream need, and cannot go with."""
    question = job.query
    assert question is not None, "asked for windows of the clock"
    if question.empty != "fill":
        if question.fill_for is not None:
            yield "query.fill_for", "is for empty = 'fill': give query.empty too, or leave it out"
        return
    others = (("control", None), ("allowed_lateness", None), ("output", "append"))
    for key, plain in others:
        if getattr(question, key) != plain:
            yield f"query.{key}", "cannot go with empty = 'fill' on a stream: leave out one of them"


def _by_records(job: Job) -> Iterator[Problem]:
    """What a stream with windows that the data decides cannot have."""
    assert job.query is not None, "asked for windows"
    if job.query.output != "append":
        problem = (
            f"is {job.query.output!r}, and which rows a window holds that the data decides is "
            "known only when the watermark has passed them: use 'append'"
        )
        yield "query.output", problem
    if job.query.grain is not None:
        problem = (
            "is for periodic windows, whose rows are pre-aggregated to it: leave it out, as "
            "windows that the data decides take records one by one"
        )
        yield "query.grain", problem


def _sink(job: Job) -> Iterator[Problem]:
    sink = job.sink
    kind = f"sink.format = {sink.format!r}"
    if sink.format in ("parquet", "delta") and sink.path is None:
        yield "sink.path", f"is missing: {kind} writes a folder"
    for read in (job.source, job.events, job.history):
        if sink.path is not None and read is not None and read.path is not None:
            to, of = (_real(job, path) for path in (sink.path, read.path))
            if to == of or to in of.parents:
                problem = "is where the rows are read from: give the results another folder"
                yield "sink.path", problem
    yield from _overwritten(job)
    yield from _missing("sink", sink)
    yield from _upserted(job, kind)
    if sink.late_to is not None:
        yield from _written_aside(job, kind)
    elif sink.late_records:
        yield "sink.late_records", "needs sink.late_to, the place for what is too late: give both"
    if sink.format == "memory" and sink.name is None:
        yield "sink.name", f"is missing: {kind} needs a name for its table"
    if job.source.streaming and sink.format == "parquet" and job.mode != "append":
        problem = f"is {job.mode!r}, but files are never changed: parquet needs 'append'"
        yield "query.output", problem
    if job.source.streaming and sink.format == "iceberg" and job.mode == "update":
        yield "query.output", "is 'update', which iceberg does not take: use 'append'"


def _written_aside(job: Job, kind: str) -> Iterator[Problem]:
    """What a place for late rows needs."""
    sink, late_to = job.sink, str(job.sink.late_to)
    if not job.source.streaming:
        yield "sink.late_to", FOR_STREAMS
    elif job.query is None:
        yield "sink.late_to", "is for [query], and this job has [as_of]: leave it out"
    elif job.query.output == "complete" or job.query.control is not None:
        yield "sink.late_to", "needs fixed windows, and output = 'append' or 'update'"
    elif sink.format in ("kafka", "memory", "iceberg") or (
        sink.format == "delta" and not sink.upserts
    ):
        problem = f"cannot go with {kind}: use postgres, delta with mode = 'upsert', or parquet"
        yield "sink.late_to", problem
    elif sink.format != "postgres" and sink.path is not None:
        to, results = (_real(job, path) for path in (late_to, sink.path))
        if to == results or results in to.parents or to in results.parents:
            yield "sink.late_to", "meets the folder of the results: give another folder"
    elif sink.format == "postgres" and late_to == sink.table:
        yield "sink.late_to", "is the table of the results: name another one"


def _upserted(job: Job, kind: str) -> Iterator[Problem]:
    """What sinks that replace rows by key need, and what only they have."""
    sink = job.sink
    if sink.mode == "upsert" and sink.format != "delta":
        yield "sink.mode", f"is 'upsert', which {kind} does not take: leave it out"
    for key, owners in OF_A_DATABASE.items():
        if sink.format in owners and getattr(sink, key) is None:
            yield f"sink.{key}", f"is missing: {kind} needs it"
        if sink.format not in owners and getattr(sink, key) is not None:
            yield f"sink.{key}", f"is given, but {kind} has none: leave it out"
    if sink.format == "postgres" and sink.mode != "error":
        yield "sink.mode", f"is given, but {kind} always replaces rows by key: leave it out"
    if sink.upserts and (sink.partition_by or sink.options):
        key = "partition_by" if sink.partition_by else "options"
        yield f"sink.{key}", "is given, but rows are replaced by key: leave it out"
    if sink.key and not sink.upserts:
        yield "sink.key", f"is given, but {kind} replaces no rows by key: leave it out"


def _overwritten(job: Job) -> Iterator[Problem]:
    """A folder that is overwritten loses all that is in it: it must hold results and no more."""
    sink = job.sink
    if sink.format != "parquet" or sink.mode != "overwrite" or sink.path is None:
        return
    folder = _real(job, sink.path)
    kept = [job.trigger.checkpoint, job.asked.control]
    for place in (job.file.resolve(), *(_real(job, path) for path in kept if path)):
        if folder == place or folder in place.parents:
            yield "sink.path", "holds the job itself, which would be overwritten: give another"
    for file in folder.rglob("*"):
        inner = file.relative_to(folder)
        if not file.is_dir() and not _OF_A_WRITER.search(f"/{inner.as_posix()}"):
            yield (
                "sink.path",
                f"holds {str(inner)!r}, which no job wrote and sink.mode = 'overwrite' would "
                "remove: give another path, or empty the folder yourself",
            )


_OF_A_WRITER = re.compile(
    r"/[.]?part-\d+-[^/]*$|/[.]?_SUCCESS([.]crc)?$|/_(temporary|spark_metadata|delta_log)/"
)
"""Files that Spark writes into the folder of a table."""


def _real(job: Job, path: str) -> Path:
    """Where a path leads on this machine, without links and detours; nowhere if it cannot."""
    try:
        found = Path(job.place(path).removeprefix("file://")).resolve()
        found.exists()
    except (OSError, RuntimeError):  # a name too long, a loop of links
        return job.file.parent / "nowhere" / "at" / "all"
    return found


def _trigger(job: Job) -> Iterator[Problem]:
    trigger, source = job.trigger, job.source
    if trigger.available_now and trigger.interval is not None:
        yield "trigger.interval", "and trigger.available_now are both given: keep one"
    if trigger.interval is not None:
        yield from _duration("trigger.interval", trigger.interval)
    for key in ("interval", "checkpoint", "available_now"):
        if getattr(trigger, key) and not source.streaming:
            yield f"trigger.{key}", FOR_STREAMS
    if trigger.available_now and source.format in ENDLESS and source.format != "kafka":
        problem = f"never ends with source.format = {source.format!r}: give an interval"
        yield "trigger.available_now", problem
    kept = job.sink.format in ("parquet", "delta", "iceberg", "kafka", "postgres")
    if source.streaming and trigger.checkpoint is None and kept:
        problem = (
            f"is missing: a stream into {job.sink.format} keeps its place in a folder, so that a "
            "restart loses nothing and writes nothing twice"
        )
        yield "trigger.checkpoint", problem


def _history(job: Job) -> Iterator[Problem]:
    """What a stream that starts from earlier rows must have, and what it cannot."""
    past = job.history
    if not past.given:
        return
    if not job.source.streaming:
        yield "history.path" if past.path else "history.until", FOR_STREAMS
    found = next(f.name for f in fields(past) if getattr(past, f.name) != f.default)
    if past.path is None:
        problem = f"is missing: with history.{found}, give the file or folder of the earlier rows"
        yield "history.path", problem
    if past.until is None:
        problem = f"is missing: with history.{found}, give the instant at which the stream begins"
        yield "history.until", problem
        return
    try:
        parse_instant(past.until)
    except MuntinError:
        yield "history.until", "must be an instant with its zone, such as '2026-11-01T00:00:00Z'"
    if job.query is None:
        return
    if job.query.output == "complete":
        yield "query.output", "is 'complete', which cannot start from history: use 'append'"
    elif job.query.operator == "native":
        yield "query.operator", "is 'native', which cannot start from history: use 'bucketed'"


def _duration(key: str, text: str, zero: bool = False) -> Iterator[Problem]:
    said = key.partition(".")[0] in SAID and len(text) <= LONGEST_DURATION
    try:
        length = microseconds(text, key)
    except (WindowError, ArithmeticError) as error:
        yield key, f"is {text!r}: {error}" if said else "is no duration such as '10 seconds'"
        return
    if length > LONGEST or length < 0 or (length == 0 and not zero):
        yield key, f"must be more than zero, and at most {duration_text(LONGEST)}"

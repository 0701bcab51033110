"""Run a job: open its session, read its source, apply its plan, hand the results to its sink.

Messages of kafka and socket are JSON: the columns of their schema stand beside the source's own
(such as kafka's timestamp), and win where names meet. Results are written at once, or by a
streaming query that is started here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import StructType

from muntin.engines.spark.faults import first_line, of_spark, silence_log
from muntin.engines.spark.late_rows import split_late
from muntin.engines.spark.names import column
from muntin.engines.spark.session import session
from muntin.engines.spark.session_facts import is_connect
from muntin.engines.spark.sinks import Sink, delta_sink, postgres_sink
from muntin.errors import QueryError, did_you_mean
from muntin.jobs import Job
from muntin.jobs.job import FILES, Input, reader_options, writer_options
from muntin.model.durations import duration_text, microseconds
from muntin.model.history import HistoryTable
from muntin.state.control import Control

CONNECTORS = {
    "kafka": "Spark's connector for Kafka (spark-sql-kafka-0-10)",
    "delta": "Delta Lake (delta-spark)",
    "iceberg": "Iceberg (iceberg-spark-runtime)",
}
"""Formats that Spark does not bring along."""

_OF_A_SCHEMA = ("PARSE_", "UNSUPPORTED_DATATYPE", "INVALID_SCHEMA")
"""Conditions of an error in the text of a schema."""

Printer = Callable[[DataFrame, str], None]
"""Prints some rows under a title: what the format console does in this process."""


@contextmanager
def _translate(job: Job, reason: Callable[[Exception], str]) -> Iterator[None]:
    """What Spark raises in the block becomes a sentence that begins with the job's file."""
    try:
        with silence_log():
            yield
    except Exception as error:
        if not of_spark(error):
            raise
        raise QueryError(f"{job.file}: {reason(error)}") from None


@contextmanager
def translate_failures(job: Job, what: str) -> Iterator[None]:
    """What Spark raises in the block is told in a line, with the file and what was to be done."""
    with _translate(job, lambda error: f"{what}: {first_line(error)}"):
        yield


def open_session(job: Job, master: str | None = None, remote: str | None = None) -> SparkSession:
    """The job's session; what the command line says wins over the file."""
    if master is None and remote is None:
        master, remote = job.spark.master, job.spark.remote
    return session(f"muntin {job.file.name}", master, remote, job.spark.conf)


def read_rows(spark: SparkSession, job: Job, name: str = "source") -> DataFrame:
    """The rows of [source] or [events], with the further columns that the job asks for."""
    source = job.input(name)
    with _translate(job, lambda error: _source_fault(error, source, name)):
        rows = _decode(_read(spark, source, reader_options(job, name)), source)
        rows.schema  # noqa: B018  (Connect analyses only now)
    for each, text in source.columns.items():
        with translate_failures(job, f"{name}.columns.{each} cannot be computed"):
            rows = rows.withColumn(each, F.expr(text))
            rows.schema  # noqa: B018  (Connect analyses only now)
    return rows


def compute_results(apply: Callable[..., DataFrame], rows: DataFrame, job: Job) -> DataFrame:
    """The results of a plan's `apply` over the job's rows, batch or streaming."""
    asked = job.query
    assert asked is not None, "features have no plan of windows"
    if not job.source.streaming:
        return apply(rows, layout=asked.layout, empty=asked.empty)
    control = Control(job.place(asked.control), grain=asked.grain) if asked.control else None
    return apply(
        rows,
        watermark=asked.watermark,
        future=asked.future,
        allowed_lateness=asked.allowed_lateness,
        empty=asked.empty,
        fill_for=asked.fill_for,
        late_rows=_late_rows(job),
        output=asked.output,
        operator=asked.operator,
        control=control,
        history=read_history(rows, job),
    )


def _late_rows(job: Job) -> str:
    """What becomes of rows that are too late."""
    if job.sink.late_to is None:
        return "drop"
    return "records" if job.sink.late_records else "keep"


def read_history(counted: DataFrame, job: Job) -> HistoryTable | None:
    """What the stream starts from; once it has started, without a table that is gone.

    Files that do not know their columns are read as those of the stream whose rows count, and
    whose further columns the history has too.
    """
    past = job.history
    if not past.given or past.path is None or past.until is None:
        return None
    place = job.place(past.path)
    if "://" not in place and not Path(place).exists():
        if not _has_started(job):
            raise QueryError(
                f"{job.file}: history.path leads to no file or folder, and the stream has not "
                "started yet: give another path"
            )
        return HistoryTable(None, past.until)
    known = {"path": place} | ({"header": "true"} if past.format == "csv" else {})
    reader = counted.sparkSession.read.format(past.format).options(**known | dict(past.options))
    if past.format in ("csv", "json"):
        own = [field for field in counted.schema if field.name not in job.counted.columns]
        reader = reader.schema(StructType(own))
    with translate_failures(job, "[history] cannot be read"):
        table = reader.load()
        for name, text in job.counted.columns.items():
            table = table.withColumn(name, F.expr(text))
        table.schema  # noqa: B018  (Connect analyses only now)
    return HistoryTable(table, past.until)


def _has_started(job: Job) -> bool:
    """Whether the stream has done a micro-batch, as far as can be seen from here."""
    checkpoint = job.trigger.checkpoint
    if checkpoint is None:
        return False
    place = job.place(checkpoint)
    return "://" in place or any(Path(place, "commits").glob("[0-9]*"))


def write(results: DataFrame, job: Job, show: Printer) -> None:
    """Write the results of a batch."""
    sink = job.sink
    _check_folders(results, job)
    if sink.format == "console":
        show(results, "results")
        return
    if sink.format == "memory":
        results.cache().count()
        results.createOrReplaceTempView(str(sink.name))
        return
    if sink.upserts:
        make_sink(job)(results)
        return
    writer = _messages(results, job).write.format(sink.format).options(**writer_options(job))
    if sink.format != "kafka":
        writer = writer.mode(sink.mode)
    if sink.partition_by:
        writer = writer.partitionBy(*sink.partition_by)
    with _translate(job, lambda error: _sink_fault(error, job)):
        if sink.format == "iceberg":
            writer.saveAsTable(str(sink.table))
        else:
            writer.save()


def start(results: DataFrame, job: Job, show: Printer) -> StreamingQuery:
    """Start the stream; the caller waits for it."""
    sink, trigger = job.sink, job.trigger
    _check_folders(results, job)
    writer = _messages(results, job).writeStream.outputMode(job.mode)
    by_batch = sink.upserts or sink.late_to is not None
    place = {} if by_batch else writer_options(job)
    if by_batch and trigger.checkpoint is not None:
        place = {"checkpointLocation": job.place(trigger.checkpoint)}
    writer = writer.options(**place).queryName(sink.name or job.file.stem)
    if trigger.available_now:
        writer = writer.trigger(availableNow=True)
    elif trigger.interval is not None:
        interval = microseconds(trigger.interval, "trigger.interval")
        writer = writer.trigger(processingTime=duration_text(interval))  # in Spark's own words
    if sink.partition_by and sink.late_to is None:
        writer = writer.partitionBy(*sink.partition_by)
    if sink.upserts:
        writer = writer.foreachBatch(make_sink(job))
    elif sink.late_to is not None:
        writer = writer.foreachBatch(write_aside(job, show))
    elif sink.format == "console" and not is_connect(results):  # whose server would print them
        writer = writer.foreachBatch(lambda rows, batch: show(rows, f"batch {batch}"))
    else:
        writer = writer.format(sink.format)
    with _translate(job, lambda error: _sink_fault(error, job)):
        return writer.toTable(str(sink.table)) if sink.format == "iceberg" else writer.start()


def make_sink(job: Job) -> Sink:
    """The sink that replaces rows by key; bound to the checkpoint, so that Connect knows it too."""
    sink, checkpoint = job.sink, job.trigger.checkpoint
    if sink.format == "postgres":
        made: Sink = postgres_sink(str(sink.dsn), str(sink.table), sink.key or None, sink.late_to)
    else:
        late_to = None if sink.late_to is None else job.place(sink.late_to)
        made = delta_sink(job.place(str(sink.path)), sink.key or None, late_to)
    return made if checkpoint is None else made.for_checkpoint(job.place(checkpoint))


def write_aside(job: Job, show: Printer) -> Callable[[DataFrame, int], None]:
    """What writes results and late rows of a micro-batch to two places.

    Each micro-batch has a folder of its own, which a repeated one writes anew: every row once.
    """
    sink, late_to = job.sink, job.place(str(job.sink.late_to))

    def write_batch(rows: DataFrame, batch: int) -> None:
        with split_late(rows) as (results, late):
            if sink.format == "console":
                show(results, f"batch {batch}")
            else:
                folder = f"{job.place(str(sink.path))}/batch_id={batch}"
                writer = results.write.options(**sink.options).partitionBy(*sink.partition_by)
                writer.mode("overwrite").parquet(folder)
            if not late.isEmpty():
                late.write.mode("overwrite").parquet(f"{late_to}/batch_id={batch}")

    return write_batch


def _read(spark: SparkSession, source: Input, options: dict[str, str]) -> DataFrame:
    of_files = source.format in FILES
    reader = spark.read.format(source.format).options(**options)
    if of_files and source.schema is not None:
        reader = reader.schema(source.schema)
    elif source.format == "csv":
        reader = reader.option("inferSchema", "true")
    if not source.streaming:
        return reader.load()
    stream = spark.readStream.format(source.format).options(**options)
    if of_files and source.format != "delta":
        stream = stream.schema(source.schema or reader.load().schema)
    return stream.load()


def _decode(rows: DataFrame, source: Input) -> DataFrame:
    if source.format not in ("kafka", "socket") or source.schema is None:
        return rows
    message = F.from_json(F.col("value").cast("string"), source.schema)
    read = rows.withColumn("message", message)
    inner = read.select("message.*").columns
    outer = [c for c in rows.columns if c not in inner and c != "value"]
    return read.select("message.*", *outer)


def _check_folders(results: DataFrame, job: Job) -> None:
    for place, name in enumerate(job.sink.partition_by, start=1):
        if name not in results.columns:
            raise QueryError(
                f"{job.file}: sink.partition_by has, as entry {place}, no column of the results: "
                f"{did_you_mean(name, results.columns)}"
            )


def _messages(results: DataFrame, job: Job) -> DataFrame:
    """Rows as they are; for kafka as JSON, keyed by the query's keys."""
    if job.sink.format != "kafka":
        return results
    value = F.to_json(F.struct("*")).alias("value")
    if not job.asked.keys:
        return results.select(value)
    keys = F.to_json(F.struct(*(column(key) for key in job.asked.keys)))
    return results.select(keys.alias("key"), value)


def _source_fault(error: Exception, source: Input, name: str) -> str:
    """What is wrong with the source, and which key to change."""
    said = str(error)
    if "UNABLE_TO_INFER_SCHEMA" in said:
        return (
            f"{name}.path holds no {source.format} files from which to tell the "
            f"columns: give another path, or {name}.schema"
        )
    if "FAILED_READ_FILE" in said or "CANNOT_READ_FILE_FOOTER" in said:
        return (
            f"{name}.path cannot be read as {source.format}: give "
            f"{name}.format as the files are ({', '.join(FILES)}), or another path"
        )
    if source.schema is not None and any(word in said for word in _OF_A_SCHEMA):
        return (
            f"{name}.schema cannot be read: {first_line(error)} "
            "Write names and types of Spark's, such as 'ts TIMESTAMP, t DOUBLE'"
        )
    return f"[{name}] {_format_fault(error, source.format)}"


def _sink_fault(error: Exception, job: Job) -> str:
    if "PATH_ALREADY_EXISTS" in str(error):
        return (
            "sink.path is there already: set sink.mode to 'overwrite' or 'append', or give "
            "another path"
        )
    if job.trigger.checkpoint is not None and "mkdir" in str(error):
        return "trigger.checkpoint cannot be made: give a folder to write into"
    return f"[sink] {_format_fault(error, job.sink.format)}"


def _format_fault(error: Exception, kind: str) -> str:
    """What went wrong with a format, and what it needs if Spark does not know it."""
    if "DATA_SOURCE_NOT_FOUND" in str(error) or "Failed to find data source" in str(error):
        needed = CONNECTORS.get(kind, kind)
        return (
            f"format {kind!r} is not known to this Spark: put {needed} of Spark's release on its "
            "class path, with spark.jars = '/path/to.jar' in [spark.conf]"
        )
    return f"format {kind!r} cannot be used so: {first_line(error)}"

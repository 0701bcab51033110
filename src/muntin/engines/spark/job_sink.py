"""Where a job's results go: written at once, or by a streaming query that is started here."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from muntin.engines.spark.faults import of_spark, unlogged
from muntin.engines.spark.job_source import without_connector
from muntin.errors import QueryError, did_you_mean
from muntin.jobs import Job
from muntin.jobs.job import writer_options
from muntin.model.durations import duration_text, microseconds

Printer = Callable[[DataFrame, str], None]
"""Prints some rows under a title: what the format console does in this process."""


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
    writer = _messages(results, job).write.format(sink.format).options(**writer_options(job))
    if sink.format != "kafka":
        writer = writer.mode(sink.mode)
    if sink.partition_by:
        writer = writer.partitionBy(*sink.partition_by)
    try:
        with unlogged():
            writer.save()
    except Exception as error:
        if not of_spark(error):
            raise
        raise QueryError(f"{job.file}: {_why_not(error, job)}") from None


def start(results: DataFrame, job: Job, show: Printer) -> StreamingQuery:
    """Start the stream; the caller waits for it."""
    sink, trigger = job.sink, job.trigger
    _check_folders(results, job)
    writer = _messages(results, job).writeStream.outputMode(job.query.output)
    writer = writer.options(**writer_options(job)).queryName(sink.name or job.file.stem)
    if trigger.available_now:
        writer = writer.trigger(availableNow=True)
    elif trigger.interval is not None:
        interval = microseconds(trigger.interval, "trigger.interval")
        writer = writer.trigger(processingTime=duration_text(interval))  # in Spark's own words
    if sink.partition_by:
        writer = writer.partitionBy(*sink.partition_by)
    if sink.format == "console" and _in_process(results):
        writer = writer.foreachBatch(lambda rows, batch: show(rows, f"batch {batch}"))
    else:
        writer = writer.format(sink.format)
    try:
        with unlogged():
            return writer.start()
    except Exception as error:
        if not of_spark(error):
            raise
        raise QueryError(f"{job.file}: {_why_not(error, job)}") from None


def _check_folders(results: DataFrame, job: Job) -> None:
    for place, name in enumerate(job.sink.partition_by, start=1):
        if name not in results.columns:
            raise QueryError(
                f"{job.file}: sink.partition_by has, as entry {place}, no column of the results: "
                f"{did_you_mean(name, results.columns)}"
            )


def _in_process(results: DataFrame) -> bool:
    """Whether Python functions on batches run here, and not on a server."""
    return not type(results).__module__.startswith("pyspark.sql.connect")


def _messages(results: DataFrame, job: Job) -> DataFrame:
    """Rows as they are; for kafka as JSON, keyed by the query's keys."""
    if job.sink.format != "kafka":
        return results
    value = F.to_json(F.struct("*")).alias("value")
    if not job.query.keys:
        return results.select(value)
    keys = F.to_json(F.struct(*(F.col(f"`{k.replace('`', '``')}`") for k in job.query.keys)))
    return results.select(keys.alias("key"), value)


def _why_not(error: Exception, job: Job) -> str:
    if "PATH_ALREADY_EXISTS" in str(error):
        return (
            "sink.path is there already: set sink.mode to 'overwrite' or 'append', or give "
            "another path"
        )
    if job.trigger.checkpoint is not None and "mkdir" in str(error):
        return "trigger.checkpoint cannot be made: give a folder to write into"
    return f"[sink] {without_connector(error, job.sink.format)}"

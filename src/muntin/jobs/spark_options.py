"""What a job hands to Spark's readers and writers: formats and options, before Spark is there."""

from __future__ import annotations

from muntin.jobs.job import FILES, Job


def reader_options(job: Job) -> dict[str, str]:
    """Options of the reader; those given in [source.options] win.

    Kafka is read from the beginning of a topic, since a job's results should not depend on when
    it was first started.
    """
    source = job.source
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

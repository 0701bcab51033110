"""The source of a job as a DataFrame, batch or streaming.

Messages of kafka and socket are JSON: the columns of their schema stand beside the source's own
(such as kafka's timestamp), and win where names meet.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from muntin.engines.spark.faults import first_line, of_spark, unlogged
from muntin.errors import QueryError
from muntin.jobs import Job
from muntin.jobs.job import FILES, reader_options

CONNECTORS = {
    "kafka": "Spark's connector for Kafka (spark-sql-kafka-0-10)",
    "delta": "Delta Lake (delta-spark)",
}
"""Formats that Spark does not bring along."""


def rows_of(spark: SparkSession, job: Job) -> DataFrame:
    """The job's rows, with the further columns that it asks for."""
    try:
        with unlogged():
            rows = _decoded(_read(spark, job), job)
            rows.schema  # noqa: B018  (Connect analyses only now)
    except Exception as error:
        if not of_spark(error):
            raise
        raise QueryError(f"{job.file}: {_why_not(error, job)}") from None
    for name, text in job.source.columns.items():
        try:
            with unlogged():
                rows = rows.withColumn(name, F.expr(text))
                rows.schema  # noqa: B018  (Connect analyses only now)
        except Exception as error:
            if not of_spark(error):
                raise
            raise QueryError(
                f"{job.file}: source.columns.{name} cannot be computed: {first_line(error)}"
            ) from None
    return rows


def _why_not(error: Exception, job: Job) -> str:
    """What is wrong with the source, and which key to change."""
    source, said = job.source, str(error)
    if "UNABLE_TO_INFER_SCHEMA" in said:
        return (
            f"source.path holds no {source.format} files from which to tell the "
            "columns: give another path, or source.schema"
        )
    if "FAILED_READ_FILE" in said or "CANNOT_READ_FILE_FOOTER" in said:
        return (
            f"source.path cannot be read as {source.format}: give "
            f"source.format as the files are ({', '.join(FILES)}), or another path"
        )
    if source.schema is not None and any(word in said for word in _OF_A_SCHEMA):
        return (
            f"source.schema cannot be read: {first_line(error)} "
            "Write names and types of Spark's, such as 'ts TIMESTAMP, t DOUBLE'"
        )
    return f"[source] {without_connector(error, source.format)}"


_OF_A_SCHEMA = ("PARSE_", "UNSUPPORTED_DATATYPE", "INVALID_SCHEMA")
"""Conditions of an error in the text of a schema."""


def without_connector(error: Exception, kind: str) -> str:
    """What went wrong with a format, and what it needs if Spark does not know it."""
    if "DATA_SOURCE_NOT_FOUND" in str(error) or "Failed to find data source" in str(error):
        needed = CONNECTORS.get(kind, kind)
        return (
            f"format {kind!r} is not known to this Spark: put {needed} on its class path, "
            "with spark.jars = '/path/to.jar' in [spark.conf]"
        )
    return f"format {kind!r} cannot be used so: {first_line(error)}"


def _read(spark: SparkSession, job: Job) -> DataFrame:
    source, options = job.source, reader_options(job)
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


def _decoded(rows: DataFrame, job: Job) -> DataFrame:
    source = job.source
    if source.format not in ("kafka", "socket") or source.schema is None:
        return rows
    message = F.from_json(F.col("value").cast("string"), source.schema)
    read = rows.withColumn("message", message)
    inner = read.select("message.*").columns
    outer = [c for c in rows.columns if c not in inner and c != "value"]
    return read.select("message.*", *outer)

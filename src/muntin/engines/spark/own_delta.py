"""Spark's own Delta: one MERGE by the session, committed with the number of the micro-batch.

It runs where the session has Delta's extension and catalog, and leaves the same table as the
library deltalake: rows by key, and in the log the query's id with the batch's number. The rows
stay on the executors.

They are kept and read once before anything else. MERGE reads its source more than once, and a
stateful micro-batch must run once; and Delta skips the MERGE of a micro-batch that it has, which
must be read all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os.path import abspath
from uuid import uuid4

from pyspark.errors import AnalysisException
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from muntin.engines.spark.faults import first_line, of_spark, silence_log
from muntin.engines.spark.names import column, quoted
from muntin.engines.spark.session_facts import is_connect
from muntin.errors import SinkError, shortened
from muntin.upserts.batch import Batch
from muntin.upserts.columns import Column
from muntin.upserts.delta_rules import ATTEMPTS, check_shape, refuse_twins

EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
CATALOG = "spark.sql.catalog.spark_catalog"
APP, VERSION = "spark.databricks.delta.write.txnAppId", "spark.databricks.delta.write.txnVersion"
"""Settings under which Delta commits a statement with an application transaction, once."""


def has_delta(spark: SparkSession) -> bool:
    """Whether Spark's own Delta can write here.

    Not on Spark Connect: all queries of a client share the settings that tell Delta the batch.
    """
    if is_connect(spark):
        return False
    extensions = str(spark.conf.get("spark.sql.extensions", ""))
    return EXTENSION in extensions and "delta" in str(spark.conf.get(CATALOG, "")).lower()


@dataclass(frozen=True, slots=True)
class OwnDelta:
    """A table to write, and the columns that tell its rows apart."""

    path: str
    key: tuple[str, ...]

    def write(self, rows: DataFrame, columns: tuple[Column, ...], batch: Batch | None) -> None:
        """Replace and insert rows, unless the micro-batch is there already."""
        settings = {} if batch is None else {APP: batch.app, VERSION: str(batch.number)}
        flat = rows.select(*map(_flat, columns)).persist()
        try:
            count = flat.count()
            with self._translate():
                self._make(flat)
                check_shape(_kinds(self._read(flat.sparkSession)), _kinds(flat))
                refuse_twins(
                    count, flat.select(*map(column, self.key)).distinct().count(), self.key
                )
                if count:
                    self._merge(flat, settings)
        finally:
            flat.unpersist()

    def _make(self, flat: DataFrame) -> None:
        """The table, empty, if it is missing; of two who make it the second finds it there."""
        if not self._exists(flat.sparkSession):
            flat.limit(0).write.format("delta").mode("ignore").save(self._place)

    def _exists(self, spark: SparkSession) -> bool:
        try:
            return bool(self._read(spark).columns)
        except AnalysisException:
            return False

    def _read(self, spark: SparkSession) -> DataFrame:
        return spark.read.format("delta").load(self._place)

    def _merge(self, flat: DataFrame, settings: Mapping[str, str]) -> None:
        spark, source = flat.sparkSession, f"muntin_{uuid4().hex}"
        same = " AND ".join(f"t.{quoted(name)} <=> s.{quoted(name)}" for name in self.key)
        statement = (
            f"MERGE INTO delta.{quoted(self._place)} AS t USING {source} AS s ON {same} "
            "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
        )
        flat.createOrReplaceTempView(source)
        try:
            for attempt in range(1, ATTEMPTS + 1):
                try:
                    with _settings(spark, settings):
                        spark.sql(statement).collect()
                    return
                except Exception as error:
                    if attempt == ATTEMPTS or "DELTA_CONCURRENT" not in str(error):
                        raise
        finally:
            spark.catalog.dropTempView(source)

    @property
    def _place(self) -> str:
        """Delta's SQL takes whole paths only."""
        return self.path if "://" in self.path else abspath(self.path)

    @contextmanager
    def _translate(self) -> Iterator[None]:
        """What Spark refuses inside the block is told in a line."""
        try:
            with silence_log():
                yield
        except Exception as error:
            if not of_spark(error):
                raise
            said = first_line(error)[:300]
        else:
            return
        raise SinkError(f"the Delta table at {shortened(self.path)!r} cannot be written: {said}")


def _flat(each: Column) -> SparkColumn:
    """Without marks, which Delta would keep for good."""
    return F.col(".".join(map(quoted, each.path))).alias(each.name, metadata={})


def _kinds(rows: DataFrame) -> dict[str, str]:
    return {field.name: field.dataType.simpleString() for field in rows.schema}


@contextmanager
def _settings(spark: SparkSession, values: Mapping[str, str]) -> Iterator[None]:
    """The session with these settings, which a stream's micro-batches have for themselves."""
    for name, value in values.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name in values:
            spark.conf.unset(name)

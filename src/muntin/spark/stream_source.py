"""A stream prepared for its stateful operator: one read, rows lifted in the JVM, pre-aggregated.

    source ─ watermark ─ prepared (k…, t, v…) ─ lifted (k…, t, p…) ─ pre-aggregated ─ operator

`native` takes partials of window instances, `bucketed` partials of pieces:

    instances()          k…, node int, start bigint, p…      node: a window asked for, by its number
    pieces(buckets=B)    bucket int, k…, node int, start bigint, p…     node: a base, by its number
                         bucket = pmod(hash(k…), B); and for every bucket and partition one sentinel
                         with node -1 (SENTINEL), start = bucket, and null keys and partials

Times are microseconds (a plain bigint, so that Spark drops no row by its own late rule), nodes are
positions in `plan.nodes`. Float keys come with one zero and one NaN. The same piece may come in
several rows of a batch: from several partitions, or when a partition is large.

Rows that Python cannot group (`refusal` says why) are not pre-aggregated: `native` expands them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, LongType, StructField, StructType

from muntin.aggregates.columns import PartialColumn
from muntin.physical.bases import Base, bases
from muntin.plan import SharingPlan
from muntin.query import Query
from muntin.spark.preaggregate import SENTINEL, PreAggregation
from muntin.spark.row_partials import fields_of, lifted, not_in_arrow, partial_fields
from muntin.spark.table import Table, prepared

DELAY = "spark.watermarkDelayMs"
"""Where Spark notes in a column's metadata that it is the event time."""


@dataclass(frozen=True)
class StreamSource:
    """A plan and the prepared rows of a stream, whose watermark stands below them.

    Rows of equal time may be `compared` by some columns, besides their partials.
    """

    plan: SharingPlan
    query: Query
    table: Table
    wraps: bool
    watermarked: bool
    compared: tuple[str, ...] = ()

    @staticmethod
    def of(plan: SharingPlan, query: Query, df: DataFrame) -> StreamSource:
        """Prepare the rows of a stream, whose watermark is set."""
        wraps = str(df.sparkSession.conf.get("spark.sql.ansi.enabled")) != "true"
        watermarked = any(DELAY in (field.metadata or {}) for field in df.schema)
        return StreamSource(plan, query, prepared(df, query), wraps, watermarked)

    @cached_property
    def bases(self) -> tuple[Base, ...]:
        """The disjoint pieces that rows are grouped into."""
        return bases(self.plan)

    @cached_property
    def refusal(self) -> str | None:
        """Why rows cannot be pre-aggregated, or None."""
        return not_in_arrow(self.table, self.compared)

    def lifted(self) -> DataFrame:
        """The partial of every row: k…, t, p…; and what windows read or records are ordered by."""
        assert self.refusal is None, self.refusal
        return lifted(self.table)

    def instances(self) -> DataFrame:
        """Partials of every window instance that a partition of a batch has rows for."""
        return self._pre_aggregated(PreAggregation(*self._common, instances=True))

    def pieces(self, buckets: int) -> DataFrame:
        """Partials of every piece, with the bucket of its keys, and all sentinels."""
        rows = self._pre_aggregated(PreAggregation(*self._common, buckets=buckets))
        keys = ", ".join(self.table.keys) or "0"
        bucket = f"IF(node = {SENTINEL}, CAST(start AS INT), pmod(hash({keys}), {buckets}))"
        return rows.select(F.expr(bucket).alias("bucket"), "*")

    @cached_property
    def partial_fields(self) -> list[StructField]:
        """The partial columns with their types."""
        return partial_fields(self.table)

    @property
    def schema(self) -> StructType:
        """The columns of pre-aggregated rows, without the bucket."""
        own = [StructField("node", IntegerType()), StructField("start", LongType())]
        return StructType([*fields_of(self.table, self.table.keys), *own, *self.partial_fields])

    @property
    def _common(
        self,
    ) -> tuple[tuple[str, ...], tuple[PartialColumn, ...], tuple[Base, ...], bool]:
        return tuple(self.table.keys), self.table.columns.partials, self.bases, self.wraps

    def _pre_aggregated(self, body: PreAggregation) -> DataFrame:
        return self.lifted().mapInArrow(body, self.schema)

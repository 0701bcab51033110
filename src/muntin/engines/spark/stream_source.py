"""A stream prepared for its stateful operator: one read, rows lifted in the JVM, pre-aggregated.

    source ─ watermark ─ prepared (k…, t, v…) ─ lifted (k…, t, p…) ─ pre-aggregated ─ operator

`native` takes partials of window instances; `bucketed` packs what is lifted itself:

    send_rows()          k…, t bigint, p…                    each value once
    instances()          k…, node int, start bigint, p…      node: a window asked for, by its number

Times are microseconds (a plain bigint, so that Spark drops no row by its own late rule), nodes have
their numbers in the physical plan. Float keys come with one zero and one NaN. The same piece may
come in several rows of a batch: from several partitions, or when a partition is large.

Rows that Python cannot group (`refusal` says why) are not pre-aggregated: `native` expands them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import DataFrame
from pyspark.sql.types import IntegerType, LongType, StructField, StructType

from muntin.engines.spark.arrow_stage import map_in_arrow
from muntin.engines.spark.names import find_column, quoted
from muntin.engines.spark.preaggregate import PreAggregation
from muntin.engines.spark.row_partials import (
    SentRows,
    fields_of,
    not_in_arrow,
    send_rows,
)
from muntin.engines.spark.table import Table
from muntin.model.query import Query
from muntin.physical import PhysicalPlan
from muntin.physical.operators.kernel import Base, bases

DELAY = "spark.watermarkDelayMs"
"""Where Spark notes in a column's metadata that it is the event time."""

EVENT_TIME = {DELAY: 0}
"""Tells Spark that a column is the event time; the delay was taken off where rows came in."""


def time_field(df: DataFrame, query: Query) -> StructField | None:
    """The time column, if it is a column of its own and no field of a struct."""
    name = find_column(query.time, df.columns, "time")
    return next((field for field in df.schema if quoted(field.name) == name), None)


def delay_of(df: DataFrame, query: Query) -> int | None:
    """The milliseconds that the watermark of the time column lags behind, if it has one.

    That of another column does not count: it says nothing of how late these rows may be.
    """
    field = time_field(df, query)
    return None if field is None else (field.metadata or {}).get(DELAY)


@dataclass(frozen=True)
class StreamSource:
    """A plan and the prepared rows of a stream, whose watermark stands below them."""

    physical: PhysicalPlan
    query: Query
    table: Table
    wraps: bool
    watermarked: bool

    @cached_property
    def bases(self) -> tuple[Base, ...]:
        """The disjoint pieces that rows are grouped into."""
        return bases(self.physical)

    @cached_property
    def refusal(self) -> str | None:
        """Why rows cannot be pre-aggregated, or None."""
        return not_in_arrow(self.table)

    def send_rows(self) -> SentRows:
        """What partials are made of, of every row: k…, t, and each value once."""
        assert self.refusal is None, self.refusal
        return send_rows(self.table)

    def instances(self) -> DataFrame:
        """Partials of every window instance that a partition of a batch has rows for."""
        given = self.send_rows()
        body = PreAggregation(
            self.table.keys,
            self.table.columns.partials,
            self.bases,
            self.wraps,
            instances=True,
            sent=given.sent,
        )
        return map_in_arrow(given.rows, body, self.schema)

    @property
    def schema(self) -> StructType:
        """The columns of pre-aggregated rows, without the bucket."""
        own = [StructField("node", IntegerType()), StructField("start", LongType())]
        return StructType([*fields_of(self.table, self.table.keys), *own, *self.table.fields])

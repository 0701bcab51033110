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

Partials that cannot be merged in Arrow (sets, sketches) or keys that it cannot group (structs,
arrays) have no pre-aggregated form: `lifted` then says why, and `native` expands plain rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, LongType, StructField, StructType

from muntin.aggregates.columns import PartialColumn
from muntin.kernels.mergers import not_merged
from muntin.physical.bases import Base, bases
from muntin.plan import SharingPlan
from muntin.query import Query
from muntin.spark.preaggregate import SENTINEL, PreAggregation
from muntin.spark.table import Table, prepared
from muntin.sql.row_lifts import row_lift

DELAY = "spark.watermarkDelayMs"
"""Where Spark notes in a column's metadata that it is the event time."""

_NUMBERS = {"tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "boolean"}
_TIMES = {"date", "timestamp", "timestamp_ntz"}
_PLAIN = _NUMBERS | _TIMES | {"string", "binary", "char", "varchar"}
"""Types that Arrow groups and compares as Spark does; a string with a collation is not one."""

_OF_STRUCTS = ("moments", "four_moments", "comoments")


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
        partials = self.table.columns.partials
        stranger = not_merged(p.merger for p in partials)
        if stranger:
            return f"{stranger} is merged only by Spark itself"
        if any(row_lift(p.lift) is None for p in partials):
            return "a partial of one row has no plain expression"
        compared = self._fields([*self.table.keys, *self.compared])
        compared += [
            f
            for f, p in zip(self.partial_fields, partials, strict=True)
            if p.merger not in _OF_STRUCTS and not p.beside
        ]
        kinds = [f.dataType.simpleString() for f in compared]
        strange = next((kind for kind in kinds if kind.partition("(")[0] not in _PLAIN), None)
        return f"{strange} is grouped and compared only by Spark itself" if strange else None

    def lifted(self) -> DataFrame:
        """The partial of every row: k…, t, p…; and what windows read or records are ordered by."""
        assert self.refusal is None, self.refusal
        keys = [F.expr(_one_zero(f)).alias(f.name) for f in self._fields(self.table.keys)]
        partials = [
            F.expr(f"CAST({row_lift(p.lift)} AS {self._partial_type(p)})").alias(p.name)
            for p in self.table.columns.partials
        ]
        read = [name for name in self.table.rows.columns if name[0] in "uo"]
        return self.table.rows.select(*keys, "t", *read, *partials)

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
        lifts = [F.expr(p.lift).alias(p.name) for p in self.table.columns.partials]
        return [StructField(f.name, f.dataType) for f in self.table.rows.agg(*lifts).schema]

    @property
    def schema(self) -> StructType:
        """The columns of pre-aggregated rows, without the bucket."""
        own = [StructField("node", IntegerType()), StructField("start", LongType())]
        return StructType([*self._fields(self.table.keys), *own, *self.partial_fields])

    @property
    def _common(
        self,
    ) -> tuple[tuple[str, ...], tuple[PartialColumn, ...], tuple[Base, ...], bool]:
        return tuple(self.table.keys), self.table.columns.partials, self.bases, self.wraps

    def _pre_aggregated(self, body: PreAggregation) -> DataFrame:
        return self.lifted().mapInArrow(body, self.schema)

    def _fields(self, names: list[str]) -> list[StructField]:
        schema = self.table.rows.schema
        return [StructField(name, schema[name].dataType) for name in names]

    def _partial_type(self, partial: PartialColumn) -> str:
        return next(
            f.dataType.simpleString() for f in self.partial_fields if f.name == partial.name
        )


def _one_zero(field: StructField) -> str:
    """A key as Spark groups it: 0.0 and -0.0 are one."""
    kind = field.dataType.simpleString()
    return f"{field.name} + CAST(0 AS {kind})" if kind in ("float", "double") else field.name

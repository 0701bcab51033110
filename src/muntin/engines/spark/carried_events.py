"""What a chunk of time is given of all that came before it, so that a key need not stay whole.

    summaries of (key, chunk) ─ in the order of time ─ all before a chunk ─ records of that chunk

    rows=n        the last n events before the halo of a chunk, as events of that chunk
    lifetime()    one record at the instant CARRIED: the merged partial of all events before that

The events of a chunk are summarised in the JVM, by a hash aggregation or by a limit of n rows for
each group, so that little is shuffled. Summaries of a key then meet in one task. Places in time are
numbers there: 3c for the events of chunk c that its next chunk does not see, 3c + 2 for those in
the halo of the next, and 3c − 2, between the two of the chunk before, for what chunk c asks for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from muntin.aggregates.columns import PartialColumn
from muntin.engines.spark.own_events import floor_div
from muntin.kernels.frames import CARRIED

SEEN = "seen"
"""The column of events that the carried partial stands for, too."""


@dataclass(frozen=True)
class CarriedEvents:
    """Records before chunks: keys, t, e (whether an event) and what aggregates read.

    `inputs` are the same records with the inputs of the partials, where a window has no end;
    `kinds` the types of these partials. `last` events are carried one by one, `ties` order those of
    one instant, and `halo` microseconds before a chunk are its own records already.
    """

    records: DataFrame
    keys: tuple[str, ...]
    chunk: int
    halo: int
    last: int
    ties: tuple[str, ...]
    inputs: DataFrame | None
    partials: tuple[PartialColumn, ...]
    kinds: dict[str, str]

    def add_to(self, joined: DataFrame) -> DataFrame:
        """Records in their chunks, and beside them what these carry."""
        both = self.last > 0 and self.inputs is not None
        if self.last:
            last = self.last_events.withColumn("e", F.lit(True))
            joined = joined.unionByName(
                last.withColumn(SEEN, F.lit(True)) if both else last, allowMissingColumns=True
            )
        if self.inputs is not None:
            joined = joined.unionByName(self.merged_events, allowMissingColumns=True)
        return joined.withColumn(SEEN, F.coalesce(SEEN, F.lit(False))) if both else joined

    @cached_property
    def last_events(self) -> DataFrame:
        """For each chunk with records, the last events before its halo."""
        order = ["t", *self.ties]
        placed = self._placed(self.records)
        newest = Window.partitionBy(*self.keys, "chunk", "late", "e").orderBy(
            *(F.col(name).desc() for name in order)
        )
        few = placed.withColumn("rank", F.row_number().over(newest)).where(f"rank <= {self.last}")
        own = [name for name in self.records.columns if name not in (*self.keys, "e")]
        turns = self._turns(few, F.struct(*own), "rank = 1")
        by = Window.partitionBy(*self.keys)
        line = by.orderBy("place", *(f"own.{name}" for name in order))
        counted = turns.select(
            *self.keys,
            "place",
            "own",
            F.sum(F.col("own").isNotNull().cast("bigint")).over(_up_to_now(line)).alias("number"),
            F.row_number()
            .over(Window.partitionBy(*self.keys, "place").orderBy("place"))
            .alias("i"),
        )
        near = by.orderBy("number").rangeBetween(1 - self.last, 0)
        held = counted.withColumn("held", F.collect_list("own").over(near))
        asked = held.where("own IS NULL AND i = 1").select(
            *self.keys, _chunk_of_place(), F.explode("held").alias("own")
        )
        return asked.select(*self.keys, "chunk", "own.*")

    @cached_property
    def merged_events(self) -> DataFrame:
        """For each chunk with records, one that stands for all events before its halo."""
        assert self.inputs is not None, "asked for where a window has no end"
        groups = self._placed(self.inputs).groupBy(*self.keys, "chunk", "late", "e")
        lifts = [F.expr(p.lift).alias(p.name) for p in self.partials]
        names = [p.name for p in self.partials]
        turns = self._turns(groups.agg(*lifts), F.struct(*names), "TRUE")
        met = turns.groupBy(*self.keys, "place").agg(F.collect_list("own").alias("own"))
        line = _up_to_now(Window.partitionBy(*self.keys).orderBy("place"))
        before = met.withColumn("own", F.flatten(F.collect_list("own").over(line)))
        asked = before.where("pmod(place, 3L) = 1").select(
            *self.keys, _chunk_of_place(), F.explode("own").alias("own")
        )
        merged = asked.select(*self.keys, "chunk", "own.*").groupBy(*self.keys, "chunk")
        found = [F.expr(p.merge).cast(self.kinds[p.name]).alias(p.name) for p in self.partials]
        carried = F.lit(CARRIED).cast("bigint").alias("t"), F.lit(True).alias("e")
        return merged.agg(*found).select("*", *carried)

    def _placed(self, records: DataFrame) -> DataFrame:
        """Records that have a time, each with its chunk, and whether the next one sees it."""
        latest = floor_div(f"(t + {self.halo}L)", self.chunk)
        chunked = records.where("t IS NOT NULL").withColumn(
            "chunk", F.expr(floor_div("t", self.chunk))
        )
        return chunked.withColumn("late", F.expr(f"{latest} > chunk"))

    def _turns(self, summaries: DataFrame, own: Column, asks: str) -> DataFrame:
        """Summaries at their places, and, without any, the places of chunks that ask."""
        found = summaries.withColumn("own", own)
        both = F.expr(
            "array(if(e, named_struct('place', 3L * chunk + if(late, 2L, 0L), 'own', own), NULL), "
            f"if({asks}, named_struct('place', 3L * chunk - 2L, 'own', NULL), NULL))"
        )
        turns = found.select(*self.keys, F.explode(both).alias("turn")).where("turn IS NOT NULL")
        return turns.select(*self.keys, "turn.*")


def _up_to_now(line: WindowSpec) -> WindowSpec:
    return line.rowsBetween(Window.unboundedPreceding, Window.currentRow)


def _chunk_of_place() -> Column:
    return F.expr("(place + 2L) div 3L").alias("chunk")

"""The native operator: all windows of a stream in one stateful aggregation of Spark's own.

    pre-aggregated instances ─┬─ groupBy(end, row, guard, keys) ─ a row for each place ─ results
    or rows, copied          ─┘

Each partial carries the end of its instance, of which Spark is told that it is the event time: so
it judges lateness, evicts state and emits exactly as for its own window(), instance by instance, in
append, update and complete mode. Instances that end together share a row of state, each window in
a place of its own (muntin.physical.operators.native); in update mode each has its own row, since
Spark emits whole rows and only what a batch touched may come out.

The seats depend on the set of windows alone, never on their order. The guard (`spark.guard`)
makes Spark refuse a checkpoint of another query or of another set of windows, which else it would
silently mix. Where the windows that a checkpoint was started with are named, those that are kept go
on exactly, and results of those gone are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from muntin.dialects.spark_text import SparkWriter
from muntin.engines.spark.bind import Bound
from muntin.engines.spark.finishing import lookup, results
from muntin.engines.spark.guard import check_guarded, guard
from muntin.engines.spark.operators.expand import copy_rows
from muntin.engines.spark.stream_source import EVENT_TIME, StreamSource
from muntin.model.windows import Window
from muntin.physical import PhysicalPlan
from muntin.physical.operators.expand import levels
from muntin.physical.operators.native import Seat, places, pre_aggregated, seats


def run(physical: PhysicalPlan, bound: Bound) -> DataFrame:
    """The rows of all windows asked for."""
    assert bound.streaming is not None, "it runs on streams"
    check_guarded(bound.df.sparkSession)
    started_with = bound.started_with
    merged = pre_aggregated(bound.query, bound.stranger, started_with)
    source, output = bound.source(physical), bound.streaming.output
    return Native(source, started_with, output, merged).rows()


def refusal(bound: Bound) -> str | None:
    """Why Spark's own aggregation cannot keep what the stream asks for, or None."""
    if bound.until is not None:
        return "Spark's own aggregation cannot start from history: use operator 'bucketed'"
    needs = None if bound.streaming is None else bound.streaming.keeps_slices
    return f"Spark forgets windows that have fired, so {needs} needs 'bucketed'" if needs else None


@dataclass(frozen=True)
class Native:
    """One streaming query, whose state belongs to the windows that it was started with."""

    source: StreamSource
    started_with: tuple[Window, ...]
    output: str
    given_partials: bool

    def rows(self) -> DataFrame:
        """The results under the user's names."""
        source, kind = self.source, self.source.table.time_type
        end = F.expr(SparkWriter().instant(f"(start + {lookup(self._ranges)})", kind))
        keyed = self._instances.select(
            "*",  # by select: on Connect, withColumn would lose the metadata
            end.alias("end", metadata=self._metadata),
            F.expr(lookup({n: s.row for n, s in self._seated.items()})).alias("row"),
            F.expr(lookup({n: s.place for n, s in self._seated.items()})).alias("place"),
            F.expr(guard(source.query, self.started_with)).alias("guard"),
        )
        keys = ("end", "row", "guard", *source.table.keys)
        return self._finished(keyed.groupBy(*keys).agg(*self._merged()))

    @cached_property
    def _instances(self) -> DataFrame:
        """Partials of instances, or every row once for each instance that it belongs to."""
        if self.given_partials:
            return self.source.instances()
        return copy_rows(self.source.table.rows, levels(self.source.physical)[0])

    @cached_property
    def _windows(self) -> dict[int, Window]:
        """The windows asked for by their position in the plan."""
        asked = self.source.physical.outputs
        return {n.number: n.shape for n in asked if isinstance(n.shape, Window)}

    @property
    def _ranges(self) -> dict[int, int]:
        return {number: w.range for number, w in self._windows.items()}

    @cached_property
    def _seats(self) -> dict[Window, Seat]:
        """Where the state has the windows that it was started with."""
        partials = self.source.table.columns.partials
        apart = self.output == "update" or not self.given_partials
        alone = apart or not all(p.takes_filter for p in partials)
        return seats(self.started_with, 1 if alone else places(len(partials)))

    @property
    def _seated(self) -> dict[int, Seat]:
        return {number: self._seats[w] for number, w in self._windows.items()}

    @property
    def _places(self) -> int:
        return 1 + max(seat.place for seat in self._seats.values())

    @property
    def _metadata(self) -> dict[str, int]:
        return EVENT_TIME if self.source.watermarked else {}

    def _merged(self) -> list[Column]:
        """The partials of every place, and which places of a row are taken."""
        partials = self.source.table.columns.partials
        if self._places == 1:
            texts = [(p.name, p.merge if self.given_partials else p.lift) for p in partials]
            return [F.expr(text).alias(f"{name}_0") for name, text in texts]
        taken = F.expr("bit_or(shiftleft(1L, place))").alias("taken")
        return [taken] + [
            F.expr(f"{p.merge} FILTER (WHERE place = {place})").alias(f"{p.name}_{place}")
            for place in range(self._places)
            for p in partials
        ]

    def _finished(self, grouped: DataFrame) -> DataFrame:
        """A result for each place that is taken, without those of windows that are gone."""
        source = self.source
        asked = {seat.row * self._places + seat.place: n for n, seat in self._seated.items()}
        if self._places == 1 and len(self._seats) == len(self._windows):
            kept = self._unfold_one(grouped).selectExpr("*", f"{lookup(asked, of='row')} AS node")
        else:
            number = lookup(asked, of=f"CAST(row * {self._places} + place AS INT)")
            each = self._unfold(grouped).selectExpr("*", f"{number} AS node")
            # The place comes from the rows' own state: Spark cannot judge it before that is kept.
            kept = each.where("node IS NOT NULL")
        keys = zip(source.table.keys, source.query.keys, strict=True)
        ids = {number: w.id for number, w in self._windows.items()}
        return kept.select(
            F.expr(lookup(ids)).alias("window_id"),
            self._window().alias("window", metadata=self._metadata),
            *(F.col(k).alias(name) for k, name in keys),
            *results(source.table.columns),
        )

    def _unfold_one(self, grouped: DataFrame) -> DataFrame:
        """Rows with one place, and a window for each: nothing is exploded, nothing left out."""
        partials = [f"{p.name}_0 AS {p.name}" for p in self.source.table.columns.partials]
        return grouped.selectExpr("end", "row", *self.source.table.keys, *partials)

    def _unfold(self, grouped: DataFrame) -> DataFrame:
        """A row for each place that is taken."""
        literal = SparkWriter().literal
        names = [p.name for p in self.source.table.columns.partials]
        structs = [
            f"named_struct('place', {i}, {', '.join(f'{literal(n)}, {n}_{i}' for n in names)})"
            for i in range(self._places)
        ]
        held = f"array({', '.join(structs)})"
        if self._places > 1:
            held = f"filter({held}, each -> getbit(taken, each.place) = 1)"
        return grouped.selectExpr("end", "row", *self.source.table.keys, f"inline({held})")

    def _window(self) -> Column:
        writer, kind = SparkWriter(), self.source.table.time_type
        end = writer.microseconds("end", kind)
        start = writer.instant(f"({end} - {lookup(self._ranges)})", kind)
        return F.struct(F.expr(start).alias("start"), F.col("end").alias("end"))

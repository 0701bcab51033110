"""mt.as_of on Spark: which operator runs, what it runs beside itself, and how it is verified."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from pyspark.sql import DataFrame

from muntin.aggregates.columns import Input
from muntin.engines.spark.faults import translate_refusals
from muntin.engines.spark.frame_verify import compare_frames
from muntin.engines.spark.key_marks import forget_keys
from muntin.engines.spark.names import column
from muntin.engines.spark.operators.frames import Records, stranger
from muntin.engines.spark.own_frames import run_own_frames, split_own
from muntin.engines.spark.session_facts import check_table
from muntin.engines.spark.statistics import glance
from muntin.engines.spark.table import kinds_of, prepare
from muntin.engines.spark.verify import scales_of
from muntin.engines.verification import Verification
from muntin.errors import ColumnError, StrategyError
from muntin.model.as_of import AsOf
from muntin.model.durations import duration_text
from muntin.physical.operators.frames import (
    CHUNK_REACHES,
    FRAMES,
    Division,
    describe,
    divide,
    predict,
)
from muntin.planner.options import ASSUMED

RANGE = "range"
"""Spark's own RANGE frames and joins, as an operator."""


@dataclass(frozen=True)
class SparkAsOf:
    """A question bound to a table of rows, and perhaps to another of events."""

    rows: DataFrame
    asked: AsOf
    events: DataFrame | None
    forced: str

    @staticmethod
    def of(rows: DataFrame, asked: AsOf, events: DataFrame | None, operator: str) -> SparkAsOf:
        """The tables checked: names, types, and what would be two columns of one name."""
        check_table(rows)
        with translate_refusals("the rows themselves cannot be computed"):
            asked.check_columns(rows.columns)
        if len({name.lower() for name in rows.columns}) < len(rows.columns):
            raise ColumnError("two columns of the rows have one name: rename one of them")
        rows = forget_keys(rows)
        bound = SparkAsOf(rows, asked, events, operator)
        prepare(rows, asked.rows, lifted=False)
        prepare(bound.source, asked.events, lifted=False)
        if bound.division.merged:
            prepare(bound.source, asked.about(bound.division.merged).events)
        bound.operator  # noqa: B018  (refused here what cannot run)
        return bound

    @property
    def source(self) -> DataFrame:
        """Where the events are."""
        return self.rows if self.events is None else self.events

    @cached_property
    def kinds(self) -> dict[Input, str]:
        """The types of the inputs of all aggregates."""
        return kinds_of(self.source, replace(self.asked.events, keys=(), order_by=()))

    @cached_property
    def division(self) -> Division:
        """How each aggregate is computed."""
        return divide(self.asked.aggregates, self.kinds.__getitem__)

    @cached_property
    def refusal(self) -> str | None:
        """Why the kernel cannot run, or None."""
        if not self.division.own:
            return f"{self.division.left[0].name} is computed only by Spark itself"
        return stranger(self.records(self.rows))

    @cached_property
    def predicted(self) -> tuple[float, float]:
        """Seconds by the kernel, and by Spark's own frames, as far as can be known at once."""
        found = glance(self.source, self.asked.events, ASSUMED)
        return predict(self.asked, found)

    @cached_property
    def operator(self) -> str:
        """What runs: the one that was asked for, or the one that is predicted to be faster."""
        if self.forced == FRAMES.name and self.refusal:
            raise StrategyError(f"operator 'frames' cannot run this: {self.refusal}")
        if self.forced != "auto":
            return self.forced
        if self.refusal is not None:
            return RANGE
        in_python = any(a.function.in_python for a in self.asked.aggregates)
        framed, joined = ((), ()) if in_python else split_own(self.rows, self.asked, self.events)
        kernel, own = self.predicted
        return RANGE if framed and not joined and own < kernel else FRAMES.name

    def run(self) -> DataFrame:
        """The rows with their features, columns in the order asked for."""
        if self.operator == RANGE:
            return run_own_frames(self.rows, self.asked, self.events)
        rows = self.rows
        if self.division.left:
            rows = run_own_frames(rows, self.asked.about(self.division.left), self.events)
        found = self.records(rows).run()
        return found.select(*map(column, [*self.rows.columns, *self.asked.columns]))

    def records(self, rows: DataFrame) -> Records:
        """Rows and events for the kernel, under plain names."""
        asked = self.asked.about(self.division.own) if self.division.own else self.asked
        return Records(rows, self.events, asked, self.division, self.kinds)

    def explain(self) -> list[str]:
        """The operator, how rows and events meet, and how each aggregate is computed."""
        lines = [f"as of {self.asked.time}: {self.operator}, on Spark", ""]
        if self.operator == RANGE:
            return [*lines, *self._own(self.asked), *describe(self.asked, None)]
        by = ", ".join(self.asked.keys) or "no key"
        if self.asked.reach is None:
            lines.append(f"one shuffle by {by}, one sort by {self.asked.time}, NumPy on each key")
        else:
            chunk = duration_text(CHUNK_REACHES * self.asked.reach)
            lines.append(
                f"one shuffle by {by} and chunks of {chunk}, one sort by {self.asked.time}, "
                "NumPy on each"
            )
            lines.append(
                f"events of the last {duration_text(self.asked.reach)} of a chunk also go to the "
                "next"
            )
        lines += describe(self.asked, self.division)
        if self.division.left:
            lines += self._own(self.asked.about(self.division.left))
        return lines

    def _own(self, asked: AsOf) -> list[str]:
        framed, joined = split_own(self.rows, asked, self.events)
        ways = (("by Spark's own RANGE frames", framed), ("by a range join of Spark", joined))
        return [f"{words}: {', '.join(a.name for a in some)}" for words, some in ways if some]

    def compare(self) -> Verification:
        """Our features beside those of Spark's own RANGE frames and joins."""
        ours, asked = self.run(), self.asked
        first = {
            a.name: dict(ours.dtypes)[asked.column(a, asked.frames[0])] for a in asked.aggregates
        }
        sizes = scales_of(self.source, asked.events, first)
        judged = asked.about((*asked.aggregates, *sizes.values()))
        scales = {
            asked.column(a, frame): judged.column(sizes[a.name], frame)
            for a in asked.aggregates
            if a.name in sizes
            for frame in asked.frames
        }
        theirs = run_own_frames(self.rows, judged, self.events)
        return compare_frames(ours, theirs, self.rows.columns, asked, scales)

"""mt.as_of on Spark: which operator runs, what it runs beside itself, and how it is verified."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from pyspark.sql import DataFrame

from muntin.aggregates.columns import Input
from muntin.cost.statistics import Statistics
from muntin.cost.surrogates import HALO
from muntin.engines.spark.computed_columns import keeps_rows
from muntin.engines.spark.faults import translate_refusals
from muntin.engines.spark.frame_verify import compare_frames
from muntin.engines.spark.key_marks import forget_keys
from muntin.engines.spark.names import column
from muntin.engines.spark.operators.frames import Records, run, stranger
from muntin.engines.spark.own_frames import run_own_frames, split_own
from muntin.engines.spark.repeated import is_repeatable
from muntin.engines.spark.session_facts import (
    check_table,
    is_stream,
    shuffle_partitions,
    tasks_at_once,
)
from muntin.engines.spark.statistics import glance
from muntin.engines.spark.table import Table, kinds_of, prepare
from muntin.engines.spark.verify import scales_of
from muntin.engines.verification import Verification
from muntin.errors import ColumnError, StrategyError
from muntin.model.as_of import AsOf
from muntin.model.durations import duration_text
from muntin.physical.frame_chunks import (
    carried_length,
    carry_refusal,
    halo,
    is_endless,
    last_rows,
)
from muntin.physical.held_parts import held_parts
from muntin.physical.operators.frames import (
    FRAMES,
    Division,
    chunk_length,
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
        if events is not None:
            prepare(rows, asked.rows, lifted=False)
        if bound.division.merged != asked.aggregates:
            prepare(bound.source, asked.events, lifted=False)
        bound.prepared  # noqa: B018  (a sentence for what does not fit)
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
    def prepared(self) -> Table | None:
        """The events with the partials of what is merged, if anything is."""
        merged = self.division.merged
        return prepare(self.source, self.asked.about(merged).events) if merged else None

    @cached_property
    def refusal(self) -> str | None:
        """Why the kernel cannot run, or None."""
        if not self.division.own:
            return f"{self.division.left[0].name} is computed only by Spark itself"
        return stranger(self.records)

    @cached_property
    def statistics(self) -> Statistics:
        """What can be known of the events at once."""
        return glance(self.source, self.asked.events, ASSUMED)

    @cached_property
    def chunk(self) -> int | None:
        """How long the chunks of time are, or None where keys stay whole."""
        if is_stream(self.rows):
            return None
        if self.asked.reach is not None:
            parts = shuffle_partitions(self.rows.sparkSession)
            return chunk_length(self.asked, self.statistics, parts)
        if carry_refusal(self.asked, self._whole.program):
            return None
        length = carried_length(self.asked, self.statistics, tasks_at_once(self.rows.sparkSession))
        tables = [self.rows, *([] if self.events is None else [self.events])]
        return length if length is not None and all(map(is_repeatable, tables)) else None

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
        kernel, own = predict(self.asked, self.statistics)
        return RANGE if framed and not joined and own < kernel else FRAMES.name

    def run(self) -> DataFrame:
        """The rows with their features, columns in the order asked for."""
        if self.operator == RANGE:
            return run_own_frames(self.rows, self.asked, self.events)
        records = self.records
        if self.division.left:
            left = self.asked.about(self.division.left)
            records = replace(records, rows=run_own_frames(self.rows, left, self.events))
            names = [*self.rows.columns, *self.asked.columns]
            return run(records).select(*map(column, names))
        return run(records)

    @cached_property
    def records(self) -> Records:
        """Rows and events for the kernel, in chunks of time where keys are cut."""
        return replace(self._whole, chunk=self.chunk, parts=self.parts)

    @cached_property
    def parts(self) -> int | None:
        """How many parts workers sort, None where Spark does: equal times may have an order."""
        if is_stream(self.rows) or self.events is not None or self._whole.ties:
            return None  # of rows beside events it is not known how many they are
        partitions = shuffle_partitions(self.rows.sparkSession)
        return held_parts(HALO * self.statistics.rows, self.statistics, self.chunk, partitions)

    @cached_property
    def _whole(self) -> Records:
        """Rows and events for the kernel, under plain names."""
        own = tuple(a for a in self.asked.aggregates if a not in self.division.left)
        asked = self.asked.about(own) if own else self.asked
        return Records(self.rows, self.events, asked, self.division, self.kinds, self.prepared)

    def explain(self) -> list[str]:
        """The operator, how rows and events meet, and how each aggregate is computed."""
        lines = [f"as of {self.asked.time}: {self.operator}, on Spark", ""]
        if self.operator == RANGE:
            return [*lines, *self._own(self.asked), *describe(self.asked, None)]
        lines += self._shuffled()
        lines += self._sent()
        lines += describe(self.asked, self.division)
        if self.division.left:
            lines += self._own(self.asked.about(self.division.left))
        return lines

    def _shuffled(self) -> list[str]:
        """How rows and events come to the tasks that compute features."""
        by, time = ", ".join(self.asked.keys) or "no key", self.asked.time
        order = f"one sort by {time}" if self.parts is None else f"workers sort by {time}"
        endless = next((frame.id for frame in self.asked.frames if frame.reach is None), "")
        if self.chunk is None:
            known = carry_refusal(self.asked, self._whole.program)
            return [
                f"one shuffle by {by}, {order}, NumPy on each key",
                f"a key is not split: {endless!r} has no bound in time, "
                f"and {known or 'it is not known that reading events twice would pay'}",
            ]
        chunk, reach = duration_text(self.chunk), halo(self.asked)
        lines = [f"one shuffle by {by} and chunks of {chunk}, {order}, NumPy on each"]
        if reach:
            lines += [f"events of the last {duration_text(reach)} of a chunk also go to the next"]
        if endless:
            lines += [f"events are read {self._readings}: a chunk is given {self._given} before"]
        return lines

    @property
    def _readings(self) -> str:
        both = is_endless(self.asked) and last_rows(self.asked) > 0
        return "three times" if both else "twice"

    @property
    def _given(self) -> str:
        last = last_rows(self.asked)
        parts = [f"the last {last} event{'' if last == 1 else 's'}"] if last else []
        parts += ["one partial of all events"] if is_endless(self.asked) else []
        return " and ".join(parts)

    def _sent(self) -> list[str]:
        """What leaves the JVM."""
        if keeps_rows(self.rows.sparkSession):
            return ["keys, time and inputs go to Python, features come back; rows stay in the JVM"]
        return ["whole rows go to Python and back: Spark has arrow_udf only from 4.1 on"]

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

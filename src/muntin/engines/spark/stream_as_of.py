"""mt.as_of on a stream of Spark: what a stream can be asked, and what runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pyspark.sql import DataFrame

from muntin.engines.spark.as_of import RANGE, SparkAsOf
from muntin.engines.spark.bind import Bound
from muntin.engines.spark.history import rows_after
from muntin.engines.spark.names import column
from muntin.engines.spark.operators import bucketed
from muntin.engines.spark.operators.frames import Records
from muntin.engines.spark.stream_frames import refusal, run
from muntin.engines.spark.stream_source import delay_of
from muntin.engines.spark.streaming import Streaming, set_watermark
from muntin.engines.verification import Verification
from muntin.errors import ColumnError, StrategyError
from muntin.model.as_of import AsOf
from muntin.model.durations import Duration
from muntin.model.history import HistoryTable
from muntin.physical.operators.frames import (
    CONTROLLED_ROWS,
    FRAMES,
    Division,
    describe,
    describe_history,
    describe_stream,
)
from muntin.state.control import Control


@dataclass(frozen=True)
class StreamAsOf:
    """A question bound to a stream, whose rows are the events, or to one of rows and one of events.

    `batch` knows the types.
    """

    batch: SparkAsOf
    arrival: bool
    buckets: int | None
    history: HistoryTable | None = None
    control: Control | None = None

    @staticmethod
    def of(
        rows: DataFrame,
        asked: AsOf,
        events: DataFrame | None,
        operator: str,
        watermark: Duration | None = None,
        output: str = "append",
        buckets: int | None = None,
        future: Duration | None = None,
        history: HistoryTable | None = None,
        control: Control | None = None,
    ) -> StreamAsOf:
        """The streams with their watermarks, and the question checked against them."""
        if operator == RANGE:
            raise StrategyError(
                "operator 'range' is for batches: Spark has no RANGE frames on streams; leave it "
                "out, or write 'auto'"
            )
        more: dict[str, Any] = {"future": future, "history": history, "control": control}
        streaming = Streaming(watermark, buckets=buckets, **more)
        _check_functions(asked)
        marked, others = _set_watermarks(rows, events, asked, streaming)
        if history is not None:
            marked = rows_after(marked, asked.rows, history.instant)
            others = others and rows_after(others, asked.events, history.instant)
        batch = SparkAsOf.of(marked, asked, others, FRAMES.name)
        _check_division(asked, batch.division)
        if control is not None:
            _check_labelled(asked, marked.columns)
        found = StreamAsOf(batch, output == "arrival", buckets, history, control)
        reason = bucketed.refusal(Bound(marked, asked.rows, streaming)) or refusal(found.records)
        if reason is not None:
            raise StrategyError(f"operator 'frames' cannot run this stream: {reason}")
        return found

    @property
    def asked(self) -> AsOf:
        """The question."""
        return self.batch.asked

    @cached_property
    def records(self) -> Records:
        """The rows for the kernel."""
        return self.batch.records

    def run(self) -> DataFrame:
        """The rows with their features, columns in the order asked for."""
        found = run(self.records, self.arrival, self.buckets, self.history, self.control)
        if self.control is not None:
            return found
        return found.select(*map(column, [*self.batch.rows.columns, *self.asked.columns]))

    def explain(self) -> list[str]:
        """When rows come out, what the state holds, and how each aggregate is computed."""
        history = self.history
        return [
            *describe_stream(self.asked, self.arrival),
            *([] if history is None else [describe_history(self.asked, history.instant)]),
            *([] if self.control is None else [CONTROLLED_ROWS]),
            *describe(self.asked, self.batch.division),
        ]

    def compare(self) -> Verification:
        """Refused: a stream has no finished result."""
        raise StrategyError(
            "verify compares finished results, and this is a streaming DataFrame: give it the plan "
            "of a batch of the same rows, read with spark.read"
        )


def _check_labelled(asked: AsOf, given: list[str]) -> None:
    """Refuse names that are two columns where each window has rows of its own."""
    known = {name.lower() for name in given}
    for name in ("window_id", *map(asked.feature, asked.aggregates)):
        if name.lower() in known:
            raise ColumnError(
                f"column {name!r} would be there twice: with a control each window has rows of its "
                "own; rename the column of the rows, or give the aggregate another .alias(...)"
            )
        known.add(name.lower())


def _set_watermarks(
    rows: DataFrame, events: DataFrame | None, asked: AsOf, streaming: Streaming
) -> tuple[DataFrame, DataFrame | None]:
    """Both streams with a watermark: their own, or the one given where they have none."""
    sides = {"rows": (rows, asked.rows)}
    if events is not None:
        sides["events"] = (events, asked.events)
    lacking = [what for what, (df, query) in sides.items() if delay_of(df, query) is None]
    if streaming.watermark is None and lacking:
        which = f"that of the {lacking[0]}" if events is not None else "this stream"
        raise StrategyError(
            f"what a row of a stream may still reach is known by the watermark, and {which} has "
            "none: give watermark='10 minutes', or how late rows may be"
        )
    marked = {
        what: set_watermark(df, query, streaming)
        if what in lacking or not lacking or streaming.future is not None
        else df
        for what, (df, query) in sides.items()
    }
    return marked["rows"], marked.get("events")


def _check_functions(asked: AsOf) -> None:
    if any(frame.grain for frame in asked.frames):
        raise StrategyError(
            "grain is for batches: a stream keeps the events of its windows one by one; leave it "
            "out here and in the batch, so that both have the same features"
        )
    own = next((a.name for a in asked.aggregates if a.function.in_python), None)
    if own:
        raise StrategyError(
            f"{own} cannot run on a stream: it is written in Python, and its partials have no "
            "form in which Spark could keep them; use Spark's aggregates, or run it on batches"
        )


def _check_division(asked: AsOf, division: Division) -> None:
    """Refuse what only Spark computes, and what would keep every event for ever."""
    if division.left:
        raise StrategyError(
            f"{division.left[0].name} cannot run on a stream: only Spark's own frames compute it, "
            "and there are none on streams; leave it out, or compute it on batches"
        )
    endless = next((f.id for f in asked.frames if f.reach is None and f.rows is None), None)
    if endless and division.from_values:
        raise StrategyError(
            f"{division.from_values[0].name} over window {endless!r} cannot run on a stream: it is "
            "computed from values, so that all events would be kept for ever; give the window a "
            "length, or take an aggregate that merges"
        )

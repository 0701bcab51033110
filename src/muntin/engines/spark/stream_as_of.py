"""mt.as_of on a stream of Spark: what a stream can be asked, and what runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import DataFrame

from muntin.engines.spark.as_of import RANGE, SparkAsOf
from muntin.engines.spark.bind import Bound
from muntin.engines.spark.names import column
from muntin.engines.spark.operators import bucketed
from muntin.engines.spark.operators.frames import Records
from muntin.engines.spark.stream_frames import refusal, run
from muntin.engines.spark.stream_source import delay_of
from muntin.engines.spark.streaming import Streaming, set_watermark
from muntin.engines.verification import Verification
from muntin.errors import StrategyError
from muntin.model.as_of import AsOf
from muntin.model.durations import Duration, duration_text
from muntin.physical.operators.frames import FRAMES, Division, describe


@dataclass(frozen=True)
class StreamAsOf:
    """A question bound to a stream, whose rows are the events; `batch` knows its types."""

    batch: SparkAsOf
    arrival: bool
    buckets: int | None

    @staticmethod
    def of(
        rows: DataFrame,
        asked: AsOf,
        events: object,
        operator: str,
        watermark: Duration | None = None,
        output: str = "append",
        buckets: int | None = None,
    ) -> StreamAsOf:
        """The stream with its watermark, and the question checked against it."""
        if events is not None:
            raise StrategyError(
                "rows are a streaming DataFrame, and its own rows are the events: leave out "
                "events, or use mt.as_of in foreachBatch, with the events of a table"
            )
        if operator == RANGE:
            raise StrategyError(
                "operator 'range' is for batches: Spark has no RANGE frames on streams; leave it "
                "out, or write 'auto'"
            )
        streaming = Streaming(watermark, buckets=buckets)
        if watermark is None and delay_of(rows, asked.rows) is None:
            raise StrategyError(
                "what a row of a stream may still reach is known by the watermark, and this "
                "stream has none: give watermark='10 minutes', or how late rows may be"
            )
        _check_functions(asked)
        marked = set_watermark(rows, asked.rows, streaming)
        batch = SparkAsOf.of(marked, asked, None, FRAMES.name)
        _check_division(asked, batch.division)
        found = StreamAsOf(batch, output == "arrival", buckets)
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
        return self.batch.records(self.batch.rows)

    def run(self) -> DataFrame:
        """The rows with their features, columns in the order asked for."""
        found = run(self.records, self.arrival, self.buckets)
        return found.select(*map(column, [*self.batch.rows.columns, *self.asked.columns]))

    def explain(self) -> list[str]:
        """When rows come out, what the state holds, and how each aggregate is computed."""
        if self.arrival:
            waits = "rows come out as they arrive, with what has arrived by then"
        else:
            waits = "rows wait until the watermark has passed them, then come out once"
        return [
            f"as of {self.asked.time}: {FRAMES.name}, on a stream of Spark",
            "",
            f"{waits}; NumPy on each bucket of keys",
            f"the state keeps {_kept(self.asked)}",
            *describe(self.asked, self.batch.division),
        ]

    def compare(self) -> Verification:
        """Refused: a stream has no finished result."""
        raise StrategyError(
            "verify compares finished results, and this is a streaming DataFrame: give it the plan "
            "of a batch of the same rows, read with spark.read"
        )


def _check_functions(asked: AsOf) -> None:
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


def _kept(asked: AsOf) -> str:
    """What stays in the state once rows have come out."""
    parts = []
    reaches = [f.reach for f in asked.frames if f.reach is not None]
    if reaches:
        parts.append(f"the events of the last {duration_text(max(reaches))}")
    most = max((f.rows for f in asked.frames if f.rows is not None), default=None)
    if most is not None:
        parts.append(f"the last {most} event{'' if most == 1 else 's'} of each key")
    if any(f.reach is None and f.rows is None for f in asked.frames):
        parts.append("one partial of each key")
    return ", ".join(parts)

"""Bind a query to a DataFrame, once: what this table and this Spark decide of how it can run.

Types, which aggregates can be shared over them, ANSI mode, and on a stream its watermark and mode.
Planning takes from here what rules an operator out (`stranger`, `refusals`), running everything.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module

from pyspark.sql import DataFrame

from muntin.aggregates import Aggregate
from muntin.engines.spark.history import rows_of_history, take_after
from muntin.engines.spark.late_rows import row_as_json
from muntin.engines.spark.row_partials import arrow_refusal, fields_of, not_in_arrow
from muntin.engines.spark.session_facts import wraps
from muntin.engines.spark.stream_source import StreamSource, delay_of
from muntin.engines.spark.streaming import Streaming, check_started_with
from muntin.engines.spark.table import Table, prepare
from muntin.engines.spark.unshared import split
from muntin.model.query import Query
from muntin.model.windows import Window
from muntin.physical import BATCH, STREAM, PhysicalPlan
from muntin.state.missed import RECORD


@dataclass(frozen=True)
class Bound:
    """A query and the table it is asked of; a stream has its options, and its watermark."""

    df: DataFrame
    query: Query
    streaming: Streaming | None = None

    @cached_property
    def parts(self) -> tuple[Query | None, Query | None]:
        """The part of the query that can be shared, and the part that Spark computes directly."""
        return split(self.query, self.df)

    @property
    def shared(self) -> Query | None:
        """What has partials, on this Spark and over these types."""
        return self.parts[0]

    @property
    def direct(self) -> Query | None:
        """What has none."""
        return self.parts[1]

    @cached_property
    def table(self) -> Table:
        """The rows under plain names, with what lifts partials, and what orders records."""
        keeps = self.streaming is not None and self.streaming.keeps_records
        carried = {RECORD: row_as_json(self.df)} if keeps else None
        table, until = prepare(self.df, self.query, carried=carried), self.until
        return table if until is None else take_after(table, until)

    @property
    def until(self) -> int | None:
        """Where a stream begins that starts from history."""
        return None if self.streaming is None else self.streaming.until

    def history(self, since: int | None) -> Table | None:
        """The rows from `since` on that the stream starts from, if its table is still needed."""
        given = None if self.streaming is None else self.streaming.history
        if given is None or given.table is None:
            return None
        return rows_of_history(given, self.query, self.table, since)

    @cached_property
    def wraps(self) -> bool:
        """Whether sums of integers wrap around, as with ANSI mode off."""
        return wraps(self.df.sparkSession)

    @cached_property
    def watermarked(self) -> bool:
        """Whether a stream's time has a watermark."""
        return delay_of(self.df, self.query) is not None

    @property
    def beside(self) -> tuple[str, ...]:
        """The columns that a stream has besides keys and aggregates."""
        return () if self.streaming is None else self.streaming.beside

    @property
    def started_with(self) -> tuple[Window, ...]:
        """The windows that a stream's checkpoint was started with."""
        given = None if self.streaming is None else self.streaming.started_with
        return check_started_with(self.query, given)

    @cached_property
    def stranger(self) -> str | None:
        """Why rows of this table cannot be handed to Python, or None.

        A batch hands over pieces; a stream rows, which Python must group as Spark would.
        """
        if self.shared is None:
            return None
        table = self.of_shared.table
        if self.streaming is not None:
            return not_in_arrow(table)
        foreign = arrow_refusal([*fields_of(table, table.keys), *table.fields])
        return f"{foreign} cannot be handed to Python" if foreign else None

    @cached_property
    def of_shared(self) -> Bound:
        """The same table, asked for what can be shared."""
        return self if self.direct is None or self.shared is None else self.about(self.shared)

    @cached_property
    def refusals(self) -> dict[str, str]:
        """The operators that this table or this stream rules out, with reasons."""
        found = {}
        for operator in BATCH if self.streaming is None else STREAM:
            module = import_module(f"muntin.engines.spark.operators.{operator.name}")
            reason = module.refusal(self) if hasattr(module, "refusal") else None
            if reason is not None:
                found[operator.name] = reason
        return found

    def source(self, physical: PhysicalPlan) -> StreamSource:
        """The rows of a stream for a stateful operator, and what it makes of them."""
        return StreamSource(physical, self.query, self.table, self.wraps, self.watermarked)

    def about(self, query: Query) -> Bound:
        """The same table, asked something else."""
        return Bound(self.df, query, self.streaming)

    def with_aggregates(self, aggregates: tuple[Aggregate, ...]) -> Bound:
        """The same table, asked for some of the aggregates."""
        return self.about(replace(self.query, aggregates=aggregates))

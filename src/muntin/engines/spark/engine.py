"""Spark as an engine: what was chosen is run by the operator's file of the same name.

bind     types, shared and direct parts, ANSI mode, watermark: once (muntin.engines.spark.bind)
facts    what rules operators out, for planning
run      muntin.engines.spark.operators.<name>.run, then filling and layout
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from pyspark.sql import DataFrame

from muntin.cost import Statistics
from muntin.engines.as_of import BoundAsOf
from muntin.engines.engine import CONTROL_ON_BATCH, HISTORY_ON_BATCH
from muntin.engines.spark.as_of import SparkAsOf
from muntin.engines.spark.bind import Bound
from muntin.engines.spark.delivery import key_names, select_own, stack_results
from muntin.engines.spark.key_marks import mark_keys
from muntin.engines.spark.layout import FILL_PERIODIC, fill_empty, lay_out
from muntin.engines.spark.operators.distinct import SparkDistinct
from muntin.engines.spark.operators.join import SparkJoin
from muntin.engines.spark.progress import observe_results
from muntin.engines.spark.session_facts import check_table, is_stream
from muntin.engines.spark.statistics import glance, read_footers, sample_statistics
from muntin.engines.spark.stream_as_of import StreamAsOf
from muntin.engines.spark.streaming import (
    Streaming,
    check_beside,
    check_for_data_windows,
    check_streamable,
    set_watermark,
)
from muntin.engines.spark.table import prepare
from muntin.engines.spark.unshared import compute_directly, join_direct
from muntin.engines.spark.verify import compare
from muntin.engines.verification import Verification
from muntin.errors import ColumnError, StrategyError
from muntin.model.as_of import AsOf
from muntin.model.choices import Engine
from muntin.model.queries import Member, SharingSet
from muntin.model.query import Query
from muntin.nesting.questions import DistinctItems, WindowJoin
from muntin.physical.operators.bucketed import BUCKETED
from muntin.physical.operators.controlled import CONTROLLED
from muntin.physical.operators.window import WINDOW
from muntin.physical.question import Facts
from muntin.planner.choice import Choice


class OnSpark(ABC):
    """What batches and streams have in common."""

    name: Engine

    @abstractmethod
    def run(self, choice: Choice, bound: Bound, layout: str, empty: str) -> DataFrame:
        """The result, in the layout asked for."""

    def deliver(
        self,
        sets: Sequence[SharingSet],
        choices: Sequence[Choice],
        bounds: Sequence[Bound],
        shape: tuple[str, str],
        deliver: str,
    ) -> DataFrame | dict[str, DataFrame]:
        """One result of all queries, or one of each."""
        layout, empty = shape
        beside = bounds[0].beside
        ran = zip(choices, bounds, strict=True)
        longs = [self.run(choice, bound, "long", empty) for choice, bound in ran]
        if deliver == "one":
            return mark_keys(stack_results(longs, sets, beside), key_names(sets))
        return {
            member.id: _mark(
                lay_out(select_own(long, member, beside), member.query, layout), member.query
            )
            for each, long in zip(sets, longs, strict=True)
            for member in each.members
        }

    def compare(self, choice: Choice, bound: Bound, member: Member | None = None) -> Verification:
        """Our rows against those of Spark's own window() queries."""
        rows = self.run(choice, bound, "long", "omit")
        if member is None:
            return compare(bound.df, bound.query, rows)
        return compare(bound.df, member.query, select_own(rows, member))

    def statistics(
        self, data: DataFrame, query: Query, how: str, fraction: float, keys: float
    ) -> Statistics:
        """From a sample, or from what the files say of themselves."""
        if how == "sample":
            return sample_statistics(data, query, fraction)
        return read_footers(data, query, keys)

    def glance(self, data: DataFrame, query: Query, assumed: Statistics) -> Statistics:
        """A stream tells nothing before it runs."""
        return assumed

    def bind_distinct(self, data: DataFrame, asked: DistinctItems, **stream: Any) -> SparkDistinct:
        """Distinct items, of a table or a stream."""
        return SparkDistinct(data, asked, Streaming(**stream))

    def bind_join(
        self, left: DataFrame, right: DataFrame, asked: WindowJoin, **stream: Any
    ) -> SparkJoin:
        """Pairs of rows, of tables or streams."""
        return SparkJoin(left, right, asked, Streaming(**stream))

    @abstractmethod
    def bind_as_of(
        self, rows: DataFrame, asked: AsOf, events: DataFrame | None, operator: str, **stream: Any
    ) -> BoundAsOf:
        """Trailing windows, bound to rows and events."""


class Batch(OnSpark):
    """A batch DataFrame."""

    name: Engine = "spark"

    def glance(self, data: DataFrame, query: Query, assumed: Statistics) -> Statistics:
        """From footers and some rows of files, or by Spark's own estimate."""
        return glance(data, query, assumed)

    def bind_as_of(
        self, rows: DataFrame, asked: AsOf, events: DataFrame | None, operator: str, **stream: Any
    ) -> SparkAsOf:
        """Trailing windows over tables, which ignore a stream's words."""
        return SparkAsOf.of(rows, asked, events, operator)

    def bind(self, data: DataFrame, query: Query, **stream: Any) -> Bound:
        """The query and the table, checked against each other; a batch ignores a stream's words."""
        check_table(data)
        if is_stream(data):
            raise ColumnError(
                "this is a streaming DataFrame, and plans run on batch ones: read the source with "
                "spark.read instead of spark.readStream, or apply the plan in foreachBatch"
            )
        if stream.get("control") is not None:
            raise StrategyError(CONTROL_ON_BATCH)
        if stream.get("history") is not None:
            raise StrategyError(HISTORY_ON_BATCH)
        bound = Bound(data, query)
        if bound.direct is not None:
            prepare(data, bound.direct, lifted=False)
        if bound.shared is not None:
            bound.of_shared.table  # noqa: B018  (a sentence for what does not fit)
        return bound

    def facts(self, bound: Bound, operator: str | None) -> Facts:
        """What the table rules out; where nothing can be shared, Spark's own queries run."""
        alone = bound.shared is None and not bound.query.data_windows
        forced = WINDOW.name if alone else operator
        return Facts(bound.stranger, bound.refusals, forced=forced)

    def run(self, choice: Choice, bound: Bound, layout: str, empty: str) -> DataFrame:
        """The result of the query in the layout asked for."""
        query = bound.query
        if query.data_windows and empty == "fill":
            raise StrategyError(FILL_PERIODIC)
        rows = self._long(choice, bound)
        rows = fill_empty(rows, query) if empty == "fill" else rows
        return _mark(lay_out(rows, query, layout), query)

    def _long(self, choice: Choice, bound: Bound) -> DataFrame:
        """What cannot be shared is computed directly, beside what can."""
        if not choice.operator.shares or bound.query.data_windows or bound.direct is None:
            return _by_operator(choice, bound)
        assert bound.shared is not None, "what has nothing to share runs as it is"
        rows = _by_operator(choice, bound.of_shared)
        return join_direct(rows, compute_directly(bound.df, bound.direct), bound.query)


class Stream(OnSpark):
    """A streaming DataFrame: one read of the source, one stateful query."""

    name: Engine = "stream"

    def bind_as_of(
        self, rows: DataFrame, asked: AsOf, events: DataFrame | None, operator: str, **stream: Any
    ) -> StreamAsOf:
        """Trailing windows over a stream, whose rows are the events, or over two streams."""
        return StreamAsOf.of(rows, asked, events, operator, **stream)

    def bind(self, data: DataFrame, query: Query, **stream: Any) -> Bound:
        """The query and the stream with its watermark, checked against each other."""
        streaming = Streaming(**stream)
        check_streamable(query, data)
        if query.data_windows:
            check_for_data_windows(query, streaming)
        bound = Bound(set_watermark(data, query, streaming), query, streaming)
        check_beside(query, bound.beside)
        bound.table  # noqa: B018  (a sentence for what does not fit, before anything is planned)
        return bound

    def facts(self, bound: Bound, operator: str | None) -> Facts:
        """What the stream rules out; a control has an operator of its own."""
        streaming, refused = bound.streaming, bound.refusals
        assert streaming is not None, "bound by this engine"
        if streaming.control is not None and not bound.query.data_windows:
            if operator not in (None, BUCKETED.name, CONTROLLED.name):
                raise StrategyError(
                    f"operator {operator!r} has fixed windows: leave out `operator` or `control`"
                )
            if CONTROLLED.name in refused:
                raise StrategyError(
                    "a control needs operator 'bucketed', which cannot run: "
                    f"{refused[CONTROLLED.name]}"
                )
            operator = CONTROLLED.name
        if streaming.keeps_slices is not None and operator is None:
            operator = BUCKETED.name
        given = () if streaming.started_with is None else bound.started_with
        if given and operator is None:
            refused = {BUCKETED.name: "started_with is for restarts of 'native'", **refused}
        return Facts(
            bound.stranger,
            refused,
            given,
            operator,
            streaming.technique,
            streaming.output == "update",
            streaming.lateness,
            None if bound.query.data_windows else streaming.fill_length(bound.query),
            streaming.until,
            streaming.control is not None,
        )

    def run(self, choice: Choice, bound: Bound, layout: str, empty: str) -> DataFrame:
        """The rows as a streaming DataFrame, in the long layout."""
        told = bound.until is not None or bound.streaming.started_with  # type: ignore[union-attr]
        if choice.missed is not None and not told:
            name, reason = choice.missed
            warnings.warn(
                f"operator {choice.operator.name!r} runs this stream: {name!r} is predicted to be "
                f"faster, but {reason}; operator={choice.operator.name!r} says that this is meant",
                stacklevel=4,
            )
        rows = _mark(_by_operator(choice, bound), bound.query)
        controlled = bound.streaming is not None and bound.streaming.control is not None
        if controlled or not choice.operator.fixed_windows:
            return rows
        return observe_results(rows, [w.id for w in bound.query.all_windows], bound.beside)


def _by_operator(choice: Choice, bound: Bound) -> DataFrame:
    run = import_module(f"muntin.engines.spark.operators.{choice.operator.name}").run
    rows: DataFrame = run(choice.physical, bound)
    return rows


def _mark(result: DataFrame, query: Query) -> DataFrame:
    """The result, in the long or the wide layout, with its key marked for sinks."""
    return mark_keys(result, ("window_id", "window_end", *query.keys))


BATCH_ENGINE, STREAM_ENGINE = Batch(), Stream()

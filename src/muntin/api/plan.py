"""A plan in the user's hands: look at it, turn it into SQL, run it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from muntin.api.engine import engine_of
from muntin.api.options import Options
from muntin.api.replan import Replanned, replanned
from muntin.api.shape import check_shape
from muntin.choices import Dialect, Empty, Layout, Output, StreamOperator
from muntin.durations import Duration
from muntin.errors import StrategyError, shown
from muntin.physical import STREAM_OPERATORS, Operators, choose_for_stream, merged_beside
from muntin.plan import SharingPlan, closed
from muntin.printable import shortened
from muntin.query import Query
from muntin.report import Alternative, Explanation, html, number, svg, text
from muntin.windows import Window

if TYPE_CHECKING:
    from muntin.control import Control
    from muntin.cost import CostModel


@dataclass(frozen=True, slots=True, repr=False)
class Plan:
    """The chosen sharing plan of a query, its cost, and what it was compared with."""

    query: Query
    tree: SharingPlan
    strategy: str
    cost: float
    model: CostModel
    alternatives: tuple[Alternative, ...]
    operators: Operators
    options: Options

    @property
    def seconds(self) -> float | None:
        """How long the plan is predicted to take on Spark; None for a stream."""
        return self.operators.seconds

    def explain(self) -> str:
        """The tree with each node's parent, pieces and cost, and every strategy tried."""
        return text(self._explanation())

    def to_svg(self) -> str:
        """The tree as an SVG picture."""
        return svg(self._explanation())

    def apply(
        self,
        data: Any,
        layout: Layout = "long",
        empty: Empty = "omit",
        *,
        watermark: Duration | None = None,
        output: Output = "append",
        operator: StreamOperator | None = None,
        started_with: Iterable[Window] | None = None,
        buckets: int | None = None,
        control: Control | None = None,
    ) -> Any:
        """Run the plan: on Spark for a Spark DataFrame, else in process on DuckDB.

        A DuckDB relation, an Arrow table or a pandas DataFrame gives the same kind back. With
        layout="wide" there is one row for each (keys, window_end), with a column
        `<aggregate>__<window_id>` for each pair; with empty="fill" there are rows with zeros and
        nulls between a key's first and last window. Both need a batch on Spark.

        A streaming DataFrame gives a streaming DataFrame. `watermark` says how late rows may be
        (none is needed where the time column has one), `output` the mode that the query will be
        started with: "append", "update" or "complete"; `operator` is "native" or "bucketed"; and
        `started_with` lists the windows that its checkpoint was started with, if they were others.
        `buckets` is how many parts "bucketed" spreads the keys over: by default as many as there
        are shuffle partitions, and always as many as its checkpoint was started with.
        With a `control`, windows are registered and suspended while the stream runs: all of them
        are then computed from the slices that they share, by "bucketed", whatever the strategy.
        On a batch these five change nothing, and a control is refused.
        """
        engine = engine_of(data)
        check_shape(engine, layout, empty)
        if engine == "stream":
            streaming = (watermark, output, started_with, buckets, control)
            return self._to_stream(data, streaming, operator)
        if control is not None:
            raise StrategyError(
                "control needs a streaming DataFrame: a batch has no time at which windows could "
                "come or go; leave it out"
            )
        if engine == "sql":
            from muntin.embedded import apply as apply_in_process

            return apply_in_process(self.tree, self.query, data)
        from muntin.spark.batch import apply

        return apply(self.tree, self.query, data, self.operators, layout, empty)

    def _to_stream(
        self,
        data: Any,
        streaming: tuple[Duration | None, str, Iterable[Window] | None, int | None, Control | None],
        operator: str | None,
    ) -> Any:
        from muntin.spark.streaming import Streaming, apply_to_stream

        operators = self.operators
        if operator is not None or operators.name not in STREAM_OPERATORS:
            operators = choose_for_stream(self.tree, self.query, self.options.rates, operator)
        return apply_to_stream(self.tree, self.query, data, operators, Streaming(*streaming))

    def replan(
        self, rate: float | None = None, keys: float | None = None, rows: float | None = None
    ) -> Replanned:
        """Whether another plan is better for other statistics, and by how much.

        What is not given stays as it was; with another rate and no rows, the span of time stays.
        """
        return replanned(self, rows, keys, rate)

    def to_sql(
        self, dialect: Dialect, table: str = "events", types: Mapping[str, str] | None = None
    ) -> str:
        """The plan as one SQL statement for "spark" or "duckdb"."""
        if self.query.data_windows:
            raise StrategyError(
                f"{self.query.data_windows[0].id!r} is decided by the data, which this SQL has no "
                "words for: use plan.apply(df)"
            )
        if not isinstance(table, str) or not table:
            raise StrategyError(f"table {shown(table)} must be the name of a table, as text")
        if types is not None and not isinstance(types, Mapping):
            raise StrategyError(
                f"types {shown(types)} must be types by column, such as {{'v': 'int'}}"
            )
        from muntin.sql import render

        return render(self.tree, self.query, dialect, table, types)

    def _explanation(self) -> Explanation:
        return Explanation(
            self.strategy,
            self.tree,
            self.model,
            self.alternatives,
            self.operators.edges,
            (*self._prediction(), *self._closed(), *self._in_order(), *self._direct()),
        )

    def _closed(self) -> list[str]:
        """A note where engines run other slices than the plan has."""
        if closed(self.tree) is self.tree:
            return []
        return ["open slices: Spark and SQL cut them where windows end, as pairs do"]

    def _in_order(self) -> list[str]:
        """A note on the aggregates for which records are sorted."""
        names = ", ".join(a.name for a in self.query.aggregates if a.function.ordered)
        by = ", ".join((self.query.time, *self.query.order_by))
        return [f"records in the order of {by}: {names}"] if names else []

    def _prediction(self) -> list[str]:
        """The operator, the seconds predicted for it, and what the prediction rests on."""
        notes = [f"operator {self.operators.name}: {self.operators.reason}"]
        if self.seconds is not None:
            known, constants = self.options.statistics, self.options.constants.origin
            notes.append(f"predicted {number(self.seconds)} s for {known}; constants {constants}")
        return notes

    def _direct(self) -> list[str]:
        """Notes on the aggregates that are not shared, or not by every Spark."""
        direct = ", ".join(shortened(a.name) for a in self.query.direct)
        late = [a for a in self.query.aggregates if a.function.since > (4, 0)]
        notes = [f"computed directly, beside the shared ones: {direct}"] if direct else []
        if self.operators.name == "kernel" and merged_beside(self.query):
            expanded = ", ".join(shortened(a.name) for a in merged_beside(self.query))
            notes.append(f"shared by expand, beside the kernel: {expanded}")
        return notes + [
            f"{shortened(a.name)} is shared from Spark {'.'.join(map(str, a.function.since))} on, "
            "and computed directly before"
            for a in late
        ]

    def __repr__(self) -> str:
        return self.explain()

    def _repr_html_(self) -> str:
        return html(self._explanation())

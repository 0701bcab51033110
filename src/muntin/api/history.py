"""History: what a stream starts from, and the results that its table gives by itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Unpack

from muntin.api.aggregate import aggregate
from muntin.api.engine import check_shape
from muntin.api.stream_options import PlanOptions
from muntin.errors import QueryError, shown
from muntin.model.choices import Empty, Layout
from muntin.model.data_windows import DataWindow, Session, Snapshot
from muntin.model.history import HistoryTable
from muntin.model.query import Query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True, init=False)
class History(HistoryTable):
    """A table of earlier rows that a stream starts from, and the instant at which it begins.

    Give it to mt.aggregate(stream, ..., history=...). `until` is text or a datetime, with its zone.
    Rows of the table from there on and rows of the stream before it are not taken, so the two may
    overlap. The stream's windows are those that end after `until`; those that ended before are
    `results(query)`. Once the stream has started, its checkpoint has what the table gave, and
    `mt.History(None, until=...)` goes on without the table. An instant without a zone is refused,
    and so is another `until` at a restart. The guide is docs/history.md.

    >>> import muntin as mt
    >>> flights = mt.demo_flights(spark)
    >>> history = mt.History(flights, until="2013-07-04T00:00:00Z")
    >>> asked = mt.query("departure", [mt.tumbling("1 day")], [mt.count()], keys="origin")
    >>> ended = history.results(asked)  # those that the stream will not give
    >>> ended.selectExpr("max(window.end) AS last").collect()
    [Row(last=datetime.datetime(2013, 7, 4, 0, 0))]
    """

    def results(
        self,
        query: Query,
        *,
        layout: Layout = "long",
        empty: Empty = "omit",
        **options: Unpack[PlanOptions],
    ) -> DataFrame:
        """The windows of a query that ended at or before `until`, as a batch DataFrame.

        With the rows of the stream there is no gap and no double. Where the stream has
        empty="fill", give that and its `fill_for` here, too: windows without rows are then those
        of a stream over the table.
        """
        if not isinstance(query, Query):
            raise QueryError(f"query {shown(query)} must be made with mt.query(...)")
        if self.table is None:
            raise QueryError("this history has no table: give it to mt.History(table, until=...)")
        check_shape("spark", layout, empty)
        from muntin.engines.spark.history import ended, fill_until, rows_before

        if empty == "fill":
            held, given = self.results(query, **options), options.get("fill_for")
            return fill_until(held, query, self.instant, given, layout)
        rows = rows_before(self, query)
        queries = {"history": replace(query, data_windows=tuple(map(_finish, query.data_windows)))}
        found = aggregate(rows, queries=queries, deliver="dict", layout=layout, **options)
        return ended(found["history"], self.instant)


def _finish(window: DataWindow) -> DataWindow:
    """Without what only the end of the table ends: the stream goes on with it."""
    if not window.incomplete or isinstance(window, Session | Snapshot):
        return window  # time ends these
    return replace(window, incomplete=False)

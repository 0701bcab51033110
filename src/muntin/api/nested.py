"""distinct, join: many nested windows of one operator, in one pass over the rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from muntin.aggregates import max
from muntin.api.aggregate import aggregate
from muntin.api.nested_plan import (
    JoinedWindows,
    distinct_items,
    plan_distinct,
    plan_join,
    window_join,
)
from muntin.api.plan import Table
from muntin.api.stream_options import StreamOptions
from muntin.errors import StrategyError, shown
from muntin.model.choices import Grouping, NestedLayout, Output
from muntin.model.durations import Duration
from muntin.model.history import HistoryTable
from muntin.model.query import Query
from muntin.model.windows import Window
from muntin.nesting.questions import DistinctItems
from muntin.state.control import Control

if TYPE_CHECKING:
    from pyspark.sql import Column


def distinct(
    df: Table,
    time: str,
    items: str | Iterable[str],
    windows: Iterable[Window],
    keys: str | Iterable[str] = (),
    where: str | None = None,
    layout: NestedLayout = "nested",
    grouping: Grouping = "greedy",
    watermark: Duration | None = None,
    output: Output = "append",
    history: HistoryTable | None = None,
    control: Control | None = None,
) -> Table:
    """The distinct items of every window, for each value of the keys.

    `df` is a Spark DataFrame, batch or streaming, an Arrow table, a pandas DataFrame or a DuckDB
    relation; the result is of the same kind. `time` is its timestamp column, `items` are the
    columns whose values are looked for, `windows` are periodic ones: others do not nest, and are
    refused. `where` is an SQL predicate: other rows do not count. `grouping` says how windows are
    put into groups: "greedy" as the paper does it, or into the fewest, "minimum".

    With layout="nested" there is one row for each item and instant at which windows of a group
    end: the smallest window that holds it (`window_id`), `last_seen`, until when that window holds
    it (`expires`), and all `windows` that end there and hold it. With layout="long" there is one
    row for each window instance and item, as one DISTINCT query a window would give.
    A stream takes its own watermark, or `watermark`, and is started in the mode `output`. With
    layout="long" it may start from `history`, mt.History(table, until=...), and windows may come
    and go by a `control`, mt.Control(path).
    mt.explain, with the same arguments, shows what would run and how the windows nest.

    >>> import muntin as mt, pyarrow as pa
    >>> from datetime import datetime
    >>> times = [datetime(2026, 1, 1, 0, minute) for minute in (1, 2, 7)]
    >>> rows = pa.table({"ts": times, "page": ["home", "cart", "home"]})
    >>> windows = [mt.tumbling("5 minutes"), mt.tumbling("10 minutes")]
    >>> seen = mt.distinct(rows, "ts", items="page", windows=windows).to_pylist()
    >>> sorted((r["page"], r["windows"]) for r in seen if r["window_end"].minute == 10)
    [('cart', ['10 minutes']), ('home', ['5 minutes', '10 minutes'])]
    """
    asked = distinct_items(time, items, windows, keys, where, layout, grouping)
    if history is not None or control is not None:
        given = StreamOptions(watermark=watermark, output=output, history=history, control=control)
        return _distinct_by_aggregate(df, asked, given)
    result: Table = plan_distinct(df, asked, watermark=watermark, output=output).run()
    return result


def _distinct_by_aggregate(df: Table, asked: DistinctItems, stream: StreamOptions) -> Table:
    """The rows of the long layout from an operator that keeps slices of its own.

    They are those of an aggregation by the items: when each of them was last seen in a window.
    """
    layout = shown(asked.layout)
    if asked.layout != "long" and stream.get("history") is not None:
        raise StrategyError(
            f"layout={layout} cannot start from history: its rows are made by an "
            "aggregation of Spark's own, which has no initial state; use layout='long'"
        )
    if asked.layout != "long":
        raise StrategyError(
            f"layout={layout} cannot go with a control: its rows list the windows of a "
            "group, in Spark's own state, and with a control groups change; use layout='long'"
        )
    query: Query = asked.query
    return aggregate(
        df,
        time=query.time,
        windows=query.windows,
        aggregates=[max(query.time).alias("last_seen")],
        keys=query.keys,
        where=query.where,
        **stream,
    )


def join(
    left: Table,
    right: object,
    on: str | Iterable[str],
    time: str | tuple[str, str],
    windows: JoinedWindows,
    layout: NestedLayout = "nested",
    watermark: Duration | None = None,
    where: str | Column | None = None,
    control: Control | None = None,
) -> Table:
    """Pairs of rows with equal keys that meet in a window: an instance that holds both.

    left, right  Spark DataFrames, batch or streaming, or tables in process: Arrow, pandas, DuckDB
                 relations; the result is of the kind of `left`
    on           the columns that are equal; null equals nothing
    time         the timestamp column, or that of the left and that of the right side
    windows      each is a window for both sides, or a pair: (window of the left, window of the
                 right side). A pair meets where both end: at the end T the left row is in
                 [T − left range, T) and the right row in [T − right range, T). Its id is that of
                 both, or "left id & right id"
    where        what must hold for a pair besides: SQL over the columns of both sides, as in
                 "left.price < right.price"; a column that one side has alone needs no side. On
                 Spark also a Column, F.col("left.price") < F.col("right.price")
    layout       "nested" or "long"
    watermark    of streams that have none of their own
    control      mt.Control(path), by which windows of two streams come and go; it needs
                 layout="long", and windows that are the same for both sides

    Result rows hold both rows as structs, `left` and `right`. With layout="nested" there is one row
    for each pair: the smallest window in which it meets (`window_id`), until when (`expires`), and
    all `windows` with the first and last end at which they hold it. With layout="long" there is one
    row for each pair and window instance, as one join a window would give: `window`, and where the
    sides have windows of their own, `right_window` beside it.
    Of streams a pair comes out as soon as both rows are there, and with a control when its window
    has ended; rows before the watermark are late, and dropped. mt.explain(left, right=right, ...)
    shows what would run.

    >>> import muntin as mt, pyarrow as pa
    >>> from datetime import datetime
    >>> views = pa.table({"ts": [datetime(2026, 1, 1, 0, 1)], "user": ["ann"], "price": [30]})
    >>> times = [datetime(2026, 1, 1, 0, minute) for minute in (3, 4, 50)]
    >>> orders = pa.table({"ts": times, "user": ["ann"] * 3, "paid": [30, 25, 30]})
    >>> sides = (mt.hopping("30 minutes", "5 minutes"), mt.tumbling("5 minutes"))
    >>> paid = mt.join(views, orders, "user", "ts", windows=[sides], where="paid >= price")
    >>> [(r["left"]["price"], r["right"]["ts"].minute, r["window_id"]) for r in paid.to_pylist()]
    [(30, 3, '30 minutes/5 minutes & 5 minutes')]
    """
    asked = window_join(on, time, windows, layout, where)
    result: Table = plan_join(left, right, asked, watermark=watermark, control=control).run()
    return result

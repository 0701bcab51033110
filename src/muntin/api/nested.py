"""distinct, join: many nested windows of one operator, in one pass over the rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from muntin.aggregates import count, max
from muntin.api.aggregate import aggregate
from muntin.errors import QueryError, StrategyError, WindowError, shown
from muntin.model.choices import Grouping, NestedLayout, Output
from muntin.model.durations import Duration
from muntin.model.history import HistoryTable
from muntin.model.query import Query, query
from muntin.model.windows import Window

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def distinct(
    df: DataFrame,
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
) -> DataFrame:
    """The distinct items of every window, for each value of the keys, on a Spark DataFrame.

    With layout="nested" there is one row for each item and instant at which windows of a group
    end: the smallest window that holds it (`window_id`), `last_seen`, until when that window holds
    it (`expires`), and all `windows` that end there and hold it. With layout="long" there is one
    row for each window instance and item, as one DISTINCT query a window would give.
    A stream takes its own watermark, or `watermark`, and is started in the mode `output`. With
    layout="long" it may start from `history`, mt.History(table, until=...).
    """
    groups, columns = _names("keys", keys), _names("items", items)
    if not columns:
        raise QueryError("no items: name the columns whose distinct values are asked for")
    asked = _check(time, windows, [*groups, *columns], where)
    if history is not None:
        return _distinct_after(df, asked, layout, history, watermark, output)
    from muntin.engines.spark.operators.distinct import run
    from muntin.engines.spark.streaming import Streaming

    return run(df, asked, layout, grouping, Streaming(watermark, output))


def _distinct_after(
    df: DataFrame,
    asked: Query,
    layout: NestedLayout,
    history: HistoryTable,
    watermark: Duration | None,
    output: Output,
) -> DataFrame:
    """The rows of the long layout from an operator that can start from history.

    They are those of an aggregation by the items: when each of them was last seen in a window.
    """
    if layout != "long":
        raise StrategyError(
            f"layout={shown(layout)} cannot start from history: its rows are made by an "
            "aggregation of Spark's own, which has no initial state; use layout='long'"
        )
    return aggregate(
        df,
        time=asked.time,
        windows=asked.windows,
        aggregates=[max(asked.time).alias("last_seen")],
        keys=asked.keys,
        where=asked.where,
        watermark=watermark,
        output=output,
        history=history,
    )


def join(
    left: DataFrame,
    right: DataFrame,
    on: str | Iterable[str],
    time: str | tuple[str, str],
    windows: Iterable[Window],
    layout: NestedLayout = "nested",
    watermark: Duration | None = None,
) -> DataFrame:
    """Pairs of rows with equal keys that meet in a window: an instance that holds both.

    `time` names the timestamp column, or that of the left and that of the right side. Result rows
    hold both rows as structs, `left` and `right`. With layout="nested" there is one row for each
    pair: the smallest window in which it meets (`window_id`), until when (`expires`), and all
    `windows` with the first and last end at which they hold it. With layout="long" there is one row
    for each pair and window instance, as one join a window would give.
    Both sides may be streams, with their own watermarks, or `watermark` for both.
    """
    names = _names("on", on)
    if not names:
        raise QueryError("no keys: on='user' or on=['user', 'device'] names the columns to join on")
    pool = list(windows)
    times = (time, time) if isinstance(time, str) else tuple(time)
    if len(times) != 2:
        raise QueryError(f"time {shown(time)} must be one column, or one for each side")
    queries = (_check(times[0], pool, names), _check(times[1], pool, names))
    from muntin.engines.spark.operators.join import run
    from muntin.engines.spark.streaming import Streaming

    return run(left, right, queries, layout, Streaming(watermark))


def _names(what: str, given: str | Iterable[str]) -> list[str]:
    if isinstance(given, str):
        return [given]
    if not isinstance(given, Iterable):
        raise QueryError(f"{what} {shown(given)} must be a list of columns, or one")
    return list(given)


def _check(
    time: str, windows: Iterable[Window], names: list[str], where: str | None = None
) -> Query:
    """The windows and names checked as those of any query; the count is never computed."""
    pool = list(windows)
    for window in pool:
        if not isinstance(window, Window):
            raise WindowError(
                f"{shown(window)} is not a periodic window, and only these nest: use "
                "mt.tumbling(...) or mt.hopping(...)"
            )
    return query(time, pool, [count()], names, where)

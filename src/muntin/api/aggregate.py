"""aggregate: the one call most users need: optimize, then apply."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from muntin.aggregates import Aggregate
from muntin.api.engine import engine_of
from muntin.api.optimize import optimize
from muntin.api.statistics import statistics as find
from muntin.choices import Cost, Deliver, Empty, Layout, Operator, Output, Sampling, Strategy
from muntin.control import Control
from muntin.cost import Statistics
from muntin.cost.statistics import ROWS
from muntin.data_windows import DataWindow
from muntin.durations import Duration
from muntin.errors import QueryError, shown
from muntin.query import Query, query
from muntin.windows import Window


def aggregate(
    data: Any,
    time: str | None = None,
    windows: Iterable[Window | DataWindow] = (),
    aggregates: Iterable[Aggregate] = (),
    keys: str | Iterable[str] = (),
    where: str | None = None,
    strategy: Strategy = "auto",
    rate: float = 100.0,
    distinct_keys: float = 1,
    cost: Cost = "rate",
    operator: Operator | None = None,
    layout: Layout = "long",
    empty: Empty = "omit",
    watermark: Duration | None = None,
    output: Output = "append",
    started_with: Iterable[Window] | None = None,
    buckets: int | None = None,
    control: Control | None = None,
    queries: Mapping[str, Query] | None = None,
    deliver: Deliver = "one",
    order_by: str | Iterable[str] = (),
    rows: float = ROWS,
    statistics: Sampling | Statistics | None = None,
) -> Any:
    """All windows and aggregates over a Spark DataFrame, batch or streaming, computed together.

    `layout` is "long" or "wide", `empty` is "omit" or "fill", and streams are told `watermark`,
    `output`, `started_with`, `buckets` and `control`: see Plan.apply. Instead of one query's parts,
    several `queries` may be given by their ids: the result has a column query_id, or with
    deliver="dict" there is a result of each (see Plans.apply).

    Windows that the data decides (mt.session, …) and aggregates that do not commute
    (mt.custom) take the records of a key in the order of time, and `order_by` among equal times.

    Planning knows of the data what you say of it (`rate`, `distinct_keys`, `rows`), or
    statistics="sample" or "metadata" finds: mt.statistics.

    Works with transform: `events.transform(mt.aggregate, time="ts", ...)`.
    """
    streaming: Any = {"watermark": watermark, "output": output, "started_with": started_with}
    streaming |= {"buckets": buckets, "control": control}
    options: Any = {
        **{"strategy": strategy, "rate": rate, "keys": distinct_keys, "rows": rows, "cost": cost},
        **{"operator": operator, "engine": engine_of(data), "statistics": statistics},
    }
    if isinstance(statistics, str):
        options["statistics"] = partial(find, data, how=statistics, keys=distinct_keys)
    if queries is None:
        if deliver != "one":
            raise QueryError(
                f"deliver={shown(deliver)} needs several queries: queries={{'id': query}}"
            )
        one = optimize(_asked(time, windows, aggregates, keys, where, order_by), **options)
        return one.apply(data, layout, empty, **streaming)
    if any((time, windows, aggregates, keys, where, order_by)):
        raise QueryError(
            "queries={...} hold their own time, windows, aggregates, keys and where: "
            "give these to mt.query(...), or leave queries out"
        )
    if control is not None:
        raise QueryError("a control changes the windows of one query: leave out queries or control")
    several = optimize(queries=queries, **options)
    return several.apply(data, layout, empty, deliver, **streaming)


def _asked(
    time: str | None,
    windows: Iterable[Window | DataWindow],
    aggregates: Iterable[Aggregate],
    keys: str | Iterable[str],
    where: str | None,
    order_by: str | Iterable[str],
) -> Query:
    if time is None:
        raise QueryError("no time: name the timestamp column, time='ts', or give queries={...}")
    return query(
        time=time,
        windows=windows,
        aggregates=aggregates,
        keys=keys,
        where=where,
        order_by=order_by,
    )

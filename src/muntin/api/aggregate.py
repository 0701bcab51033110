"""aggregate: the one call most users need. explain: what it would run, on this very data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, Unpack, overload

from muntin.aggregates import Aggregate
from muntin.api.plan import Plan, Table
from muntin.api.plans import Plans
from muntin.api.request import asked
from muntin.api.shape import check_shape
from muntin.api.stream_options import PlanOptions
from muntin.errors import QueryError, shown
from muntin.model.choices import Deliver, Empty, Layout
from muntin.model.data_windows import DataWindow
from muntin.model.delivery import check_delivery
from muntin.model.query import Query
from muntin.model.windows import Window


@overload
def aggregate(
    data: Table,
    time: str,
    windows: Iterable[Window | DataWindow],
    aggregates: Iterable[Aggregate],
    keys: str | Iterable[str] = (),
    where: str | None = None,
    *,
    layout: Layout = "long",
    empty: Empty = "omit",
    **options: Unpack[PlanOptions],
) -> Table: ...


@overload
def aggregate(
    data: Table,
    *,
    queries: Mapping[str, Query],
    deliver: Literal["one"] = "one",
    layout: Layout = "long",
    empty: Empty = "omit",
    **options: Unpack[PlanOptions],
) -> Table: ...


@overload
def aggregate(
    data: Table,
    *,
    queries: Mapping[str, Query],
    deliver: Literal["dict"],
    layout: Layout = "long",
    empty: Empty = "omit",
    **options: Unpack[PlanOptions],
) -> dict[str, Table]: ...


def aggregate(
    data: Any,
    time: str | None = None,
    windows: Iterable[Window | DataWindow] = (),
    aggregates: Iterable[Aggregate] = (),
    keys: str | Iterable[str] = (),
    where: str | None = None,
    *,
    queries: Mapping[str, Query] | None = None,
    deliver: Deliver = "one",
    layout: Layout = "long",
    empty: Empty = "omit",
    **options: Unpack[PlanOptions],
) -> Any:
    """All windows and aggregates over a table, batch or stream, computed together in one pass.

    A Spark DataFrame gives a DataFrame, an Arrow table an Arrow table, and so on. `layout` is
    "long" or "wide", `empty` is "omit" or "fill": see Plan.apply. All other options are those of
    mt.PlanOptions: `strategy`, `cost`, `operator`, what is known of the data, and what only a
    stream is told (`watermark`, `output`, …). Instead of one query's parts, several `queries` may
    be given by their ids: the result has a column query_id, or with deliver="dict" there is a
    result of each (see Plans.apply).

    Windows that the data decides (mt.session, …) and aggregates that do not commute
    (mt.custom) take the records of a key in the order of time, and `order_by` among equal times.

    Planning knows of the data what you say of it (`rate`, `distinct_keys`, `rows`), or
    statistics="sample" or "metadata" finds: mt.statistics. mt.explain, with the same arguments,
    shows what would run.

    Works with transform: `events.transform(mt.aggregate, time="ts", ...)`.

    >>> import muntin as mt, pyarrow as pa
    >>> from datetime import datetime
    >>> rows = pa.table({"ts": [datetime(2026, 1, 1, 0, 0, s) for s in (5, 42)], "v": [1, 3]})
    >>> minute = mt.tumbling("1 minute")
    >>> result = mt.aggregate(rows, time="ts", windows=[minute], aggregates=[mt.sum("v")])
    >>> result["sum(v)"].to_pylist()
    [4]
    """
    check_delivery(deliver)
    if queries is None and deliver != "one":
        raise QueryError(f"deliver={shown(deliver)} needs several queries: queries={{'id': query}}")
    what = asked(data, time, windows, aggregates, keys, where, queries, options)
    return what.run(layout, empty, deliver)


def explain(
    data: Any,
    time: str | None = None,
    windows: Iterable[Window | DataWindow] = (),
    aggregates: Iterable[Aggregate] = (),
    keys: str | Iterable[str] = (),
    where: str | None = None,
    *,
    queries: Mapping[str, Query] | None = None,
    layout: Layout = "long",
    empty: Empty = "omit",
    deliver: Deliver = "one",
    **options: Unpack[PlanOptions],
) -> Plan | Plans:
    """The plan that mt.aggregate would run on this very data; nothing runs.

    Takes the arguments of mt.aggregate, binds them to the data (types, watermark, mode, ANSI) and
    shows the tree as it would run: print it, or look at it in a notebook. What mt.aggregate refuses
    is refused here with the same words.

    >>> import muntin as mt, pyarrow as pa
    >>> from datetime import datetime
    >>> rows = pa.table({"ts": [datetime(2026, 1, 1)], "v": [1]})
    >>> windows = [mt.tumbling("1 minute"), mt.tumbling("1 hour")]
    >>> plan = mt.explain(rows, time="ts", windows=windows, aggregates=[mt.sum("v")])
    >>> [(node.id, node.parent) for node in plan.tree.nodes]
    [('1 minute', None), ('1 hour', '1 minute')]
    """
    check_delivery(deliver)
    what = asked(data, time, windows, aggregates, keys, where, queries, options)
    check_shape(what.engine.name, layout, empty)
    return what.plan()

"""aggregate: the one call most users need. explain: what it would run, on this very data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Unpack, cast, overload

from muntin.aggregates import Aggregate
from muntin.api.as_of import AsOfPlan, TrailingWindows, explain_as_of
from muntin.api.engine import check_shape, engine_of
from muntin.api.nested_plan import (
    JoinedWindows,
    NestedPlan,
    explain_distinct,
    explain_join,
)
from muntin.api.optimize import Known, find_plans, resolve_statistics
from muntin.api.plan import Plan, Table
from muntin.api.plans import Plans
from muntin.api.statistics import statistics
from muntin.api.stream_options import STREAM_OPTIONS, PlanOptions, check_names
from muntin.engines.engine import Engine
from muntin.errors import QueryError, shown
from muntin.model.choices import (
    Closed,
    Deliver,
    Empty,
    FrameOperator,
    FrameOutput,
    Grouping,
    Layout,
    NestedLayout,
    Output,
)
from muntin.model.data_windows import DataWindow
from muntin.model.durations import Duration
from muntin.model.frames import is_trailing
from muntin.model.history import HistoryTable
from muntin.model.queries import check_delivery
from muntin.model.query import Query, query
from muntin.model.windows import Window
from muntin.physical.question import Facts
from muntin.planner.options import ASSUMED, Options
from muntin.state.control import Control


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
    data: object,
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
) -> object:
    """All windows and aggregates over a table, batch or stream, computed together in one pass.

    data        a Spark DataFrame, batch or streaming, an Arrow table, a pandas DataFrame or a
                DuckDB relation; the result is of the same kind
    time        the name of the timestamp column
    windows     mt.tumbling, mt.hopping, mt.session, mt.count_window and the like
    aggregates  mt.count(), mt.avg("v") and the like, with .alias("name") and .filter("v > 0")
    keys        the columns to group by; without any, all rows are one group
    where       an SQL predicate: other rows do not count
    queries     instead of the above, several queries by their ids (mt.query); the result has a
                column query_id, or with deliver="dict" there is a result of each
    layout      "long": a row for each window, instance and key, with the columns window_id, window
                (a struct of start and end), the keys and the aggregates; "wide", on a batch: a row
                for each key and end of a window, with a column for each aggregate and window
    empty       "omit" leaves out windows without rows, "fill" adds those between a key's first
                and last one: see Plan.apply
    options     those of mt.PlanOptions: `strategy`, `cost`, `operator`, what you know of the data
                (`rows`, `distinct_keys`, `rate`, `statistics`), and what only a stream is told
                (`watermark`, `output` and the rest of mt.StreamOptions)

    Rows equal those of Spark's own window(): instances are [start, end) and aligned to the epoch in
    UTC, rows without a time are dropped, a null key is a group. Windows that the data decides
    (mt.session and the like) and aggregates that do not commute (mt.custom) take the records of a
    key in the order of time, and of `order_by` among equal times.

    What cannot be is refused with a mt.MuntinError that names the value: columns that are not
    there, duplicate windows, types that an aggregate does not take, a stream without a watermark.

    mt.explain, with the same arguments, shows what would run. Works with transform:
    `events.transform(mt.aggregate, time="ts", ...)`.

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
    parts = (time, windows, aggregates, keys, where)
    engine, plan, bound = _plan(data, parts, queries, (layout, empty), options)
    if isinstance(plan, Plan):
        return engine.run(plan.choice, bound[0], layout, empty)
    return plan.deliver(engine, bound, (layout, empty), deliver)


@overload
def explain(
    data: object,
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
) -> Plan | Plans: ...


@overload
def explain(
    data: object,
    time: str,
    windows: TrailingWindows,
    aggregates: Iterable[Aggregate],
    keys: str | Iterable[str] = (),
    where: str | None = None,
    *,
    events: object = None,
    events_time: str | None = None,
    closed: Closed = "left",
    operator: FrameOperator = "auto",
    order_by: str | Iterable[str] = (),
    grain: Duration | None = None,
    watermark: Duration | None = None,
    output: FrameOutput = "append",
    buckets: int | None = None,
    future: Duration | None = None,
    history: HistoryTable | None = None,
    control: Control | None = None,
) -> AsOfPlan: ...


@overload
def explain(
    data: object,
    time: str,
    windows: Iterable[Window],
    *,
    items: str | Iterable[str],
    keys: str | Iterable[str] = (),
    where: str | None = None,
    layout: NestedLayout = "nested",
    grouping: Grouping = "greedy",
    watermark: Duration | None = None,
    output: Output = "append",
) -> NestedPlan: ...


@overload
def explain(
    data: object,
    time: str | tuple[str, str],
    windows: JoinedWindows,
    *,
    right: object,
    on: str | Iterable[str],
    where: object = None,
    layout: NestedLayout = "nested",
    watermark: Duration | None = None,
    control: Control | None = None,
) -> NestedPlan: ...


def explain(
    data: object,
    time: Any = None,
    windows: Any = (),
    aggregates: Iterable[Aggregate] = (),
    keys: str | Iterable[str] = (),
    where: Any = None,
    *,
    queries: Mapping[str, Query] | None = None,
    layout: Any = None,
    empty: Empty = "omit",
    deliver: Deliver = "one",
    **options: Any,
) -> Plan | Plans | AsOfPlan | NestedPlan:
    """The plan that mt.aggregate would run on this very data; nothing runs.

    With trailing windows (mt.trailing, mt.lifetime, durations) it is what mt.as_of would run, and
    takes its arguments. With `items` it is what mt.distinct would run; with `right` and `on` what
    mt.join would run, of which `data` is the left side.

    Takes the arguments of mt.aggregate (`time`, `windows`, `aggregates`, `keys`, `where`, or
    `queries` with `deliver`; `layout`, `empty` and the `options` of mt.PlanOptions), binds them to
    the data (types, watermark, mode, ANSI) and shows the tree as it would run: a Plan, or Plans of
    several queries. Print it, or look at it in a notebook. What mt.aggregate refuses is refused
    here with the same words.

    >>> import muntin as mt, pyarrow as pa
    >>> from datetime import datetime
    >>> rows = pa.table({"ts": [datetime(2026, 1, 1)], "v": [1]})
    >>> windows = [mt.tumbling("1 minute"), mt.tumbling("1 hour")]
    >>> asked = {"time": "ts", "windows": windows, "aggregates": [mt.sum("v")]}
    >>> plan = mt.explain(rows, **asked, rows=10_000_000)
    >>> [(node.id, node.parent) for node in plan.tree.nodes]
    [('slices', None), ('1 minute', 'slices'), ('1 hour', 'slices')]
    """
    if is_trailing(windows):
        return explain_as_of(data, time or "", windows, aggregates, keys, where, **options)
    shape = {} if layout is None else {"layout": layout}
    if "items" in options:
        return explain_distinct(data, time, windows, keys, where, **shape, **options)
    if "right" in options:
        return explain_join(data, time, windows, where, **shape, **options)
    check_delivery(deliver)
    parts = (time, windows, aggregates, keys, where)
    return _plan(data, parts, queries, (layout or "long", empty), cast(PlanOptions, options))[1]


Parts = tuple[
    str | None,
    Iterable[Window | DataWindow],
    Iterable[Aggregate],
    str | Iterable[str],
    str | None,
]
"""One query's time, windows, aggregates, keys and where."""


def _plan(
    data: object,
    parts: Parts,
    queries: Mapping[str, Query] | None,
    shape: tuple[str, str],
    given: PlanOptions,
) -> tuple[Engine, Plan | Plans, list[object]]:
    """What runs the one query or the several on this data, by which plan, and each query bound."""
    check_names(given, PlanOptions)
    strategy, operator = given.get("strategy", "auto"), given.get("operator")
    options = Options(strategy, cost=given.get("cost", "seconds"), operator=operator)
    stream = {name: value for name, value in given.items() if name in STREAM_OPTIONS}
    one = _one_query(parts, given.get("order_by", ()), several=queries is not None)
    if one is None and stream.get("control") is not None:
        raise QueryError("a control changes the windows of one query: leave out queries or control")
    engine = engine_of(data)
    known = _known(data, engine, given)
    check_shape(engine.name, *shape)
    bound: list[object] = []

    def facts(query: Query) -> Facts:
        bound.append(engine.bind(data, query, empty=shape[1], **stream))
        return engine.facts(bound[-1], operator)

    options = replace(options, engine=engine.name)
    return engine, find_plans(one, queries, options, known, facts), bound


def _one_query(parts: Parts, order_by: str | Iterable[str], several: bool) -> Query | None:
    """The query of these parts; none of them may stand beside several queries."""
    time, windows, aggregates, keys, where = parts
    if several:
        if any((*parts, order_by)):
            raise QueryError(
                "queries={...} hold their own time, windows, aggregates, keys and where: "
                "give these to mt.query(...), or leave queries out"
            )
        return None
    if time is None:
        raise QueryError("no time: name the timestamp column, time='ts', or give queries={...}")
    return query(time, windows, aggregates, keys, where, order_by=order_by)


def _known(data: object, engine: Engine, given: PlanOptions) -> Known:
    """What is known of the data, or how to find it for a query."""
    keys, known = given.get("distinct_keys"), given.get("statistics")
    if isinstance(known, str):
        return partial(statistics, data, how=known, keys=1 if keys is None else keys)
    resolved = resolve_statistics(known, given.get("rows"), keys, given.get("rate"))
    if resolved is ASSUMED:
        return lambda query: engine.glance(data, query, ASSUMED)
    return resolved

"""as_of: every row with the aggregates of its own trailing windows, and the plan of that."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias, get_args

from muntin.aggregates import Aggregate
from muntin.api.bound_plan import BoundPlan
from muntin.api.engine import engine_of
from muntin.api.plan import Table
from muntin.engines.as_of import BoundAsOf
from muntin.engines.engine import CONTROL_ON_BATCH, HISTORY_ON_BATCH
from muntin.errors import ColumnError, StrategyError, is_one_of, unknown
from muntin.model.as_of import AsOf, as_of_query
from muntin.model.choices import Closed, FrameOperator, FrameOutput
from muntin.model.durations import Duration
from muntin.model.frames import Trailing
from muntin.model.history import HistoryTable
from muntin.state.control import Control

TrailingWindows: TypeAlias = "Trailing | Duration | Iterable[Trailing | Duration]"


def as_of(
    rows: Table,
    time: str,
    windows: TrailingWindows,
    aggregates: Iterable[Aggregate],
    keys: str | Iterable[str] = (),
    *,
    events: object = None,
    events_time: str | None = None,
    where: str | None = None,
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
) -> Table:
    """Every row with the aggregates of its own trailing windows: what was known as of its time.

    `windows` are durations, mt.trailing("1 hour", delay=..., id=...), mt.trailing(rows=10) and
    mt.lifetime(). The events are the rows themselves, or those of another table, `events`, with
    their time in `events_time` (by default the same name); `where` leaves events out, never rows.
    With closed="left" a window of length d holds the events of the row's keys in [t − d, t):
    nothing of the row's own instant, and so nothing of the future. "right" is (t − d, t], "both"
    [t − d, t] and "none" (t − d, t).

    The result has all rows and all their columns, and a column `<aggregate>__<window>` for each
    pair, such as `max_delay__1_hour`. A row without events gets what the aggregate gives of no
    rows (a count of 0, a sum of null); where the time of a row is null, so are its features.

    mt.trailing(rows=10) takes the last ten events up to t, and of the instant t itself only where
    `closed` says so. Events of one instant are ordered by `order_by`, then by what the aggregates
    read, nulls first. On Spark, `operator` is "frames" (our kernel), "range" (Spark's own RANGE
    frames and joins) or "auto"; mt.explain, with the same arguments, shows what would run.

    With a `grain`, such as "1 minute", windows of at least twelve of them begin at a multiple of
    it: at the last one up to t − d. So they are up to one grain longer than d, and less is kept.

    Of a streaming DataFrame, each row comes out once, when the `watermark` has passed its time:
    with the features that a batch of all rows that were not late gives it. `events` are another
    stream then, and the watermark is the lesser of both. output="arrival" lets
    rows out at once, with what has arrived by then. `buckets` is how many parts the keys are spread
    over, by default as many as there are shuffle partitions. Rows more than `future` ahead of the
    clock are left out and counted. On batches all four change nothing. A stream may start from
    `history`, mt.History(table, until=...): its rows from that instant on reach the events of the
    table before it.

    With a `control`, mt.Control(path), trailing windows come and go while a stream runs. Columns
    cannot, so each row comes out once for every window of the moment: `window_id`, the columns of
    the row, and a column for each aggregate, such as `max_delay`.

    >>> import muntin as mt, pyarrow as pa
    >>> from datetime import datetime
    >>> times = [datetime(2026, 1, 1, 0, minute) for minute in (0, 10, 30)]
    >>> rows = pa.table({"ts": times, "v": [1, 2, 4]})
    >>> windows = ["15 minutes", mt.lifetime()]
    >>> found = mt.as_of(rows, time="ts", windows=windows, aggregates=[mt.sum("v")])
    >>> found["sum_v__15_minutes"].to_pylist(), found["sum_v__lifetime"].to_pylist()
    ([None, 1, None], [None, 1, 3])
    """
    plan = explain_as_of(
        rows,
        time,
        windows,
        aggregates,
        keys,
        where,
        events,
        events_time,
        closed,
        operator,
        order_by,
        grain,
        watermark=watermark,
        output=output,
        buckets=buckets,
        future=future,
        history=history,
        control=control,
    )
    result: Table = plan.run()
    return result


_ONE_IS_A_STREAM = {
    "stream": "rows are a stream and events a table: give events as a stream too, with "
    "spark.readStream, or call mt.as_of in foreachBatch, on the rows of a batch and the table",
    "spark": "rows are a table and events a stream, which has no end to wait for: read the events "
    "with spark.read, or give the rows as a stream too, with spark.readStream",
}
"""Why a stream and a table do not meet, by the engine of the rows."""


class AsOfPlan(BoundPlan[BoundAsOf]):
    """What mt.as_of would run on these very tables: print it, run it, or verify it."""

    __slots__ = ()

    @property
    def asked(self) -> AsOf:
        """The question: windows, aggregates, keys, and which bounds belong to a window."""
        return self.bound.asked


def explain_as_of(
    rows: object,
    time: str,
    windows: TrailingWindows,
    aggregates: Iterable[Aggregate],
    keys: str | Iterable[str] = (),
    where: str | None = None,
    events: object = None,
    events_time: str | None = None,
    closed: Closed = "left",
    operator: FrameOperator = "auto",
    order_by: str | Iterable[str] = (),
    grain: Duration | None = None,
    *,
    watermark: Duration | None = None,
    output: FrameOutput = "append",
    buckets: int | None = None,
    future: Duration | None = None,
    history: HistoryTable | None = None,
    control: Control | None = None,
) -> AsOfPlan:
    """The question of mt.as_of and of mt.explain, checked and bound to its tables."""
    apart = events is not None
    asked = as_of_query(
        time, windows, aggregates, keys, where, closed, events_time, apart, order_by, grain
    )
    stream: dict[str, object] = {"watermark": watermark, "output": output, "buckets": buckets}
    stream |= {"future": future, "history": history, "control": control}
    return plan_as_of(rows, asked, events, operator, **stream)


def plan_as_of(
    rows: object, asked: AsOf, events: object, operator: str, **stream: object
) -> AsOfPlan:
    """The question bound to its tables; refused where they are of two kinds."""
    for name, given, words in (
        ("operator", operator, get_args(FrameOperator)),
        ("output", stream["output"], get_args(FrameOutput)),
    ):
        if not is_one_of(given, words):
            raise StrategyError(unknown(name, given, words))
    engine = engine_of(rows)
    for what, reason in (("history", HISTORY_ON_BATCH), ("control", CONTROL_ON_BATCH)):
        if stream.get(what) is not None and engine.name != "stream":
            raise StrategyError(reason)
    if events is not None and (other := engine_of(events).name) != engine.name:
        if {engine.name, other} == {"spark", "stream"}:
            raise ColumnError(_ONE_IS_A_STREAM[engine.name])
        raise ColumnError(
            f"rows are a {type(rows).__name__} and events a {type(events).__name__} of another "
            "engine: give both as Spark DataFrames, or both as tables in process"
        )
    return AsOfPlan(engine.bind_as_of(rows, asked, events, operator, **stream))

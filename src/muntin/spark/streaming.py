"""A sharing plan on a streaming DataFrame: one read of the source, one stateful query.

The caller starts the query and chooses its sink and checkpoint, as for any streaming DataFrame;
`output` must be the mode that it is started with.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import get_args

from pyspark.sql import DataFrame

from muntin.choices import Output
from muntin.control import Control
from muntin.durations import Duration, microseconds
from muntin.errors import ColumnError, ControlError, StrategyError, is_one_of, shown, unknown
from muntin.physical import Operators
from muntin.plan import SharingPlan
from muntin.query import Query
from muntin.spark.beside import unshared
from muntin.spark.bucketed import bucketed_refusal, by_bucketed, check_buckets
from muntin.spark.controlled import by_controlled
from muntin.spark.faults import told
from muntin.spark.names import quoted
from muntin.spark.native_stream import by_native
from muntin.spark.progress import observed
from muntin.spark.record_stream import by_records
from muntin.spark.stream_source import StreamSource, delay_of, time_field
from muntin.userwindows.memory import keeps_records
from muntin.windows import Window


@dataclass(frozen=True, slots=True)
class Streaming:
    """What only a stream is told: how late rows may be, and which results are given out when.

    `started_with` are the windows of the query that the checkpoint was started with, where they
    are not those asked for now; `buckets` is how many the bucketed operator spreads the keys over;
    with a `control` windows come and go.
    """

    watermark: Duration | None = None
    output: str = "append"
    started_with: Iterable[Window] | None = None
    buckets: int | None = None
    control: Control | None = None

    def __post_init__(self) -> None:
        if not is_one_of(self.output, get_args(Output)):
            raise StrategyError(unknown("output", self.output, get_args(Output)))
        check_buckets(self.buckets)
        if self.watermark is not None:
            _delay(self.watermark)


def apply_to_stream(
    plan: SharingPlan,
    query: Query,
    df: DataFrame,
    operators: Operators,
    streaming: Streaming,
) -> DataFrame:
    """The rows of the query as a streaming DataFrame, in the long layout."""
    check_streamable(query, df)
    if query.data_windows:
        return _by_data(plan, query, df, streaming)
    marked = watermarked(df, query, streaming)
    source = StreamSource.of(plan, query, marked)
    if streaming.control is not None:
        return _controlled(source, operators, streaming)
    rows = _rows(source, operators, streaming)
    return observed(rows, [w.id for w in query.windows])


def _rows(source: StreamSource, operators: Operators, streaming: Streaming) -> DataFrame:
    asked = operators.reason == "as asked"
    if operators.name == "bucketed" and (asked or streaming.started_with is None):
        refusal = bucketed_refusal(source, streaming.output, source.watermarked)
        if refusal is None:
            return by_bucketed(source, streaming.output, streaming.buckets)
        if asked:  # what was only predicted faster may give way
            raise StrategyError(f"operator 'bucketed' cannot run this stream: {refusal}")
        warnings.warn(
            "operator 'native' runs this stream: 'bucketed' is predicted to be faster, but "
            f"{refusal}; operator='native' says that this is meant",
            stacklevel=2,
        )
    started_with = _started_with(source.query, streaming.started_with)
    return by_native(source, started_with, streaming.output)


def _by_data(plan: SharingPlan, query: Query, df: DataFrame, streaming: Streaming) -> DataFrame:
    """Windows that the data decides, and periodic ones beside them."""
    first = query.data_windows[0].id
    if streaming.output != "append":
        raise StrategyError(
            f"output={streaming.output!r} cannot run with window {first!r}: which records it holds "
            "is known only when the watermark has passed them; use output='append'"
        )
    for what, given in (("started_with", streaming.started_with), ("control", streaming.control)):
        if given is not None:
            raise StrategyError(
                f"{what} is for periodic windows alone, and the data decides where {first!r} "
                "begins and ends: leave it out, or ask for the windows in two queries"
            )
    rows = by_records(plan, query, watermarked(df, query, streaming), streaming.buckets)
    return observed(rows, [w.id for w in query.windows] + [w.id for w in query.data_windows])


def _controlled(source: StreamSource, operators: Operators, streaming: Streaming) -> DataFrame:
    """With a control, all windows are computed from slices of the moment by one operator."""
    if not isinstance(streaming.control, Control):
        raise ControlError(f"control {shown(streaming.control)} must be mt.Control(path)")
    if operators.name == "native" and operators.reason == "as asked":
        raise StrategyError("operator 'native' has fixed windows: leave out it or control")
    refusal = bucketed_refusal(source, streaming.output, source.watermarked)
    if refusal is not None:
        raise StrategyError(f"a control needs operator 'bucketed', which cannot run: {refusal}")
    return by_controlled(source, streaming.output, streaming.buckets, streaming.control)


def check_streamable(query: Query, df: DataFrame) -> None:
    """Refuse what cannot run on a stream, with the reason."""
    for name, reason in unshared(query, df).items():
        raise StrategyError(
            f"{name} cannot run on a stream: it {reason}; leave it out, or compute it on batches"
        )
    own = next((a.name for a in query.aggregates if a.function.in_python), None)
    if own:
        raise StrategyError(
            f"{own} cannot run on a stream: it is written in Python, and its partials have no "
            "form in which Spark could keep them; use Spark's aggregates, or run it on batches"
        )
    own = next((w.id for w in query.data_windows if keeps_records(w)), None)
    if own:
        raise StrategyError(
            f"window {own!r} cannot run on a stream: its policy counts the records that leave, so "
            "that all would be kept one by one; give a window function or a deterministic policy, "
            "or run it on batches"
        )
    if query.set_back:
        raise StrategyError(
            f"bounds={query.bounds!r} cannot run on a stream: Spark's watermark closes instances "
            "at their end, where these still take rows; use the default bounds"
        )


def watermarked(df: DataFrame, query: Query, streaming: Streaming) -> DataFrame:
    """The stream with a watermark on its time column: its own, or the one given."""
    field = time_field(df, query)
    if field is None:
        raise ColumnError(
            f"time {query.time!r} is not a column of its own: a stream's watermark needs one; "
            f"select it first, with .withColumn('time', ...)"
        )
    own = delay_of(df, query) is not None
    if streaming.watermark is None:
        if not own and streaming.output == "append":
            raise StrategyError(
                "append mode emits a window when the watermark has passed its end, and this "
                "stream has none: give watermark='10 minutes', or how late rows may be"
            )
        return df
    if own:
        raise StrategyError(
            f"watermark {shown(streaming.watermark)} is given, but time {query.time!r} already "
            "has one: leave out one of them"
        )
    kind = field.dataType.simpleString()
    if kind != "timestamp":
        raise ColumnError(
            f"time {query.time!r} is {kind}, and a stream's watermark needs a timestamp: convert "
            f"it first, for instance with CAST({quoted(field.name)} AS TIMESTAMP)"
        )
    delay = f"{_delay(streaming.watermark)} milliseconds"
    with told(f"time {query.time!r} cannot be computed"):
        marked = df.withWatermark(quoted(field.name), delay)
        marked.schema  # noqa: B018
    return marked


def _delay(watermark: Duration) -> int:
    """Milliseconds, in which Spark counts watermarks."""
    delay = microseconds(watermark, "watermark")
    if delay < 0 or delay % 1000:
        raise StrategyError(
            f"watermark {shown(watermark)} must be whole milliseconds, none or more"
        )
    return delay // 1000


def _started_with(query: Query, given: Iterable[Window] | None) -> tuple[Window, ...]:
    """The windows that the guard stands for: those asked for now may only be fewer."""
    if given is None:
        return query.windows
    known = (given,) if isinstance(given, Window) else given
    if not isinstance(known, Iterable) or isinstance(known, str):
        raise StrategyError(f"started_with {shown(given)} must be a list of windows")
    known = tuple(known)
    for window in query.windows:
        if window not in known:
            raise StrategyError(
                f"window {window.id!r} is not among those that the checkpoint was started with: "
                "with operator 'native' windows can be left out at a restart, not added, since "
                "their first instances would lack the rows before it; use a new checkpoint"
            )
    return known

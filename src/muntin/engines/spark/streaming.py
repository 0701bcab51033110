"""The options of a stream, checked: its watermark, its mode, what its checkpoint was made for.

The caller starts the query and chooses its sink and checkpoint, as for any streaming DataFrame;
`output` must be the mode that it is started with.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import get_args

from pyspark.sql import DataFrame

from muntin.engines.spark.faults import translate_refusals
from muntin.engines.spark.future_rows import leave_out_future
from muntin.engines.spark.history import check_history
from muntin.engines.spark.layout import FILL_PERIODIC
from muntin.engines.spark.names import quoted
from muntin.engines.spark.stream_source import delay_of, time_field
from muntin.engines.spark.unshared import find_unshared
from muntin.errors import (
    ColumnError,
    ControlError,
    QueryError,
    StrategyError,
    is_between,
    is_one_of,
    shown,
    unknown,
)
from muntin.model.choices import DueTechnique, LateRows, Output
from muntin.model.durations import Duration, microseconds
from muntin.model.history import HistoryTable
from muntin.model.query import Query
from muntin.model.windows import Window, fill_length
from muntin.state.control import Control
from muntin.state.corrected import REVISION
from muntin.state.missed import MISSED, RECORDS


@dataclass(frozen=True, slots=True)
class Streaming:
    """The options of a stream: how late rows may be, and which results come out when.

    `started_with` are the windows of the query that the checkpoint was started with, where they
    are not those asked for now; `buckets` is how many the bucketed operator spreads the keys over,
    and `technique` what answers its windows when they are due; with a `control` windows come and
    go. Rows more than `future` ahead of the clock are left out. Windows that have fired are kept
    for the `allowed_lateness`. Where `empty` is "fill", keys without rows get empty windows until
    they have been silent for longer than `fill_for`. What is too late is dropped, or where
    `late_rows` says "keep" comes out beside the results; "records" brings the rows along, too. The
    stream starts from a `history`, if there is one.
    """

    watermark: Duration | None = None
    output: str = "append"
    started_with: Iterable[Window] | None = None
    buckets: int | None = None
    technique: str = "auto"
    control: Control | None = None
    future: Duration | None = None
    allowed_lateness: Duration | None = None
    empty: str = "omit"
    fill_for: Duration | None = None
    late_rows: str = "drop"
    history: HistoryTable | None = None

    def __post_init__(self) -> None:
        if not is_one_of(self.output, get_args(Output)):
            raise StrategyError(unknown("output", self.output, get_args(Output)))
        if not is_one_of(self.technique, get_args(DueTechnique)):
            raise StrategyError(unknown("technique", self.technique, get_args(DueTechnique)))
        if not is_one_of(self.late_rows, get_args(LateRows)):
            raise StrategyError(unknown("late_rows", self.late_rows, get_args(LateRows)))
        _check_buckets(self.buckets)
        if self.control is not None and not isinstance(self.control, Control):
            raise ControlError(f"control {shown(self.control)} must be mt.Control(path)")
        if self.watermark is not None:
            _delay(self.watermark)
        if self.future is not None and microseconds(self.future, "future") < 0:
            raise StrategyError(
                f"future {shown(self.future)} must not be negative: it is how far ahead of the "
                "clock rows may be"
            )
        if self.lateness is not None:
            self._check_lateness(self.lateness)
        if self.keeps_late:
            self._check_keeping()
        if self.empty == "fill":
            self._check_filling()
        elif self.fill_for is not None:
            raise StrategyError(
                f"fill_for {shown(self.fill_for)} is how long empty windows are emitted: give "
                "empty='fill' too, or leave it out"
            )
        if self.history is not None:
            self._check_history()

    @property
    def lateness(self) -> int | None:
        """Microseconds for which fired windows are kept, if they are."""
        given = self.allowed_lateness
        return None if given is None else microseconds(given, "allowed_lateness")

    @property
    def beside(self) -> tuple[str, ...]:
        """The columns that results have besides keys and aggregates."""
        revised = self.lateness is not None and self.output == "append"
        late = [MISSED] if self.keeps_late else []
        return (
            *([REVISION] if revised else []),
            *late,
            *([RECORDS] if self.keeps_records else []),
        )

    @property
    def keeps_late(self) -> bool:
        """Whether what is too late comes out beside the results."""
        return self.late_rows != "drop"

    @property
    def keeps_records(self) -> bool:
        """Whether what is too late brings the rows along that it was made of."""
        return self.late_rows == "records"

    def fill_length(self, query: Query) -> int | None:
        """For how many microseconds silent keys get empty windows, if they do."""
        return fill_length(query.windows, self.fill_for) if self.empty == "fill" else None

    @property
    def keeps_slices(self) -> str | None:
        """The option for which the stream must keep slices of its own, if there is one."""
        if self.lateness is not None:
            return "allowed_lateness"
        if self.keeps_late:
            return f"late_rows={self.late_rows!r}"
        return "empty='fill'" if self.empty == "fill" else None

    def _check_keeping(self) -> None:
        if self.output == "complete":
            raise StrategyError(
                f"late_rows={self.late_rows!r} is given, but in complete mode no row is too late: "
                "leave it out"
            )
        if self.control is not None:
            raise StrategyError(
                f"late_rows={self.late_rows!r} is given, but windows of a control come and go, so "
                "that nothing says which of them a row has missed: leave out one of them"
            )

    def _check_filling(self) -> None:
        if self.fill_for is not None and microseconds(self.fill_for, "fill_for") <= 0:
            raise StrategyError(
                f"fill_for {shown(self.fill_for)} must be more than zero: it is how long a key "
                "without rows still gets empty windows"
            )
        for what, given, why in (
            ("output", self.output != "append", "a window is empty only once it is complete"),
            ("control", self.control is not None, "its windows come and go"),
            ("allowed_lateness", self.lateness is not None, "late rows may still fill a window"),
        ):
            if given:
                raise StrategyError(
                    f"empty='fill' on a stream cannot go with {what}="
                    f"{shown(getattr(self, what))}: {why}; leave out one of them"
                )

    def _check_lateness(self, lateness: int) -> None:
        given = shown(self.allowed_lateness)
        if lateness <= 0:
            raise StrategyError(
                f"allowed_lateness {given} must be more than zero: it is how long windows that "
                "have fired may still be corrected; leave it out if they may not"
            )
        if self.output == "complete":
            raise StrategyError(
                f"allowed_lateness {given} is given, but in complete mode no window is ever "
                "final: leave it out, or use output='append'"
            )
        if self.control is not None:
            raise StrategyError(
                f"allowed_lateness {given} is given, but windows of a control leave when they "
                "are suspended, and are not kept to be corrected: leave out one of them"
            )

    def _check_history(self) -> None:
        check_history(self.history)
        if self.started_with is not None:
            raise StrategyError(
                "started_with is for restarts of 'native', which cannot start from history: leave "
                "out one of them"
            )

    @property
    def until(self) -> int | None:
        """Where the stream begins, if it starts from history."""
        return None if self.history is None else self.history.instant


def check_beside(query: Query, beside: Iterable[str]) -> None:
    """Refuse a key or an aggregate with the name of a column that the stream itself has."""
    for name in (*query.keys, *(a.name for a in query.aggregates)):
        if name.lower() in beside:
            raise QueryError(
                f"column {name!r} is what this stream itself calls one of its columns: rename the "
                "key, or give the aggregate another .alias(...)"
            )


def check_for_data_windows(query: Query, streaming: Streaming) -> None:
    """Refuse what windows that the data decides cannot have."""
    first = query.data_windows[0].id
    if streaming.output == "complete":
        raise StrategyError(
            f"output='complete' cannot run with window {first!r}: every window that ever was would "
            "be kept; use output='append', or 'update' for early results"
        )
    if streaming.keeps_late:
        raise StrategyError(
            f"late_rows={streaming.late_rows!r} is for periodic windows alone, and the data "
            f"decides where {first!r} begins and ends: leave it out, or ask for the windows in two "
            "queries"
        )
    if streaming.empty == "fill":
        raise StrategyError(FILL_PERIODIC)
    for what in ("started_with", "allowed_lateness"):
        if getattr(streaming, what) is not None:
            raise StrategyError(
                f"{what} is for periodic windows alone, and the data decides where {first!r} "
                "begins and ends: leave it out, or ask for the windows in two queries"
            )


def check_streamable(query: Query, df: DataFrame) -> None:
    """Refuse what cannot run on a stream, with the reason."""
    for name, reason in find_unshared(query, df).items():
        raise StrategyError(
            f"{name} cannot run on a stream: it {reason}; leave it out, or compute it on batches"
        )
    own = next((a.name for a in query.aggregates if a.function.in_python), None)
    if own and not query.data_windows:
        raise StrategyError(
            f"{own} cannot run on a stream of periodic windows alone: it is written in Python, and "
            "its partials have no form in which Spark could keep them; use Spark's aggregates, run "
            "it on batches, or ask for a window that the data decides, such as mt.session, too"
        )
    if query.set_back:
        raise StrategyError(
            f"bounds={query.bounds!r} cannot run on a stream: Spark's watermark closes instances "
            "at their end, where these still take rows; use the default bounds"
        )


def set_watermark(df: DataFrame, query: Query, streaming: Streaming) -> DataFrame:
    """The stream with a watermark on its time column: its own, or the one given."""
    field = time_field(df, query)
    if field is None:
        raise ColumnError(
            f"time {query.time!r} is not a column of its own: a stream's watermark needs one; "
            f"select it first, with .withColumn('time', ...)"
        )
    own = delay_of(df, query) is not None
    if streaming.future is not None:
        _check_future(query, streaming, own)
    if streaming.watermark is None:
        if not own and (streaming.output == "append" or query.data_windows):
            needs = (
                "append mode emits a window when the watermark has passed its end"
                if streaming.output == "append"
                else "windows that the data decides take records that the watermark has passed"
            )
            raise StrategyError(
                f"{needs}, and this stream has none: give watermark='10 minutes', or how late rows "
                "may be"
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
    with translate_refusals(f"time {query.time!r} cannot be computed"):
        if streaming.future is not None:
            ahead = microseconds(streaming.future, "future")
            df = leave_out_future(df, quoted(field.name), ahead)
        marked = df.withWatermark(quoted(field.name), delay)
        marked.schema  # noqa: B018
    return marked


def _check_future(query: Query, streaming: Streaming, own: bool) -> None:
    """Refuse to leave rows out where a watermark has seen them already, or where there is none."""
    if own:
        raise StrategyError(
            f"future {shown(streaming.future)} is given, but time {query.time!r} already has a "
            "watermark, which has seen all rows: leave out .withWatermark(...) and give watermark="
        )
    if streaming.watermark is None:
        raise StrategyError(
            f"future {shown(streaming.future)} keeps rows from moving the watermark, and this "
            "stream has none: give watermark='10 minutes', or leave out future"
        )


def _check_buckets(given: object) -> None:
    """Refuse a number of buckets that cannot be, whether or not buckets are used."""
    if given is not None and not (isinstance(given, int) and is_between(given, 1, 2**15)):
        raise StrategyError(f"buckets {shown(given)} must be a whole number from 1 to 32768")


def _delay(watermark: Duration) -> int:
    """Milliseconds, in which Spark counts watermarks."""
    delay = microseconds(watermark, "watermark")
    if delay < 0 or delay % 1000:
        raise StrategyError(
            f"watermark {shown(watermark)} must be whole milliseconds, none or more"
        )
    return delay // 1000


def check_started_with(query: Query, given: Iterable[Window] | None) -> tuple[Window, ...]:
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

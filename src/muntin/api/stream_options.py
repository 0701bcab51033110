"""Options by keyword, as TypedDicts: calls stay flat, signatures short, editors complete them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypedDict

from muntin.cost import Statistics
from muntin.errors import QueryError, did_you_mean
from muntin.model.choices import (
    Cost,
    DueTechnique,
    LateRows,
    Operator,
    Output,
    Sampling,
    Strategy,
)
from muntin.model.durations import Duration
from muntin.model.history import HistoryTable
from muntin.model.windows import Window
from muntin.state.control import Control


class StreamOptions(TypedDict, total=False):
    """What only a streaming DataFrame is told; on a batch it changes nothing.

    Give these to mt.aggregate, mt.explain and Plan.apply as keywords; an editor completes them.

    >>> import muntin as mt
    >>> options: mt.StreamOptions = {"watermark": "5 minutes", "output": "update"}
    >>> ticks = spark.readStream.format("rate").load()
    >>> asked = {"windows": [mt.tumbling("1 hour")], "aggregates": [mt.count()]}
    >>> mt.aggregate(ticks, time="timestamp", **asked, **options).isStreaming
    True
    """

    watermark: Duration | None
    """How late rows may be; none is needed where the time column has a watermark."""
    output: Output
    """The mode that the query will be started with: "append" if not given."""
    started_with: Iterable[Window] | None
    """The windows that its checkpoint was started with, if they were others."""
    buckets: int | None
    """How many parts "bucketed" spreads the keys over: by default as many as there are shuffle
    partitions, and always as many as its checkpoint was started with."""
    technique: DueTechnique
    """What answers the windows that are due on "bucketed": a ladder of blocks ("b-int"), suffixes
    and prefixes of blocks ("two-stacks"), every slice ("panes"), or what reads least ("auto")."""
    allowed_lateness: Duration | None
    """Windows that have fired are kept so much longer, and emitted again when late rows change
    them: a column `revision` counts from 0. In update mode they just stay open so much longer."""
    fill_for: Duration | None
    """With empty="fill": how long a key without rows still gets empty windows; by default as long
    as its longest window."""
    late_rows: LateRows
    """With "keep", what is too late comes out beside the results, with the windows that it
    `missed`: a sink with late_to= writes it aside. With "records", so do the rows themselves."""
    future: Duration | None
    """Rows whose time is further ahead of the clock than this are left out before the watermark
    sees them, and counted: one row from the year 2100 would make all that follow late."""
    control: Control | None
    """Windows are then registered and suspended while the stream runs."""

    history: HistoryTable | None
    """What the stream starts from, mt.History(table, until=...): docs/history.md."""


class PlanOptions(StreamOptions, total=False):
    """How mt.aggregate and mt.explain plan, what is known of the data, and a stream's options.

    All are keywords, and none is needed. A name that is not among them is refused.

    >>> import muntin as mt, pyarrow as pa
    >>> from datetime import datetime
    >>> rows = pa.table({"ts": [datetime(2026, 1, 1)], "v": [1]})
    >>> asked = {"time": "ts", "windows": [mt.tumbling("1 hour")], "aggregates": [mt.sum("v")]}
    >>> options: mt.PlanOptions = {"strategy": "shared-panes", "rows": 1e9}
    >>> mt.explain(rows, **asked, **options).strategy
    'shared-panes'
    >>> mt.aggregate(rows, **asked, stratgy="direct")
    Traceback (most recent call last):
    muntin.errors.QueryError: unknown option 'stratgy': did you mean 'strategy'?
    """

    strategy: Strategy
    """How the plan is found: "auto" if not given."""
    cost: Cost
    """What strategies reduce: predicted "seconds" if not given."""
    operator: Operator | None
    """What runs the plan, if that is not to be chosen: docs/operators.md."""
    rate: float | None
    """Events per second of event time, over all keys."""
    distinct_keys: float | None
    """How many different keys there are."""
    rows: float | None
    """How many rows there are."""
    statistics: Sampling | Statistics | None
    """All three, as mt.statistics finds them, or "sample" or "metadata" to find them now."""
    order_by: str | Iterable[str]
    """What records of equal time are ordered by, where order matters."""


STREAM_OPTIONS = frozenset(StreamOptions.__annotations__)


def check_names(given: Mapping[str, object], known: type[StreamOptions]) -> None:
    """Refuse an option that there is not: Python itself takes any keyword."""
    names = known.__annotations__
    for name in given:
        if name not in names:
            raise QueryError(f"unknown option {name!r}: {did_you_mean(name, names)}")

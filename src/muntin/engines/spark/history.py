"""History on Spark: the rows of a table before an instant become the state of a stream.

    table ─ needed rows before `until` ─ grouped to slices ─ packed by bucket ─ initialState
            pushed down to the files     JVM, one shuffle    mapInArrow         of the first batch

The first level of the plan is grouped as in a batch, so nothing is replayed through the stream. It
is part of the first micro-batch: a restart before that has ended repeats it, a later one never
reads the table again. Every bucket gets at least one row, so that all begin at the same instant.

Rows that are not taken are counted where they are left out: those of the table from `until` on
that the files hold, and in every micro-batch those of the stream before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from muntin.aggregates.columns import Input
from muntin.dialects.spark_text import SparkWriter
from muntin.engines.spark.arrow_stage import keep_limit, map_in_arrow
from muntin.engines.spark.key_marks import mark_keys
from muntin.engines.spark.layout import FILL_PERIODIC, fill_empty, lay_out
from muntin.engines.spark.names import find_column, quoted
from muntin.engines.spark.packing import BUCKET, Packing
from muntin.engines.spark.session_facts import is_stream
from muntin.engines.spark.stream_source import time_field
from muntin.engines.spark.table import Table, columns_in, prepare
from muntin.errors import ColumnError, MuntinError, StrategyError, shown
from muntin.kernels.portions import portions
from muntin.model.durations import Duration
from muntin.model.history import HistoryTable
from muntin.model.query import Query
from muntin.model.windows import fill_length

BEFORE, AFTER = "before_until", "after_until"
"""Metrics: rows of the stream before `until`, and rows of the table from there on."""

PORTION, MOST_PORTIONS = 64_000, 16
"""Slices that are packed together for each bucket, and how many buckets count: so a cell has a few
megabytes where there is one bucket, and is not tiny where there are many."""

CELLS = "bucket int, pieces binary"
_made = count(1)
"""A query may hold several plans, and no two metrics of one name."""


def check_history(given: object) -> None:
    """Refuse what is no history, and what is no table of earlier rows."""
    if not isinstance(given, HistoryTable):
        raise StrategyError(
            f"history {shown(given)} must be mt.History(table, until='2026-11-01T00:00:00Z')"
        )
    table = given.table
    if table is None:
        return
    if not isinstance(table, DataFrame):
        raise ColumnError(
            f"history {shown(type(table).__name__)} must be a Spark DataFrame, as the stream is: "
            "spark.read.parquet(path) or spark.createDataFrame(rows) makes one"
        )
    if is_stream(table):
        raise StrategyError(
            "history is a streaming DataFrame, and what a stream starts from must be finished: "
            "read the table with spark.read"
        )


def take_after(table: Table, until: int) -> Table:
    """The prepared rows of a stream from `until` on; those before are counted."""
    return replace(table, rows=_divide(table.rows, f"t < {until}L", BEFORE))


def rows_of_history(given: HistoryTable, query: Query, stream: Table, since: int | None) -> Table:
    """The prepared rows of the history from `since` up to `until`."""
    df = given.table
    assert isinstance(df, DataFrame), "it was checked"
    try:
        kind = time_field(df, query)
        if since is not None and kind is not None and kind.dataType.simpleString() == "timestamp":
            df = df.where(F.col(quoted(kind.name)) >= F.timestamp_micros(F.lit(since)))
        table = prepare(df, query)
    except MuntinError as error:
        raise type(error)(f"history: {error}") from None
    return take_before(given, table, stream, query, stream.columns.inputs, since)


def rows_after(df: DataFrame, query: Query, until: int) -> DataFrame:
    """The rows of a stream from `until` on, and those without a time; those before are counted."""
    time = find_column(query.time, columns_in(df), "time")
    kind = df.select(F.expr(time)).schema[0].dataType.simpleString()
    early = f"{time} < {SparkWriter().instant(f'{until}L', kind)}"
    return _divide(df, f"coalesce({early}, false)", BEFORE)


def take_before(
    given: HistoryTable,
    table: Table,
    stream: Table,
    query: Query,
    inputs: Sequence[Input],
    since: int | None,
) -> Table:
    """The prepared rows of a history from `since` up to `until`; those after are counted.

    Refused where its columns have other types than those of the stream.
    """
    _check_types(table, stream, query, inputs)
    rows = table.rows if since is None else table.rows.where(f"t >= {since}L")
    return replace(table, rows=_divide(rows, f"t >= {given.instant}L", AFTER))


def _divide(rows: DataFrame, outside: str, name: str) -> DataFrame:
    """The rows that are not outside; those outside are counted. Times are never null here."""
    counted = F.count_if(F.expr(outside)).alias(name)
    observed = rows.observe(f"muntin history {next(_made)}", counted)
    return observed.where(f"NOT ({outside})")


def _check_types(table: Table, stream: Table, query: Query, inputs: Sequence[Input]) -> None:
    """Refuse columns of other types: what they give could not be merged with the stream's."""
    if table.time_type != stream.time_type:
        _refuse(f"time {query.time!r}", table.time_type, stream.time_type)
    words = {key: f"key {name!r}" for key, name in zip(stream.keys, query.keys, strict=True)}
    arguments = zip(stream.values, inputs, strict=True)
    words |= {value: f"input {shown(each.argument)}" for value, each in arguments}
    words |= {o: f"order_by {n!r}" for o, n in zip(stream.order, query.order_by, strict=True)}
    words |= {u: "an input of a window" for u in table.read if u not in words}
    own, other = table.rows.schema, stream.rows.schema
    for name, what in words.items():
        kinds = own[name].dataType.simpleString(), other[name].dataType.simpleString()
        if kinds[0] != kinds[1]:
            _refuse(what, *kinds)


def _refuse(what: str, kind: str, wanted: str) -> None:
    raise ColumnError(
        f"{what} is {kind} in the history and {wanted} in the stream: cast one of them, so that "
        "both sides count alike"
    )


def pack_history(rows: DataFrame, own: tuple[int, ...]) -> DataFrame:
    """Slices with the label of their bucket, packed; and a row for each bucket, if an empty one."""
    body = Rebatched(PORTION * min(len(own), MOST_PORTIONS))
    cells = map_in_arrow(rows, Packing(body, ()), CELLS).unionByName(empty_cells(rows, own))
    keep_limit(rows.sparkSession)  # they are many and large
    return cells


def empty_cells(like: DataFrame, own: tuple[int, ...]) -> DataFrame:
    """A row without slices for each bucket."""
    one = like.sparkSession.range(1, numPartitions=1)
    each = F.explode(F.array(*map(F.lit, own)).cast("array<int>"))
    return one.select(each.alias(BUCKET), F.lit(None).cast("binary").alias("pieces"))


@dataclass(frozen=True, slots=True)
class Rebatched:
    """Batches of a partition in portions of so many rows.

    Spark says of some columns that they are never null; the slices of a stream do not.
    """

    rows: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in portions(batches, self.rows):
            yield from pa.table(table.columns, names=table.column_names).to_batches()


def rows_before(given: HistoryTable, query: Query) -> DataFrame:
    """The rows of the history's table before `until`."""
    check_history(given)
    df = given.table
    assert isinstance(df, DataFrame), "it was checked"
    time = find_column(query.time, columns_in(df), "time")
    kind = df.select(F.expr(time)).schema[0].dataType.simpleString()
    return df.where(f"{time} < {SparkWriter().instant(f'{given.instant}L', kind)}")


def ended(results: DataFrame, until: int) -> DataFrame:
    """Of results in either layout, those of windows that ended at or before an instant."""
    end = "window_end" if "window_end" in results.columns else "window.end"
    kind = results.select(F.col(end)).schema[0].dataType.simpleString()
    return results.where(f"{end} <= {SparkWriter().instant(f'{until}L', kind)}")


def fill_until(
    results: DataFrame, query: Query, until: int, given: Duration | None, layout: str
) -> DataFrame:
    """Results that ended by `until`, with the empty windows of a stream that has come so far."""
    if query.data_windows:
        raise StrategyError(FILL_PERIODIC)
    filled = fill_empty(results, query, until, fill_length(query.windows, given))
    return mark_keys(lay_out(filled, query, layout), ("window_id", "window_end", *query.keys))

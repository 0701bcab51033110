"""Rows that are their own events, on the way to the kernel: what is shuffled, and what is sent.

    rows and their chunk ─ by key and chunk ─ sorted, if Spark sorts ─ columns for Python

Rows are shuffled as they were given, and with nothing besides. What aggregates read is computed
behind that, and each value is sent to Python once: a key, a time or an input that is a column of
the rows is that column, and one column serves all partials that it holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from muntin.aggregates.columns import distinct_inputs
from muntin.aggregates.signatures import has_no_order
from muntin.dialects.spark_text import SparkWriter
from muntin.engines.spark.frame_layout import Layout
from muntin.engines.spark.frame_stage import FrameStage
from muntin.engines.spark.names import column, find_column, named, quoted
from muntin.engines.spark.row_partials import fields_of, one_zero, send_rows
from muntin.engines.spark.table import columns_in, input_column
from muntin.kernels.sent_columns import Sent

if TYPE_CHECKING:
    from muntin.engines.spark.operators.frames import Records

_INSTANTS = ("timestamp", "timestamp_ntz")
"""Types whose Arrow form is microseconds already."""


@dataclass(frozen=True, slots=True)
class Arranged:
    """Records sorted for the kernel, what workers do with them, and which of them are rows.

    `given` are the columns of a row; `is_row` is SQL, None where each record is one.
    """

    sent: DataFrame
    stage: FrameStage
    given: tuple[str, ...]
    is_row: str | None


def arrange_own(records: Records) -> Arranged:
    """The rows of one table, which are the events."""
    own = _OwnEvents(records)
    sent, stage = own.sending
    return Arranged(sent, stage, tuple(f"c{i}" for i, _ in enumerate(own.names)), own.is_row)


@dataclass(frozen=True)
class _OwnEvents:
    records: Records

    @cached_property
    def names(self) -> list[str]:
        """The columns of the rows."""
        return columns_in(self.records.rows)

    @property
    def chunk(self) -> int | None:
        """How long a chunk of time is, or None where keys stay whole."""
        return self.records.chunk

    @cached_property
    def chunk_name(self) -> str:
        """A name for the chunk that no column of the rows has."""
        taken, name = {each.lower() for each in self.names}, "chunk"
        while name in taken:
            name += "_"
        return name

    @cached_property
    def ordered(self) -> DataFrame:
        """The rows as they were given, by key and chunk, in the order of time if Spark sorts."""
        asked, rows = self.records.asked, self.records.rows
        by = [F.expr(sql) for sql in self._keys.values()]
        if self.chunk is not None and asked.reach is not None:
            rows = add_chunk(rows, self._instant, self.chunk, asked.reach, self.chunk_name)
            by.append(column(self.chunk_name))
        time = self._time if self.records.table.time_type in _INSTANTS else self._instant
        return self.records.ordered(rows, by, [F.expr(time), *self._ties])

    @cached_property
    def _keys(self) -> dict[str, str]:
        """SQL for each key, as Spark groups it."""
        table = self.records.table
        sql = [find_column(key, self.names, "key") for key in self.records.asked.keys]
        plain = {f.name: one_zero(f) for f in fields_of(table, table.keys)}
        return {
            k: f"({text}){zero.removeprefix(k)}"
            for (k, zero), text in zip(plain.items(), sql, strict=True)
        }

    @cached_property
    def _time(self) -> str:
        """The time of a row, as SQL."""
        return find_column(self.records.asked.time, self.names, "time")

    @cached_property
    def _instant(self) -> str:
        """The microseconds of that."""
        return SparkWriter().microseconds(self._time, self.records.table.time_type)

    @property
    def _ties(self) -> list[Column]:
        """What orders events of one instant, where that matters."""
        asked, kinds = self.records.asked, dict(self.records.table.rows.dtypes)
        order = [F.expr(find_column(n, self.names, "order_by")) for n in asked.events.order_by]
        if not asked.ordered:
            return order
        inputs = distinct_inputs(self.records.division.own)
        values = zip(self.records.table.values, inputs, strict=True)
        return order + [
            input_column(each, self.names) for v, each in values if not has_no_order(kinds[v])
        ]

    @cached_property
    def _columns(self) -> dict[str, str]:
        """Which keys, times and inputs are just a column of the rows."""
        table = self.records.table
        place = {quoted(name): f"c{i}" for i, name in enumerate(self.names)}
        found = {}
        for k, sql in self._keys.items():
            bare = sql.removeprefix("(").removesuffix(")")
            if bare in place:
                found[k] = place[bare]
        if self._time in place and table.time_type in _INSTANTS:
            found["t"] = place[self._time]
        inputs = distinct_inputs(self.records.division.own)
        for v, each in zip(table.values, inputs, strict=True):
            if each.predicate is None and each.argument in self.names:
                found[v] = place[quoted(each.argument)]
        return found

    @cached_property
    def sending(self) -> tuple[DataFrame, FrameStage]:
        """The sorted records with as few columns as hold all, and what workers do with them."""
        records = self.records
        given = [named(quoted(name), f"c{i}") for i, name in enumerate(self.names)]
        beside = [] if self.chunk is None else [named(quoted(self.chunk_name), "chunk")]
        table = records.table_of(self.ordered, [*given, *beside], records.table)
        lifted = send_rows(table)
        plain = {p.name: self._plain(p.row, p.name) for p in table.columns.partials}
        own = {name: plain[of] or of for name, of in lifted.sent.holder.items()}
        counted = {n: of and (plain[of] or of) for n, of in lifted.sent.counted.items()}
        event = "e" if records.asked.events.where else None
        by = [*(self.holder[k] for k in table.keys), *(["chunk"] if beside else [])]
        needed = [*(["e"] if event else []), *(self.holder[v] for v in records._values)]
        sends = dict.fromkeys([*by, self.holder["t"], *needed, *own.values()])
        kept = [f"c{i}" for i, _ in enumerate(self.names)] + (["chunk"] if beside else [])
        layout = Layout(
            tuple(sends), tuple(by), event=event, holder=self.holder, sent=Sent(own, counted)
        )
        sent = lifted.rows.select(*dict.fromkeys([*kept, *sends]))
        return sent, FrameStage(layout, records.program, records.parts is not None)

    @cached_property
    def holder(self) -> dict[str, str]:
        """Which column holds a key, the time or an input: one of the rows, or its own."""
        table = self.records.table
        return {n: self._columns.get(n, n) for n in ("t", *table.keys, *table.values)}

    @property
    def is_row(self) -> str | None:
        """Only in its own chunk a record is a row."""
        if self.chunk is None:
            return None
        time = instant = self.holder["t"]
        if time != "t":  # a column of the rows, which is no number
            instant = SparkWriter().microseconds(time, self.records.table.time_type)
        return f"chunk <=> {floor_div(instant, self.chunk)}"

    def _plain(self, row: str | None, name: str) -> str | None:
        """The column of the rows that is the partial of every row, or None."""
        table = self.records.table
        kinds = dict(table.rows.dtypes)
        of = row if row in self._columns and row in table.values else None
        made = {f.name: f.dataType.simpleString() for f in table.fields}
        return self._columns[of] if of is not None and kinds[of] == made[name] else None


def add_chunk(
    records: DataFrame, instant: str, chunk: int, reach: int, name: str = "chunk", events: str = ""
) -> DataFrame:
    """Every record in its own chunk, and an event also in the next where it may be reached there.

    Only in its own chunk a record is a row.
    """
    own, latest = (floor_div(each, chunk) for each in (instant, f"({instant} + {reach}L)"))
    where = f"{events} AND " if events else ""
    chunks = f"if({where}{latest} > {own}, array({own}, {own} + 1), array({own}))"
    return records.select("*", named(f"explode({chunks})", name))


def floor_div(position: str, divisor: int) -> str:
    """Division that rounds down also before 1970, where SQL's own rounds towards zero."""
    return f"(({position} - pmod({position}, {divisor}L)) div {divisor}L)"

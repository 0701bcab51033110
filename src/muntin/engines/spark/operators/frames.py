"""Trailing windows on Spark by our kernel: one shuffle, and NumPy in the workers.

    rows ∪ events ─ by key and chunk of time ─ features of each ─ results

Where the rows are the events, they are shuffled as they were given, and what aggregates read is
computed behind that (`own_events`). Rows and events of two tables are lifted before they meet.
Workers sort by time what they can hold, else Spark does (`physical.held_parts`). Python is sent
keys, times and what aggregates read; the rows stay in the JVM (`computed_columns`).
A chunk is several times as long as the longest window, so that one key with many rows is shared out
among tasks; an event also goes to the next chunk where rows of that may reach it. Windows without a
bound in time take all that came before: keys stay whole there, and one partial is carried along,
unless a key has so many rows that it pays to find first what each chunk carries (`carried_events`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, DoubleType, LongType, StructType

from muntin.aggregates.columns import Input, columns_of, distinct_inputs
from muntin.aggregates.signatures import has_no_order
from muntin.dialects.spark_text import SparkWriter
from muntin.engines.spark.carried_events import SEEN, CarriedEvents
from muntin.engines.spark.computed_columns import add_computed, keeps_rows
from muntin.engines.spark.faults import translate_refusals
from muntin.engines.spark.frame_layout import Layout
from muntin.engines.spark.frame_stage import FrameStage
from muntin.engines.spark.names import find_column, named, quoted
from muntin.engines.spark.own_events import Arranged, add_chunk, arrange_own, floor_div
from muntin.engines.spark.row_partials import (
    arrow_refusal,
    fields_of,
    lift_rows,
    one_zero,
)
from muntin.engines.spark.session_facts import spread, wraps
from muntin.engines.spark.table import Table, columns_in, input_column, partial_fields
from muntin.kernels.frame_program import FrameProgram
from muntin.model.as_of import AsOf
from muntin.physical.frame_chunks import halo, is_endless, last_rows
from muntin.physical.operators.frames import Division


@dataclass(frozen=True)
class Records:
    """Rows and events under plain names, for the aggregates that the kernel computes.

    `known` is a table of the same events, whose types are not asked for again; `chunk` is how long
    the chunks of time are, None where keys stay whole; `parts` how many parts workers sort, None
    where Spark sorts.
    """

    rows: DataFrame
    events: DataFrame | None
    asked: AsOf
    division: Division
    kinds: dict[Input, str]
    known: Table | None = None
    chunk: int | None = None
    parts: int | None = None

    def finish(self, arranged: Arranged, computed: DataFrame) -> DataFrame:
        """The rows under their own names, with features that are finished."""
        rows = computed if arranged.is_row is None else computed.where(arranged.is_row)
        own = zip(arranged.given, self.rows.columns, strict=True)
        return rows.select(*(named(c, name) for c, name in own), *self.results("f."))

    def arrange(self) -> Arranged:
        """The records as workers are given them."""
        if self.events is None and not self.carries:
            return arrange_own(self)
        seen = SEEN if self.carries and self.program.carries and last_rows(self.asked) else None
        told = ["t", "row", "e", *([seen] if seen else [])]
        sends = dict.fromkeys([*self._by, *told, *self.program.reads])
        layout = Layout(tuple(sends), self._by, row="row", seen=seen)
        sent = self._ordered(self.joined).withColumn("row", F.expr("r IS NOT NULL"))
        given = tuple(f"r.c{i}" for i, _ in enumerate(self.rows.columns))
        stage = FrameStage(layout, self.program, self.parts is not None)
        return Arranged(sent, stage, given, "row")

    @cached_property
    def program(self) -> FrameProgram:
        """What the workers compute."""
        session = self.rows.sparkSession
        merged, values = self.division.merged, self.division.from_values
        return FrameProgram.of(self.asked, merged, values, self.kinds.__getitem__, wraps(session))

    @cached_property
    def table(self) -> Table:
        """The events with their inputs, and the rows themselves where they are the events."""
        df = self.rows if self.events is None else self.events
        beside = [] if self.events is not None else [_packed(df).alias("r")]
        return self.table_of(df, beside, self.known)

    def table_of(self, df: DataFrame, beside: list[Column], like: Table | None = None) -> Table:
        """Keys, time and inputs of events under plain names, and other columns beside them.

        What is known of the same columns in another table is not asked for again.
        """
        names, query = columns_in(df), self.asked.events
        time = find_column(query.time, names, "time")
        kind = _kind(df, time) if like is None else like.time_type
        inputs = distinct_inputs(self.division.own)
        keys = [find_column(key, names, "key") for key in query.keys]
        order = [find_column(name, names, "order_by") for name in query.order_by]
        v, k, o = (
            tuple(f"{letter}{i}" for i, _ in enumerate(of))
            for letter, of in (("v", inputs), ("k", keys), ("o", order))
        )
        instant = SparkWriter().microseconds(time, kind)
        holds = named(f"({instant}) IS NOT NULL", "e")
        if query.where:
            timed = F.expr(query.where) & F.expr(f"({instant}) IS NOT NULL")
            holds = F.coalesce(timed, F.lit(False)).alias("e")
        rows = df.select(
            *(named(sql, name) for sql, name in zip(keys, k, strict=True)),
            named(instant, "t"),
            holds,
            *(input_column(each, names).alias(name) for each, name in zip(inputs, v, strict=True)),
            *(named(sql, name) for sql, name in zip(order, o, strict=True)),
            *beside,
        )
        if self.events is not None:
            rows = rows.where("e")
        columns = columns_of(self.division.merged, self.kinds.__getitem__)
        own = rows.columns[len(rows.columns) - len(beside) :]
        read = dict.fromkeys([*own, "e", *(v if self.asked.ordered else self._values)])
        fields = partial_fields(rows, columns) if like is None else like.fields
        return Table(rows, columns, kind, k, v, tuple(read), o, fields)

    @cached_property
    def lifted(self) -> DataFrame:
        """Rows and events in one table: where `r` is null, a record is no row but an event."""
        lifted = lift_rows(self.table)
        if self.events is not None:
            with translate_refusals("rows and events do not have the same keys"):
                lifted = lifted.unionByName(self._asking(), allowMissingColumns=True)
                lifted.schema  # noqa: B018  (Connect analyses only now)
        return lifted

    @cached_property
    def joined(self) -> DataFrame:
        """Rows and events in one table, each in its chunks of time."""
        if self.chunk is None:
            return self.lifted
        spread = add_chunk(self.lifted, "t", self.chunk, halo(self.asked), events="e")
        row = F.expr(f"if(chunk <=> {floor_div('t', self.chunk)}, r, NULL)")
        spread = spread.withColumn("r", row)
        return self.carried.add_to(spread) if self.carries else spread

    @property
    def carries(self) -> bool:
        """Whether chunks are given what came before them, for windows without a bound."""
        return self.chunk is not None and self.asked.reach is None

    @property
    def carried(self) -> CarriedEvents:
        """What each chunk is given of all that came before it."""
        assert self.chunk is not None, "keys are cut into chunks"
        table, asked = self.table, self.asked
        inputs = None
        if is_endless(asked):
            keys = [F.expr(one_zero(f)).alias(f.name) for f in fields_of(table, table.keys)]
            inputs = table.rows.select(*keys, "t", "e", *table.values)
            if self.events is not None:
                asking = self._asking().select(*table.keys, "t", "e")
                inputs = inputs.unionByName(asking, allowMissingColumns=True)
        return CarriedEvents(
            self.lifted.drop("r"),
            table.keys,
            self.chunk,
            halo(asked),
            last_rows(asked),
            self.ties,
            inputs,
            self.program.partials,
            {f.name: f.dataType.simpleString() for f in table.fields},
        )

    def _asking(self) -> DataFrame:
        """The rows beside events of another table: keys, time, and the row itself."""
        names = columns_in(self.rows)
        time = find_column(self.asked.time, names, "time")
        kind = _kind(self.rows, time)
        keys = [find_column(key, names, "key") for key in self.asked.keys]
        rows = self.rows.select(
            *(F.expr(sql).alias(f"k{i}") for i, sql in enumerate(keys)),
            F.expr(SparkWriter().microseconds(time, kind)).alias("t"),
            _packed(self.rows).alias("r"),
            F.lit(False).alias("e"),
        )
        table = Table(rows, self.table.columns, kind, self.table.keys, (), (), ())
        zeros = [F.expr(one_zero(f)).alias(f.name) for f in fields_of(table, table.keys)]
        return rows.select(*zeros, "t", "r", "e")

    @property
    def _values(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for v in self.program.values for name in v.columns))

    @property
    def _by(self) -> tuple[str, ...]:
        return (*self.table.keys, *(["chunk"] if self.chunk is not None else []))

    def _ordered(self, joined: DataFrame) -> DataFrame:
        """By key and chunk, in the order of time and of what decides among equal times."""
        return self.ordered(joined, [*map(F.expr, self._by)], [*map(F.expr, ("t", *self.ties))])

    def ordered(self, rows: DataFrame, by: list[Column], order: list[Column]) -> DataFrame:
        """Rows shuffled by key and chunk, and sorted unless workers do that."""
        if self.parts is not None:
            return spread(rows, self.parts, by) if by else rows.repartition(1)
        shuffled = rows.repartition(*by) if by else rows.repartition(1)
        return shuffled.sortWithinPartitions(*by, *order)

    @cached_property
    def ties(self) -> tuple[str, ...]:
        """What orders events of one instant, where that matters."""
        if not self.asked.ordered:
            return self.table.order
        kinds = dict(self.table.rows.dtypes)
        others = (v for v in self.table.values if not has_no_order(kinds[v]))
        return (*self.table.order, *others)

    @property
    def schema(self) -> StructType:
        """A row as it was given, and its features: what a stream gives."""
        return StructType([self.lifted.schema["r"], *self.features])

    @cached_property
    def features(self) -> StructType:
        """What workers find for each frame of a row."""
        fields = [*self.table.rows.schema, *self.table.fields]
        kinds: dict[str, DataType] = {f.name: f.dataType for f in fields}
        own: dict[str, DataType] = {"n": LongType()} if self.program.counter == "n" else {}
        own |= {p.name: kinds[p.name] for p in self.program.partials}
        for each in self.program.values:
            value = kinds[each.columns[0]]
            own[each.name] = {
                "distinct": LongType(),
                "percentile": DoubleType(),
                "nearest": value,
                "set": ArrayType(value),
            }[each.how]
        schema = StructType()
        for i, _ in enumerate(self.asked.frames):
            for name, kind in own.items():
                schema = schema.add(f"f{i}_{name}", kind)
        return schema

    def results(self, inside: str = "") -> list[Column]:
        """The features by name, finished from what workers give, which is inside some column.

        A partial of no events is null, and the number of events 0: these are results as they are.
        """
        found: dict[str, str] = {}
        for i, frame in enumerate(self.asked.frames):
            own = f"{inside}f{i}_"
            held = f"{own}{self.program.counter}"
            finals = columns_of(self.division.merged, self.kinds.__getitem__, own).results
            for aggregate, result in zip(self.division.merged, finals, strict=True):
                sql, empty = result.final, aggregate.function.empty
                if result.partial is None or (empty != "NULL" and result.partial != held):
                    sql = f"CASE WHEN {held} = 0 THEN {empty} WHEN {held} > 0 THEN {sql} END"
                found[self.asked.column(aggregate, frame)] = sql
            for j, aggregate in enumerate(self.division.from_values):
                found[self.asked.column(aggregate, frame)] = f"{own}h{j}"
        return [named(found[name], name) for name in self.asked.columns]


def run(records: Records) -> DataFrame:
    """The rows with the features of the kernel, in the order in which they were asked for."""
    arranged = records.arrange()
    stage = arranged.stage
    computed = add_computed(arranged.sent, "f", stage, stage.layout.sends, records.features)
    return records.finish(arranged, computed)


def stranger(records: Records) -> str | None:
    """Why these rows cannot be handed to Python, or None."""
    sent = [*fields_of(records.table, records.table.keys), *records.table.fields]
    if not keeps_rows(records.rows.sparkSession):
        sent = [*records.rows.schema, *sent]
    foreign = arrow_refusal(sent)
    return f"{foreign} cannot be handed to Python" if foreign else None


def _kind(df: DataFrame, sql: str) -> str:
    """The type of an expression over a table."""
    found: str = df.select(F.expr(sql)).schema[0].dataType.simpleString()
    return found


def _packed(df: DataFrame) -> Column:
    """The row as it was given, in one column."""
    return F.expr(f"struct({', '.join(f'{quoted(n)} AS c{i}' for i, n in enumerate(df.columns))})")

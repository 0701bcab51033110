"""Trailing windows in process: DuckDB reads and finishes, NumPy merges.

    DuckDB   keys and time of the rows; of the events also the partial of each, and values
    NumPy    the frames of every row, merged (`kernels.frame_program`)
    DuckDB   results from merged partials, which stand beside the given rows

The rows come back as they were given, in their order: an Arrow table, a pandas DataFrame or a
DuckDB relation, with one column more for each aggregate and window.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from muntin.aggregates import count
from muntin.aggregates.columns import Input, PartialColumn, columns_of, distinct_inputs
from muntin.dialects import Reading
from muntin.dialects.duckdb_text import final_in_duckdb, parse_spark, transpile
from muntin.dialects.programs import select
from muntin.dialects.rendering import records_sql
from muntin.engines.duckdb.bound_query import check_signature, reading_of, run, spark_type
from muntin.engines.duckdb.conversion import from_arrow, restore_types
from muntin.engines.duckdb.faults import translate_errors, whole_query
from muntin.engines.duckdb.row_order import (
    group_keys,
    instants,
    put_back,
    rank_values,
    sort_lines,
    take_all,
)
from muntin.engines.duckdb.tables import NAME, Source, connect, kind_of_table, open_source
from muntin.engines.verification import Verification
from muntin.errors import AggregateError, ColumnError, StrategyError
from muntin.kernels.frame_portions import evaluate_portions
from muntin.kernels.frame_program import FrameProgram
from muntin.kernels.portions import whole
from muntin.model.as_of import AsOf
from muntin.model.query import Query
from muntin.physical.operators.frames import FRAMES, Division, describe, divide

if TYPE_CHECKING:
    import duckdb

_AS_SPARK = {"timestamp_ns": "timestamp_ntz", "timestamp_tz_ns": "timestamp"}


@dataclass(frozen=True, slots=True)
class InProcessAsOf:
    """A question bound to tables in process."""

    rows: object
    asked: AsOf
    events: object

    def run(self) -> Any:
        """The rows with their features."""
        return run_as_of(self.rows, self.asked, self.events)

    def explain(self) -> list[str]:
        """DuckDB reads and finishes, NumPy merges."""
        others = self.rows if self.events is None else self.events
        return [
            f"as of {self.asked.time}: {FRAMES.name}, in process",
            "",
            "DuckDB reads keys, time and what aggregates take; NumPy sorts events and rows by both",
            *describe(self.asked, _bind(_Given.of(others).data, self.asked).division),
        ]

    def compare(self) -> Verification:
        """Only Spark's functions are judges of ours."""
        raise StrategyError(
            "trailing windows are verified on Spark, by its own RANGE frames: give mt.verify the "
            "plan of the same rows as a Spark DataFrame"
        )


def run_as_of(rows: object, asked: AsOf, events: object = None) -> Any:
    """The rows with their features, as the kind of table given."""
    given = _Given.of(rows)
    asked.check_columns(given.names)
    others = given.data if events is None else _Given.of(events).data
    source = open_source(given.data, asked.rows)
    with translate_errors(whole_query):
        bound = _bind(others, asked)
        read = _read_events(bound)
        same = events is None and read.num_rows == len(given.data)
        keys = read if same else _read_rows(source, asked)
        try:
            merged = _merge(keys, read, bound)
        except OverflowError as error:
            raise ColumnError(f"a sum does not fit its type: {error}") from None
        features = _finish(merged, bound)
    return given.give(restore_types(features, _origins(bound), frozenset()))


@dataclass(frozen=True, slots=True)
class _Given:
    """The table that was given, and the same as one that can be read twice."""

    kind: str | None
    data: Any
    names: tuple[str, ...]

    @staticmethod
    def of(data: Any) -> _Given:
        kind = kind_of_table(data)
        if kind == "duckdb":
            data = data.to_arrow_table()
        names = data.columns if kind == "pandas" else getattr(data, "column_names", ())
        return _Given(kind, data, tuple(map(str, names)))

    def give(self, features: pa.Table) -> Any:
        """The rows with these columns beside them."""
        if self.kind == "pandas":
            import pandas as pd

            own = from_arrow(features, self.data, ())
            own.index = self.data.index
            return pd.concat([self.data, own], axis=1)
        columns = [*self.data.columns, *features.columns]
        both = pa.Table.from_arrays(columns, names=[*self.names, *features.column_names])
        return connect().from_arrow(both) if self.kind == "duckdb" else both


@dataclass(frozen=True, slots=True)
class _Bound:
    """The question and the table of events, checked against each other."""

    asked: AsOf
    source: Source
    read: Reading
    kinds: Mapping[Input, str | None]
    division: Division
    program: FrameProgram


def _bind(events: object, asked: AsOf) -> _Bound:
    query = _counting(asked.events)
    source = open_source(events, query)
    read = reading_of(source, query)
    inputs = distinct_inputs(asked.aggregates)
    text = f"SELECT {', '.join(f'v{i}' for i, _ in enumerate(inputs)) or 't'} FROM (\n"
    found = run(source.relation, text + records_sql(read) + "\n)").types
    kinds = {each: _kind(str(kind)) for each, kind in zip(inputs, found, strict=False)}
    for aggregate in asked.aggregates:
        if aggregate.function.in_python:
            raise AggregateError(
                f"{aggregate.name} is written in Python, and in process there are SQL aggregates "
                "only: use mt.as_of on a Spark DataFrame"
            )
        check_signature(aggregate, kinds.__getitem__)
    division = divide(asked.aggregates, kinds.__getitem__)
    if division.left:
        name = division.left[0].name
        raise AggregateError(
            f"{name} cannot be computed over trailing windows in process: use mt.as_of on a Spark "
            "DataFrame, or cast what it is given to a number, a text or a timestamp"
        )
    # Inputs are numbered as the kernel reads them: first those of partials.
    ordered = replace(query, aggregates=_counts(distinct_inputs(division.own)))
    program = FrameProgram.of(asked, division.merged, division.from_values, kinds.__getitem__)
    return _Bound(asked, source, reading_of(source, ordered), kinds, division, program)


def _counting(query: Query) -> Query:
    """The same events, asked for as many counts as there are inputs: DuckDB only reads them."""
    return replace(query, aggregates=_counts(distinct_inputs(query.aggregates)))


def _counts(inputs: Sequence[Input]) -> tuple[Any, ...]:
    counts = []
    for number, each in enumerate(inputs):
        counted = count(each.argument).alias(f"input {number}")
        counts.append(counted.filter(each.predicate) if each.predicate else counted)
    return tuple(counts) or (count(),)


def _kind(name: str) -> str | None:
    kind = spark_type(name)
    return _AS_SPARK.get(kind, kind) if kind else None


def _read_rows(source: Source, asked: AsOf) -> pa.Table:
    """The keys and the time of every row, in order; a time may be missing."""
    read = reading_of(source, asked.rows)
    writer = read.writer
    instant = writer.microseconds(writer.quoted(asked.time), read.time_kind)
    keys = [f"{writer.quoted(key)} AS k{i}" for i, key in enumerate(asked.keys)]
    text = f"{select([*keys, f'{instant} AS t'])}\nFROM {NAME}"
    return run(source.relation, text).to_arrow_table().combine_chunks()


def _read_events(bound: _Bound) -> pa.Table:
    """Keys, time, the partials of each event, values, and what orders events of one instant."""
    read, program = bound.read, bound.program
    order = {f"o{i}": text for i, text in enumerate(bound.asked.events.order_by)}
    inputs = [f"v{i}" for i, _ in enumerate(read.columns.inputs)]
    partials = {p.name: transpile(parse_spark(p.row or "NULL")) for p in _columns(program)}
    once = {sql: name for name, sql in reversed(partials.items())}
    ties = [*order, *inputs] if bound.asked.ordered else []
    others = dict.fromkeys([*(c for v in program.values for c in v.columns), *ties])
    columns = [*read.keys, "t", *(f"{sql} AS {name}" for sql, name in once.items()), *others]
    text = f"{select(columns)}\nFROM (\n{records_sql(read, '  ', order)}\n)"
    table = run(bound.source.relation, text).to_arrow_table().combine_chunks()
    for partial_column in _columns(program):
        name = partial_column.name
        column = table.column(once[partials[name]])
        column = _widen(column) if partial_column.merger == "sum" else column
        place = table.schema.get_field_index(name)
        table = (
            table.append_column(name, column)
            if place < 0
            else table.set_column(place, name, column)
        )
    return table


def _columns(program: FrameProgram) -> list[PartialColumn]:
    """The partials that need a column: to count events, their places are enough."""
    return [p for p in program.partials if p.name != program.counter]


def _widen(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The values of a sum in the type that the sum has."""
    kind = column.type
    if pa.types.is_decimal(kind):
        return column.cast(pa.decimal128(38, kind.scale))
    if pa.types.is_floating(kind):
        return column.cast(pa.float64())
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return column.cast(pa.int64())
    raise ColumnError(f"a sum of {kind} cannot be computed in process: cast it to a number")


def _merge(rows: pa.Table, events: pa.Table, bound: _Bound) -> pa.Table:
    """The merged partials and the results of every row, in the order of the rows."""
    own, others = group_keys(rows, events, len(bound.asked.keys))
    ties = [*(f"o{i}" for i, _ in enumerate(bound.asked.events.order_by))]
    ties += [f"v{i}" for i, _ in enumerate(bound.read.columns.inputs)]
    by = [rank_values(events, name) for name in ties] if bound.asked.ordered else []
    line, order = sort_lines(others, instants(events), by)
    named = set(events.column_names)
    reads = [name for name in bound.program.reads if name in named]
    columns = dict(zip(reads, take_all([whole(events, n) for n in reads], order), strict=True))
    if rows is events:
        found = evaluate_portions(bound.program, columns, line, line)
        return put_back(found, order.to_numpy(), rows.num_rows)
    timed = np.flatnonzero(whole(rows, "t").is_valid().to_numpy(zero_copy_only=False))
    asking, place = sort_lines(own[timed], instants(rows)[timed], [])
    found = evaluate_portions(bound.program, columns, line, asking)
    return put_back(found, timed[place.to_numpy()], rows.num_rows)


def _finish(merged: pa.Table, bound: _Bound) -> pa.Table:
    """The features in the order asked for: aggregates, and the windows in each."""
    asked, quoted = bound.asked, bound.read.writer.quoted
    finals, done = {}, {}
    for i, frame in enumerate(asked.frames):
        sql, found = _finals(i, bound), _found(i, bound)
        for aggregate in asked.aggregates:
            name = asked.column(aggregate, frame)
            if aggregate.name in found:
                done[name] = merged.column(found[aggregate.name])
            else:
                finals[name] = f"{sql[aggregate.name]} AS {quoted(name)}"
    if finals:
        relation: duckdb.DuckDBPyRelation = connect().from_arrow(merged)
        rest = run(relation, f"{select(list(finals.values()))}\nFROM {NAME}").to_arrow_table()
        done |= dict(zip(finals, rest.columns, strict=True))
    return pa.table({name: done[name] for name in asked.columns})


def _found(frame: int, bound: _Bound) -> dict[str, str]:
    """The columns that are results as they are, by the name of the aggregate."""
    results = columns_of(bound.division.merged, bound.kinds.__getitem__, f"f{frame}_").results
    counter = f"f{frame}_{bound.program.counter}"
    found = {
        aggregate.name: result.partial
        for aggregate, result in zip(bound.division.merged, results, strict=True)
        if result.partial and (aggregate.function.empty == "NULL" or result.partial == counter)
    }
    values = enumerate(bound.division.from_values)
    return found | {aggregate.name: f"f{frame}_h{i}" for i, aggregate in values}


def _finals(frame: int, bound: _Bound) -> dict[str, str]:
    """SQL for every result of a frame, by the name of its aggregate."""
    results = columns_of(bound.division.merged, bound.kinds.__getitem__, f"f{frame}_").results
    found = {}
    for aggregate, result in zip(bound.division.merged, results, strict=True):
        empty = transpile(parse_spark(aggregate.function.empty))
        final = final_in_duckdb(result)
        held = f"f{frame}_{bound.program.counter}"
        found[aggregate.name] = (
            f"CASE WHEN {held} = 0 THEN {empty} WHEN {held} > 0 THEN {final} END"
        )
    return found


def _origins(bound: _Bound) -> dict[str, pa.DataType]:
    """The types of the columns that results may be values of."""
    given = bound.source.given
    kinds = {} if given is None else {field.name.lower(): field.type for field in given.schema}
    return {
        bound.asked.column(a, frame): kinds[a.arguments[0].lower()]
        for a in bound.asked.aggregates
        if a.arguments and a.arguments[0].lower() in kinds
        for frame in bound.asked.frames
    }

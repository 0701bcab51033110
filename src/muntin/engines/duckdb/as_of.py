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
from muntin.aggregates.columns import Input, columns_of, distinct_inputs
from muntin.dialects import Reading
from muntin.dialects.duckdb_text import final_in_duckdb, parse_spark, transpile
from muntin.dialects.programs import select
from muntin.dialects.rendering import records_sql
from muntin.engines.duckdb.bound_query import check_signature, reading_of, run, spark_type
from muntin.engines.duckdb.conversion import from_arrow, restore_types
from muntin.engines.duckdb.faults import translate_errors, whole_query
from muntin.engines.duckdb.tables import NAME, Source, connect, kind_of_table, open_source
from muntin.engines.verification import Verification
from muntin.errors import AggregateError, ColumnError, StrategyError
from muntin.kernels.frame_program import FrameProgram
from muntin.kernels.frames import Line
from muntin.kernels.grouping import codes_of
from muntin.kernels.monoids import Array
from muntin.kernels.ordering import order_codes
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
        keys = _read_rows(source, asked)
        try:
            merged = _merge(keys, bound)
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
    partials = [f"{transpile(parse_spark(p.row or 'NULL'))} AS {p.name}" for p in program.partials]
    ties = [*order, *inputs] if bound.asked.ordered else []
    others = dict.fromkeys([*(c for v in program.values for c in v.columns), *ties])
    columns = [*read.keys, "t", *partials, *others]
    text = f"{select(columns)}\nFROM (\n{records_sql(read, '  ', order)}\n)"
    table = run(bound.source.relation, text).to_arrow_table().combine_chunks()
    for partial_column in program.partials:
        if partial_column.merger == "sum":
            place = table.column_names.index(partial_column.name)
            widened = _widen(table.column(place))
            table = table.set_column(place, partial_column.name, widened)
    return table


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


def _merge(rows: pa.Table, bound: _Bound) -> pa.Table:
    """The merged partials and the results of every row, in the order of the rows."""
    events = _read_events(bound)
    own, others = _groups(rows, events, len(bound.asked.keys))
    ties = [*(f"o{i}" for i, _ in enumerate(bound.asked.events.order_by))]
    ties += [f"v{i}" for i, _ in enumerate(bound.read.columns.inputs)]
    by = [_order(events, name) for name in ties] if bound.asked.ordered else []
    line, order = _sorted(others, _instants(events), by)
    columns = {name: whole(events, name).take(order) for name in bound.program.reads}
    timed = np.flatnonzero(whole(rows, "t").is_valid().to_numpy(zero_copy_only=False))
    asking, place = _sorted(own[timed], _instants(rows)[timed], [])
    found = bound.program.evaluate(columns, line, asking)
    back = np.zeros(rows.num_rows, dtype=np.int64)
    missing = np.ones(rows.num_rows, dtype=np.bool_)
    turn = timed[place.to_numpy()]
    back[turn], missing[turn] = np.arange(len(turn)), False
    index = pa.array(back, mask=missing)
    return pa.table({name: array.take(index) for name, array in found.items()})


def _groups(rows: pa.Table, events: pa.Table, keys: int) -> tuple[Array, Array]:
    """A number for each combination of keys, the same in both tables."""
    together = []
    for i in range(keys):
        first, second = whole(rows, f"k{i}"), whole(events, f"k{i}")
        if pa.types.is_null(first.type):  # as in a DataFrame without rows
            first = first.cast(second.type)
        try:
            second = second if second.type == first.type else second.cast(first.type)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise ColumnError(
                f"key {i + 1} is {first.type} in the rows and {second.type} in the events: cast "
                "one of them"
            ) from None
        both = pa.concat_arrays([first, second])
        if pa.types.is_floating(both.type):
            both = pa.array(both.to_numpy(zero_copy_only=False) + 0.0, mask=_nulls(both))
        together.append(both)
    codes = codes_of(together, rows.num_rows + events.num_rows)
    _, small = np.unique(codes, return_inverse=True)
    return small[: rows.num_rows], small[rows.num_rows :]


def _nulls(column: pa.Array) -> Array:
    return np.asarray(column.is_null().to_numpy(zero_copy_only=False))


def _sorted(group: Array, time: Array, ties: Sequence[Array]) -> tuple[Line, pa.Array]:
    """In the order of group and time, and where each stood."""
    order = np.lexsort((*reversed(ties), time)) if ties else np.argsort(time, kind="stable")
    few = group.max(initial=0) < 2**16
    own = group[order].astype(np.uint16) if few else group[order]  # which NumPy sorts faster
    order = order[np.argsort(own, kind="stable")]
    return Line(group[order].astype(np.int64), time[order]), pa.array(order)


def _order(table: pa.Table, name: str) -> Array:
    """Numbers in the order of the values, nulls first."""
    column = whole(table, name)
    codes = np.unique(order_codes(column), return_inverse=True)[1].reshape(-1)
    return np.where(_nulls(column), -1, codes)


def _instants(table: pa.Table) -> Array:
    return np.asarray(whole(table, "t").fill_null(0).to_numpy(zero_copy_only=False))


def _finish(merged: pa.Table, bound: _Bound) -> pa.Table:
    """The features in the order asked for: aggregates, and the windows in each."""
    quoted = bound.read.writer.quoted
    finals = [_finals(i, bound) for i, _ in enumerate(bound.asked.frames)]
    columns = [
        f"{finals[i][aggregate.name]} AS {quoted(bound.asked.column(aggregate, frame))}"
        for aggregate in bound.asked.aggregates
        for i, frame in enumerate(bound.asked.frames)
    ]
    relation: duckdb.DuckDBPyRelation = connect().from_arrow(merged)
    return run(relation, f"{select(columns)}\nFROM {NAME}").to_arrow_table()


def _finals(frame: int, bound: _Bound) -> dict[str, str]:
    """SQL for every result of a frame, by the name of its aggregate."""
    results = columns_of(bound.division.merged, bound.kinds.__getitem__, f"f{frame}_").results
    found = {}
    for aggregate, result in zip(bound.division.merged, results, strict=True):
        empty = transpile(parse_spark(aggregate.function.empty))
        final = final_in_duckdb(result)
        found[aggregate.name] = (
            f"CASE WHEN f{frame}_n = 0 THEN {empty} WHEN f{frame}_n > 0 THEN {final} END"
        )
    for i, aggregate in enumerate(bound.division.from_values):
        found[aggregate.name] = f"f{frame}_h{i}"
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

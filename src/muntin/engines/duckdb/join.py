"""A join over nested windows in process: DuckDB finds the pairs, Arrow gathers their rows.

Rows meet by an equality join on the keys and a stretch of time, as on a batch of Spark
(`engines.spark.operators.join`), and by the same expressions for the windows that hold a pair. Of
Arrow tables and DataFrames DuckDB reads only the columns that keys, times and the condition need,
and the number of each row; the rows themselves are taken by number, so that any type comes back as
it was. Relations stay relations: their rows are DuckDB's structs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from sqlglot import exp

from muntin.dialects.lists import DuckdbLists
from muntin.dialects.nested import NestedText
from muntin.dialects.pair_condition import SIDES, columns_of_side, pair_condition
from muntin.dialects.programs import select
from muntin.engines.duckdb.bound_query import reading_of, run
from muntin.engines.duckdb.conversion import to_arrow
from muntin.engines.duckdb.faults import first_line, translate_errors, whole_query
from muntin.engines.duckdb.nested_results import give
from muntin.engines.duckdb.parts import Part, columns_read
from muntin.engines.duckdb.tables import NAME, Source, connect, kind_of_table, relation_of
from muntin.errors import ColumnError, MuntinError, QueryError, shown
from muntin.model.query import Query
from muntin.nesting.questions import WindowJoin
from muntin.physical.operators.join import describe, stretch

if TYPE_CHECKING:
    import duckdb

TEXT = NestedText(DuckdbLists())
ROW = "row number of muntin"
"""The column that numbers the rows of a table that is not a relation."""

_STEPS = "DuckDB joins keys and stretches of time, right rows in each that they reach"


@dataclass(frozen=True, slots=True)
class InProcessJoin:
    """A question about pairs, bound to two tables in process."""

    left: object
    right: object
    asked: WindowJoin

    def run(self) -> Any:
        """The pairs, as the kind of table that the left side is."""
        return _run(self.left, self.right, self.asked)

    def explain(self) -> list[str]:
        """How pairs are found, and the windows."""
        sides, condition = _open(self.left, self.right, self.asked)
        with translate_errors(whole_query):  # what would be refused is refused here, too
            _held(sides, self.asked, condition)
        return describe(self.asked, "in process", _STEPS)


@dataclass(frozen=True, slots=True)
class _Side:
    """One side: what was given, the same as Arrow unless it is a relation, and as DuckDB reads it.

    `rows` are (row, keys, time, microseconds) under plain names.
    """

    frame: Any
    table: pa.Table | None
    source: Source
    kind: str | None
    rows: duckdb.DuckDBPyRelation

    def gather(self, numbers: pa.ChunkedArray) -> pa.StructArray:
        """The rows with these numbers."""
        assert self.table is not None, "relations hand their rows over themselves"
        taken = self.table.take(numbers.combine_chunks()).combine_chunks()
        columns = [column.combine_chunks() for column in taken.columns]
        return pa.StructArray.from_arrays(columns, names=taken.column_names)


def _run(left: object, right: object, asked: WindowJoin) -> Any:
    sides, condition = _open(left, right, asked)
    own = sides[0]
    gathered = {name: side.gather for name, side in zip(SIDES, sides, strict=True)}

    def compute(condition: exp.Expr | None) -> Any:
        held = _held(sides, asked, condition)
        result = run(held, _result(sides, asked))
        found = give(result, own.source, asked.left, own.frame, gathered)
        mixed = kind_of_table(left) == "duckdb" and own.table is not None
        return connect().from_arrow(found) if mixed else found

    def blame(error: Exception) -> MuntinError:
        if condition is not None:
            with translate_errors(whole_query):
                compute(None)
            return Part("where", str(asked.where)).fails(first_line(error))
        return whole_query(error)

    with translate_errors(blame):
        return compute(condition)


def _open(
    left: object, right: object, asked: WindowJoin
) -> tuple[tuple[_Side, _Side], exp.Expr | None]:
    """Both sides in one connection, and the condition with its columns found."""
    kinds = {kind_of_table(left), kind_of_table(right)}
    lazy = kinds == {"duckdb"}
    tables: list[Any] = [each if lazy else _as_arrow(each) for each in (left, right)]
    names = [tuple(map(str, t.columns if lazy else t.column_names)) for t in tables]
    condition = _condition(asked, dict(zip(SIDES, names, strict=True)))
    connection = None if lazy else connect()
    queries = (asked.left, asked.right)
    opened = []
    for at, side in enumerate(SIDES):
        read = [] if condition is None else columns_of_side(condition, side)
        source = _source(tables[at], names[at], queries[at], read, connection)
        with translate_errors(whole_query):
            kind = reading_of(source, queries[at]).time_kind
            rows = run(source.relation, _rows_sql(source, queries[at], side, kind))
        given = (left, right)[at]
        frame = given if kind_of_table(given) == "pandas" else None
        table = None if lazy else tables[at]
        opened.append(_Side(frame, table, source, kind, rows))
    found = (opened[0], opened[1])
    _check_condition(found, asked, condition)
    return found, condition


def _as_arrow(data: Any) -> pa.Table:
    """The whole table, which the rows of pairs are taken from."""
    match kind_of_table(data):
        case "duckdb":
            return data.to_arrow_table()
        case "pandas":
            return to_arrow(data, range(data.shape[1]))
    return data


def _source(
    table: Any,
    names: tuple[str, ...],
    query: Query,
    read: Sequence[str],
    connection: duckdb.DuckDBPyConnection | None,
) -> Source:
    places = columns_read([query], names)
    if connection is None:
        return Source(table, names)
    needed = sorted({*places, *(names.index(name) for name in read)})
    narrow = table.select(needed)
    numbered = narrow.append_column(ROW, pa.array(np.arange(len(table), dtype=np.int64)))
    return Source(relation_of(numbered, connection), names, connection, narrow)


def _rows_sql(source: Source, query: Query, side: str, kind: str | None) -> str:
    """The rows of a side as one column, with keys and time under plain names."""
    writer, prefix = TEXT.lists.scalars, side[0]
    time = writer.quoted(query.time)
    columns = [
        f"{NAME} AS {writer.quoted(side)}",
        f"{writer.microseconds(time, kind)} AS {prefix}t",
        *(f"{writer.quoted(key)} AS {prefix}{i}" for i, key in enumerate(query.keys)),
    ]
    return f"{select(columns)}\nFROM {NAME}\nWHERE {time} IS NOT NULL"


def _condition(asked: WindowJoin, columns: dict[str, tuple[str, ...]]) -> exp.Expr | None:
    if asked.where is None:
        return None
    if not isinstance(asked.where, str):
        raise QueryError(
            f"where {shown(asked.where)} must be an SQL condition, as text: "
            "where='left.price < right.price'"
        )
    return pair_condition(asked.where, columns, asked.on)


def _check_condition(
    sides: tuple[_Side, _Side], asked: WindowJoin, condition: exp.Expr | None
) -> None:
    """Refuse a condition that DuckDB cannot read, or that is neither true nor false."""
    if condition is None:
        return
    part, written = Part("where", str(asked.where)), TEXT.lists.scalars.expression(condition)
    with translate_errors(lambda error: part.fails(first_line(error))):
        both = _joined(sides, ["true"])
        [kind] = map(str, run(both, f"SELECT {written} AS holds FROM {NAME}").types)
    if kind not in ("BOOLEAN", '"NULL"'):
        raise part.fails(f"it is {kind}, and a condition must be BOOLEAN")


def _joined(sides: tuple[_Side, _Side], conditions: Sequence[str]) -> duckdb.DuckDBPyRelation:
    import duckdb

    left, right = (side.rows for side in sides)
    try:
        return left.set_alias("l").join(right.set_alias("r"), " AND ".join(conditions))
    except duckdb.InvalidInputException as error:
        if "different connections" not in str(error):
            raise
    raise ColumnError(
        "the two relations are of different connections, which DuckDB cannot join: make both with "
        "one connection, or give one of them as .to_arrow_table()"
    )


def _held(
    sides: tuple[_Side, _Side], asked: WindowJoin, condition: exp.Expr | None
) -> duckdb.DuckDBPyRelation:
    """The pairs that a window holds, each with those windows."""
    writer, (ahead, behind), step = TEXT.lists.scalars, asked.reach, stretch(asked)
    begin = partial(writer.latest, origin=0, step=step)
    first, last = begin(f"(rt - {ahead - 1})"), begin(f"(rt + {behind - 1})")
    own = run(sides[0].rows, f"SELECT *, {begin('lt')} AS ls FROM {NAME}")
    spread = f"unnest({TEXT.lists.steps(first, f'({last})', str(step))}) AS rs"
    others = run(sides[1].rows, f"SELECT *, {spread} FROM {NAME}")
    conditions = [f"l{i} = r{i}" for i, _ in enumerate(asked.on)]
    conditions += ["ls = rs", f"rt - lt < {ahead}", f"lt - rt < {behind}"]
    if condition is not None:
        conditions.append(f"({writer.expression(condition)})")
    placed = (_replace(sides[0], own), _replace(sides[1], others))
    pairs = _joined(placed, conditions)
    held = f"SELECT *, {TEXT.held(asked.windows)} AS held FROM {NAME}"
    return run(pairs, f"SELECT * FROM (\n{held}\n) AS pairs WHERE len(held) > 0")


def _replace(side: _Side, rows: duckdb.DuckDBPyRelation) -> _Side:
    return _Side(side.frame, side.table, side.source, side.kind, rows)


def _result(sides: tuple[_Side, _Side], asked: WindowJoin) -> str:
    writer, kind = TEXT.lists.scalars, sides[0].kind

    def at(sql: str) -> str:
        return writer.instant(sql, kind)

    keys = [f"l{i} AS {writer.quoted(name)}" for i, name in enumerate(asked.on)]
    rows = ['"left"', '"right"']
    if sides[0].table is not None:
        rows = [f"{row}.{writer.quoted(ROW)} AS {row}" for row in rows]
    if asked.layout == "long":
        bounds = {"window": "l_reach", "right_window": "r_reach"}
        windows = [
            f"{writer.bounds(at(f'stop - h.{reach}'), at('stop'))} AS {writer.quoted(name)}"
            for name, reach in bounds.items()
            if asked.paired or name == "window"
        ]
        stops = TEXT.lists.steps("h.first", "h.last", "h.slide")
        each = f"SELECT *, unnest(held) AS h FROM {NAME}"
        ends = f"SELECT *, unnest({stops}) AS stop FROM ({each}) AS each_window"
        columns = ["h.id AS window_id", *windows, *keys, *rows]
        return f"{select(columns)}\nFROM ({ends}) AS each_end"
    held = TEXT.lists.struct(
        {"window_id": "h.id", "first_end": at("h.first"), "expires": at("h.last")}
    )
    columns = ["held[1].id AS window_id", *keys, *rows, f"{at('held[1].last')} AS expires"]
    columns.append(f"{TEXT.lists.each('held', 'h', held)} AS windows")
    return f"{select(columns)}\nFROM {NAME}"

"""What the embedded engine reads and returns: DuckDB relations, Arrow tables, pandas DataFrames.

Only the columns that the queries read are handed to DuckDB: a column of no use may be of any type,
and names that nobody asks for may stand there twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from os import getpid
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from muntin.engines.duckdb.conversion import (
    from_arrow,
    in_zone,
    make_readable,
    restore_types,
    to_arrow,
)
from muntin.engines.duckdb.faults import first_line, translate_errors
from muntin.engines.duckdb.parts import columns_read
from muntin.engines.row_sample import Sample, stretches_of
from muntin.errors import ColumnError
from muntin.model.query import Query

if TYPE_CHECKING:
    import duckdb

    from muntin.dialects import Reading

NAME = "muntin_input"
"""What the input is called in our SQL."""


_KINDS = {
    ("duckdb", "DuckDBPyRelation"): "duckdb",
    ("pyarrow", "Table"): "arrow",
    ("pandas", "DataFrame"): "pandas",
}


def kind_of_table(data: object) -> str | None:
    """duckdb, arrow or pandas; looks at names only, so that no library is loaded for it."""
    for each in type(data).__mro__:
        home = each.__module__.partition(".")[0].lstrip("_")
        if (home, each.__name__) in _KINDS:
            return _KINDS[home, each.__name__]
    return None


def handles(data: object) -> bool:
    """Whether the embedded engine takes this.

    >>> import pyarrow as pa
    >>> handles(pa.table({"x": [1]})), handles([1])
    (True, False)
    """
    return kind_of_table(data) is not None


def count_rows(data: Any) -> int | None:
    """How many rows a table has; None for a relation, which would have to be read."""
    return None if kind_of_table(data) == "duckdb" else len(data)


def sample_rows(data: Any, names: Sequence[str]) -> Sample:
    """Some rows of those of these columns that an Arrow table or a DataFrame of pandas has."""
    arrow = kind_of_table(data) == "arrow"
    known = list(data.column_names if arrow else data.columns)
    own = [name for name in dict.fromkeys(names) if known.count(name) == 1]
    places = stretches_of(len(data)) if own else []
    if arrow:
        chosen = data.select(own)
        parts = [chosen.slice(each.start, each.stop - each.start) for each in places]
    else:
        frames = (data.iloc[each][own] for each in places)
        parts = [pa.Table.from_pandas(frame, preserve_index=False) for frame in frames]
    return Sample(tuple(parts), len(data), len(data))


def connect() -> duckdb.DuckDBPyConnection:
    """A connection in UTC to a database in memory, with temporary names of its own.

    To open a database takes as long as to group a million rows, so each process opens one.
    """
    return _database(getpid()).cursor()


@cache
def _database(process: int) -> duckdb.DuckDBPyConnection:
    """The database of a process: one that was forked cannot use that of its parent."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET GLOBAL TimeZone = 'UTC'")
    return connection


@dataclass(frozen=True, slots=True)
class Source:
    """A table that is open in DuckDB, as far as queries read it, and how results are given back.

    `names` are those of all its columns. `connection` is the one that the table is open in, unless
    it is a relation of the user's. `readings` are the queries whose types were asked for.
    """

    relation: duckdb.DuckDBPyRelation
    names: tuple[str, ...]
    connection: duckdb.DuckDBPyConnection | None = None
    given: pa.Table | None = None
    frame: Any = None
    readings: dict[Query, Reading] = field(default_factory=dict, repr=False, compare=False)

    def give(self, result: duckdb.DuckDBPyRelation, *queries: Query) -> Any:
        """What answers these queries as the same kind of table; a relation is computed later."""
        if self.given is None:
            return result
        kinds = {field.name.lower(): field.type for field in self.given.schema}
        keys = frozenset(key for query in queries for key in query.keys)
        table = restore_types(result.to_arrow_table(), _origins(queries, kinds), keys)
        place = table.column_names.index("window")
        window = in_zone(table.column(place), kinds[queries[0].time.lower()])
        table = table.set_column(place, "window", window)
        if self.frame is None:
            return table
        return from_arrow(table, self.frame, [name for name in table.column_names if name in keys])


def _origins(queries: Sequence[Query], kinds: Mapping[str, pa.DataType]) -> dict[str, pa.DataType]:
    """The types of the columns that keys are, and that results may be values of."""
    origins = {key: kinds[key.lower()] for query in queries for key in query.keys}
    for aggregate in (a for query in queries for a in query.aggregates):
        if aggregate.arguments and aggregate.arguments[0].lower() in kinds:
            origins.setdefault(aggregate.name, kinds[aggregate.arguments[0].lower()])
    return origins


def open_source(data: Any, *queries: Query) -> Source:
    """The data as a relation: of its own connection, or in one of ours."""
    with translate_errors(
        lambda error: ColumnError(f"the table cannot be read: {first_line(error)}")
    ):
        match kind_of_table(data):
            case "duckdb":
                names = tuple(str(name) for name in data.columns)
                columns_read(queries, names)
                return Source(data, names)
            case "arrow":
                names = tuple(data.column_names)
                table = data.select(columns_read(queries, names))
                return Source(*_open(table, names), table)
            case "pandas":
                names = tuple(str(name) for name in data.columns)
                places = columns_read(queries, names)
                table = to_arrow(data, places)
                return Source(*_open(table, names), table, data.iloc[:, places])
    raise ColumnError(
        f"a {type(data).__name__} cannot be read in process: give a DuckDB relation, "
        "a pyarrow.Table or a pandas DataFrame"
    )


def read_for(source: Source, *queries: Query) -> Source:
    """The source, read into a connection of ours where windows that the data decides need it."""
    if source.connection is not None or not any(query.data_windows for query in queries):
        return source
    places = columns_read(queries, source.names)
    table = source.relation.project(", ".join(f"#{n + 1}" for n in places)).to_arrow_table()
    return Source(*_open(table, source.names))


def _open(
    table: pa.Table, names: tuple[str, ...]
) -> tuple[duckdb.DuckDBPyRelation, tuple[str, ...], duckdb.DuckDBPyConnection]:
    connection = connect()
    return relation_of(table, connection), names, connection


def relation_of(table: pa.Table, connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyRelation:
    """An Arrow table in a connection, in types that DuckDB reads as they are."""
    columns = map(make_readable, table.column_names, table.columns)
    return connection.from_arrow(pa.Table.from_arrays([*columns], names=table.column_names))

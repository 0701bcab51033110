"""What the embedded engine reads and returns: DuckDB relations, Arrow tables, pandas DataFrames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muntin.errors import ColumnError

if TYPE_CHECKING:
    import duckdb

NAME = "muntin_input"
"""What the input is called in our SQL."""


def kind_of_table(data: Any) -> str | None:
    """duckdb, arrow or pandas; looks at names only, so that no library is loaded for it."""
    for each in type(data).__mro__:
        home = each.__module__.partition(".")[0].lstrip("_")
        if home == "duckdb" and each.__name__ == "DuckDBPyRelation":
            return "duckdb"
        if home == "pyarrow" and each.__name__ == "Table":
            return "arrow"
        if home == "pandas" and each.__name__ == "DataFrame":
            return "pandas"
    return None


def handles(data: Any) -> bool:
    """Whether the embedded engine takes this.

    >>> import pyarrow as pa
    >>> handles(pa.table({"x": [1]})), handles([1])
    (True, False)
    """
    return kind_of_table(data) is not None


def as_relation(data: Any, connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyRelation:
    """The data as a relation: of its own connection, or registered in ours."""
    match kind_of_table(data):
        case "duckdb":
            relation: duckdb.DuckDBPyRelation = data
            return relation
        case "arrow":
            return connection.from_arrow(data)
        case "pandas":
            return connection.from_df(data)
    raise ColumnError(
        f"a {type(data).__name__} cannot be read in process: give a DuckDB relation, "
        "a pyarrow.Table or a pandas DataFrame"
    )


def as_given(result: duckdb.DuckDBPyRelation, data: Any) -> Any:
    """The result as the same kind of table as the data."""
    match kind_of_table(data):
        case "arrow":
            return result.to_arrow_table()
        case "pandas":
            return result.df()
    return result

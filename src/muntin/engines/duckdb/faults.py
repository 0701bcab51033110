"""DuckDB's refusals and failures as sentences of ours: no exception of its own is passed on.

When DuckDB fails over a query, its parts are tried one by one, so that the sentence names the part:
whether it can be read at all (`reading`), then whether it can be computed (`blame`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from muntin.errors import ColumnError, MuntinError

Blame = Callable[[Exception], MuntinError]


@contextmanager
def told(blame: Blame) -> Iterator[None]:
    """Whatever DuckDB raises inside the block becomes an error of ours."""
    import duckdb

    found: MuntinError | None = None
    try:
        yield
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except duckdb.Error as error:
        found = blame(error)
    if found is not None:
        raise found  # outside, since DuckDB's own error would keep the tables alive with it


def first_line(error: Exception) -> str:
    """What DuckDB says, without where in our SQL it stands."""
    return str(error).strip().splitlines()[0]


def whole_query(error: Exception) -> MuntinError:
    """Where no part is to blame by itself."""
    return ColumnError(f"the query cannot be computed: {first_line(error)}")

"""Statistics of a table in process: all rows are looked at, since that takes DuckDB no time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muntin.cost.statistics import Statistics
from muntin.dialects import Reading
from muntin.dialects.rendering import records_sql
from muntin.engines.duckdb.bound_query import reading_of, run
from muntin.engines.duckdb.faults import told, whole_query
from muntin.engines.duckdb.tables import opened
from muntin.errors import ColumnError
from muntin.model.query import Query

if TYPE_CHECKING:
    import duckdb


def counted(data: Any, query: Query) -> Statistics:
    """Rows, distinct keys and rate."""
    source = opened(data, query)
    with told(whole_query):
        return _counted(source.relation, reading_of(source, query))


def _counted(relation: duckdb.DuckDBPyRelation, read: Reading) -> Statistics:
    keys = f"count(DISTINCT ({', '.join(read.keys)},))" if read.keys else "1"
    text = f"SELECT count(*), {keys}, max(t) - min(t) FROM (\n{records_sql(read)}\n) AS records"
    [(rows, distinct, span)] = run(relation, text).fetchall()
    if not rows:
        raise ColumnError("the table has no rows: give rows=, keys= and rate=")
    seconds = max(span / 1e6, 1e-6)
    return Statistics(rows, max(distinct, 1), rows / seconds, "from all rows")

"""Statistics of a table in process: all rows are looked at, since that takes DuckDB no time."""

from __future__ import annotations

from typing import Any

from muntin.cost.statistics import Statistics
from muntin.embedded.engine import connect, reading_of, run
from muntin.embedded.tables import as_relation
from muntin.errors import ColumnError
from muntin.query import Query
from muntin.sql.rendering import records_sql


def counted(data: Any, query: Query) -> Statistics:
    """Rows, distinct keys and rate."""
    relation = as_relation(data, connect())
    read = reading_of(relation, query)
    keys = f"count(DISTINCT ({', '.join(read.keys)},))" if read.keys else "1"
    text = f"SELECT count(*), {keys}, max(t) - min(t) FROM (\n{records_sql(read)}\n) AS records"
    [(rows, distinct, span)] = run(relation, text).fetchall()
    if not rows:
        raise ColumnError("the table has no rows: give rows=, keys= and rate=")
    seconds = max(span / 1e6, 1e-6)
    return Statistics(rows, max(distinct, 1), rows / seconds, "from all rows")

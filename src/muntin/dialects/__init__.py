"""SQL in and out: the dialect of Azure Stream Analytics, and plans as Spark or DuckDB text.

It loads sqlglot, so whoever may do without imports it on first use.
"""

from muntin.dialects.delivery import in_one_sql, own_sql
from muntin.dialects.direct import render_direct
from muntin.dialects.faults import SqlError
from muntin.dialects.rendering import (
    WRITERS,
    Reading,
    render,
    render_reading,
    resolve,
    writer_named,
)
from muntin.dialects.statement import Statement, parse_sql, parse_statement

__all__ = [
    "WRITERS",
    "Reading",
    "SqlError",
    "Statement",
    "in_one_sql",
    "own_sql",
    "parse_sql",
    "parse_statement",
    "render",
    "render_direct",
    "render_reading",
    "resolve",
    "writer_named",
]

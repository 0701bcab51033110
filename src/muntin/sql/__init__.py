"""SQL in and out: the dialect of Azure Stream Analytics, and plans as Spark or DuckDB text."""

from muntin.sql.direct import render_direct
from muntin.sql.faults import SqlError
from muntin.sql.rendering import WRITERS, Reading, reading, render, render_reading
from muntin.sql.statement import Statement, parse_sql, parse_statement

__all__ = [
    "WRITERS",
    "Reading",
    "SqlError",
    "Statement",
    "parse_sql",
    "parse_statement",
    "reading",
    "render",
    "render_direct",
    "render_reading",
]

"""SQL in and out: the dialect of Azure Stream Analytics, and plans as Spark or DuckDB text.

Its modules load sqlglot, and so are loaded on first use: `import muntin` loads this package, so
that a later import cannot put the package in the place of the function `muntin.dialects`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from muntin.dialects.delivery import in_one_sql, own_sql
    from muntin.dialects.direct import render_direct
    from muntin.dialects.faults import SqlError
    from muntin.dialects.rendering import (
        WRITERS,
        Reading,
        reading,
        render,
        render_reading,
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
    "reading",
    "render",
    "render_direct",
    "render_reading",
    "writer_named",
]

_MODULES = ("delivery", "direct", "faults", "rendering", "statement")


def __getattr__(name: str) -> Any:
    if name in __all__:
        for each in _MODULES:
            module = import_module(f"muntin.dialects.{each}")
            if name in vars(module):
                return vars(module)[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

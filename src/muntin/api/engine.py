"""Which engine runs a plan on some data."""

from __future__ import annotations

from typing import Any

from muntin.choices import Engine


def engine_of(data: Any) -> Engine:
    """ "sql" for what DuckDB reads in process (relation, Arrow, pandas), "stream", or "spark"."""
    if hasattr(type(data), "sparkSession"):
        from muntin.spark.given import is_stream

        return "stream" if is_stream(data) else "spark"
    from muntin.embedded import handles  # loads sqlglot: not needed to plan

    return "sql" if handles(data) else "spark"

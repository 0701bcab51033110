"""Which engine runs a plan on some data: an object, resolved once for each call."""

from __future__ import annotations

from typing import Any

from muntin.engines.engine import Engine
from muntin.errors import ColumnError

_REMEDIES = {
    **dict.fromkeys(
        ("list", "tuple", "dict"), "pandas.DataFrame(...) or pyarrow.table(...) makes a table of it"
    ),
    "str": "spark.table('name') or pandas.read_parquet('file') reads a table",
    "RecordBatch": "pyarrow.Table.from_batches([batch]) makes a table of it",
    "Series": "give the DataFrame that it is a column of",
    "LazyFrame": ".collect().to_arrow() makes a table of it",
    "DataFrame": ".to_arrow() or .to_pandas() makes a table of it",  # of another library
}
"""What to do with what is no table, by the name of its type."""


def engine_of(data: Any) -> Engine:
    """DuckDB in process for relations, Arrow and pandas; Spark for its batches and streams."""
    if hasattr(type(data), "sparkSession"):
        from muntin.engines.spark.engine import BATCH_ENGINE, STREAM_ENGINE
        from muntin.engines.spark.session_facts import is_stream

        return STREAM_ENGINE if is_stream(data) else BATCH_ENGINE
    from muntin.engines.duckdb import ENGINE, handles  # loads sqlglot: not needed to plan

    if handles(data):
        return ENGINE
    kind = type(data).__name__
    remedy = f": {_REMEDIES[kind]}" if kind in _REMEDIES else ""
    raise ColumnError(
        "expected a Spark DataFrame, a pandas DataFrame, a pyarrow.Table or a DuckDB relation, "
        f"got {kind}{remedy}"
    )

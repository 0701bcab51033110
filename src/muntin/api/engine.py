"""Which engine runs a plan on some data, and which shapes of results it can give."""

from __future__ import annotations

from typing import Any, get_args

from muntin.engines.engine import Engine
from muntin.errors import ColumnError, StrategyError, check_library, is_one_of, unknown
from muntin.model.choices import Empty, Layout

LAYOUTS = get_args(Layout)
EMPTY = get_args(Empty)

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

_IN_PROCESS = "a Spark DataFrame: in process there is the long layout without empty windows"
_NEEDS = {
    ("stream", "wide"): "a batch: a stream has the long layout, since rows that are still to come "
    "decide the rest",
    ("duckdb", "wide"): _IN_PROCESS,
    ("duckdb", "fill"): _IN_PROCESS,
}
"""What a word for another shape than the plain one needs, by the engine that cannot give it."""


def engine_of(data: Any) -> Engine:
    """DuckDB in process for relations, Arrow and pandas; Spark for its batches and streams."""
    if hasattr(type(data), "sparkSession"):
        from muntin.engines.spark.engine import BATCH_ENGINE, STREAM_ENGINE
        from muntin.engines.spark.session_facts import is_stream

        return STREAM_ENGINE if is_stream(data) else BATCH_ENGINE
    from muntin.engines.duckdb import ENGINE, handles  # loads sqlglot: not needed to plan

    if handles(data):
        check_library("duckdb", "duckdb", "a table in process")
        return ENGINE
    kind = type(data).__name__
    remedy = f": {_REMEDIES[kind]}" if kind in _REMEDIES else ""
    raise ColumnError(
        "expected a Spark DataFrame, a pandas DataFrame, a pyarrow.Table or a DuckDB relation, "
        f"got {kind}{remedy}"
    )


def check_shape(engine: str, layout: str, empty: str) -> None:
    """Refuse a shape that does not exist, or that this engine cannot give.

    >>> check_shape("spark", "wide", "fill")
    >>> check_shape("duckdb", "wide", "omit")
    Traceback (most recent call last):
    muntin.errors.StrategyError: layout='wide', empty='omit' needs a Spark DataFrame: in process \
there is the long layout without empty windows
    """
    for what, given, known in (("layout", layout, LAYOUTS), ("empty", empty, EMPTY)):
        if not is_one_of(given, known):
            raise StrategyError(unknown(what, given, known))
    for given in (layout, empty):
        if (engine, given) in _NEEDS:
            needs = _NEEDS[engine, given]
            raise StrategyError(f"layout={layout!r}, empty={empty!r} needs {needs}")

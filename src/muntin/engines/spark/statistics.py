"""Statistics of a DataFrame: from a sample, or from what its files say of themselves.

sample     one small job over the time and the keys of a sample of the rows. Keys that a sample
           shows once say how many it does not show: of d distinct keys with f1 seen once and f2
           twice, there are about d + f1²/(2·f2) (Chao, 1984).
metadata   no job: the number of rows, and the first and last time, of local parquet files. How
           many keys there are, no footer says.
glance     no job: footers and a few rows of local parquet files (`file_statistics`), else the size
           that Spark itself estimates for its plan. What that does not tell is left unknown, and
           planning takes what is safe.
"""

from __future__ import annotations

import re
from contextlib import redirect_stdout, suppress
from dataclasses import replace
from io import StringIO

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from muntin.cost.statistics import Statistics
from muntin.engines.spark.file_statistics import Files
from muntin.engines.spark.session_facts import is_stream
from muntin.engines.spark.table import prepare
from muntin.errors import ColumnError
from muntin.model.query import Query

SEED = 7
MOST_FILES = 100
"""Files whose footers a glance reads."""
MOST_ROWS = 1e15
"""Where Spark estimates more, it has lost track."""
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_ESTIMATE = re.compile(r"sizeInBytes=([0-9.]+(?:E[+]?[0-9]+)?) (\w+)(?:, rowCount=([0-9.E+]+))?")


def sample_statistics(df: DataFrame, query: Query, fraction: float) -> Statistics:
    """Rows, keys and rate, estimated from this fraction of the rows."""
    _refuse_stream(df)
    part = df if fraction == 1 else df.sample(fraction=fraction, seed=SEED)
    table = prepare(part, query, lifted=False)
    counted = table.rows.groupBy(*table.keys).agg(
        F.count(F.lit(1)).alias("n"), F.min("t").alias("first"), F.max("t").alias("last")
    )
    found = counted.agg(
        F.sum("n").alias("rows"),
        F.count(F.lit(1)).alias("keys"),
        F.count_if(F.col("n") == 1).alias("once"),
        F.count_if(F.col("n") == 2).alias("twice"),
        F.min("first").alias("first"),
        F.max("last").alias("last"),
    ).collect()[0]
    if not found["rows"]:
        raise ColumnError(
            f"a sample of {fraction:g} of the rows is empty: give a larger fraction, or rows=, "
            "keys= and rate="
        )
    rows = found["rows"] / fraction
    keys = float(found["keys"])
    if fraction < 1 and table.keys:
        keys = min(keys + found["once"] ** 2 / (2 * max(found["twice"], 1)), rows)
    span = max((found["last"] - found["first"]) / 1e6, 1e-6)
    origin = f"from a sample of {found['rows']:,} rows" if fraction < 1 else "from all rows"
    return Statistics(rows, max(keys, 1), max(rows / span, 1e-9), origin)


def read_footers(df: DataFrame, query: Query, keys: float) -> Statistics:
    """Rows and rate from the footers of the parquet files that the DataFrame reads."""
    _refuse_stream(df)
    files = Files.of(df.inputFiles())
    seconds = files.seconds(query.time)
    if not files.rows or seconds is None:
        raise ColumnError(
            f"the files do not say when {query.time!r} begins and ends (those of Spark's default "
            "timestamps, INT96, never do): use statistics='sample', or give rows=, keys= and rate="
        )
    return Statistics(files.rows, keys, files.rows / seconds, "from the files' footers; keys given")


def glance(df: DataFrame, query: Query, assumed: Statistics) -> Statistics:
    """What can be known without a job; the rest as assumed."""
    names = df.inputFiles()
    if len(names) <= MOST_FILES:
        with suppress(ColumnError, OSError, pa.ArrowException):  # not of files that say so
            files = Files.of(names)
            if files.rows:
                return _look_at(files, query, assumed)
    rows = estimate_rows(df)
    if rows is None:
        return assumed
    return replace(assumed, rows=rows, origin="by Spark's estimate", unknown=("keys", "rate"))


def _look_at(files: Files, query: Query, assumed: Statistics) -> Statistics:
    """From footers and some rows; what neither says stays as assumed."""
    seconds = files.seconds(query.time)
    sample = files.sample((*query.keys, *(() if seconds else (query.time,))))
    seconds, keys = seconds or sample.seconds(query.time), sample.count_keys(query.keys)
    found = {"keys": keys, "rate": None if seconds is None else files.rows / seconds}
    known = {name: value for name, value in found.items() if value is not None}
    unknown = tuple(name for name in found if name not in known)
    return replace(assumed, rows=files.rows, **known, origin="from the files", unknown=unknown)


def estimate_rows(df: DataFrame) -> float | None:
    """The rows that Spark's optimizer expects, from their number or their size; None if it is lost.

    Spark says these figures only in the text of a plan, which it prints.
    """
    with redirect_stdout(StringIO()) as printed:
        df.explain("cost")
    first = _ESTIMATE.search(printed.getvalue())
    if first is None:
        return None
    size, unit, rows = first.groups()
    if rows is not None:
        return max(float(rows), 1.0)
    found = float(size) * 1024.0 ** _UNITS.index(unit) / _width(df.schema)
    return max(found, 1.0) if found < MOST_ROWS else None


def _width(schema: StructType) -> int:
    """Bytes of a row, as Spark's estimates take them."""
    widths = {"tinyint": 1, "boolean": 1, "smallint": 2, "int": 4, "date": 4, "float": 4}
    kinds = (field.dataType.simpleString() for field in schema)
    return 8 + sum(20 if kind == "string" else widths.get(kind, 8) for kind in kinds)


def _refuse_stream(df: DataFrame) -> None:
    if is_stream(df):
        raise ColumnError("a stream has no statistics before it runs: give rate= and keys=")

"""What differs between the versions of Spark that Muntin runs on.

    4.0   corr divides by zero in ANSI mode where a column does not vary; later ones give null,
          as they do for a single row and for a NaN beside a column that does not vary. The same
          value without that division: the covariance by the deviations, of the rows where neither
          column is null.

Functions that only later versions have are declared with the aggregates that use them (`since`).
"""

from __future__ import annotations

import re

from pyspark.sql import SparkSession

Version = tuple[int, ...]

_CORR = re.compile(r"\bcorr\((\{\d+\}), (\{\d+\})\)")


def version_of(spark: SparkSession) -> Version:
    """The version as numbers: (4, 0, 5)."""
    return tuple(int(n) for n in spark.version.split("-")[0].split(".")[:3] if n.isdigit())


def native_call(text: str, version: Version) -> str:
    """Spark's own call of an aggregate over {0}, {1}, …, as this version must be asked for it.

    >>> native_call("corr({0}, {1})", (4, 3)), native_call("sum({0})", (4, 0))
    ('corr({0}, {1})', 'sum({0})')
    >>> native_call("corr({0}, {1})", (4, 0)).split(" / ")[0]
    'CASE WHEN regr_count({1}, {0}) > 1 THEN covar_pop({0}, {1})'
    """
    return text if version >= (4, 1) else _CORR.sub(_by_deviations, text)


def _by_deviations(call: re.Match[str]) -> str:
    x, y = call[1], call[2]
    deviations = [
        f"nullif(stddev_pop(CASE WHEN {other} IS NOT NULL THEN CAST({one} AS DOUBLE) END), 0D)"
        for one, other in ((x, y), (y, x))
    ]
    value = " / ".join([f"covar_pop({x}, {y})", *deviations])
    return f"CASE WHEN regr_count({y}, {x}) > 1 THEN {value} END"

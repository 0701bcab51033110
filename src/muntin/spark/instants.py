"""Time columns as whole microseconds since 1970, and back, exactly.

`timestamp` counts from the epoch in UTC. `timestamp_ntz` has no zone and counts as if it were UTC,
as Spark's window() does. A `date` is midnight in the session's zone, as Spark casts it.
"""

from __future__ import annotations

from muntin.errors import ColumnError

_EPOCH = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"


def to_microseconds(column: str, kind: str, name: str) -> str:
    """SQL for the microseconds of a time column of this type."""
    match kind:
        case "timestamp":
            return f"unix_micros({column})"
        case "date":
            return f"unix_micros(CAST({column} AS TIMESTAMP))"
        case "timestamp_ntz":
            return f"timestampdiff(MICROSECOND, {_EPOCH}, {column})"
    raise ColumnError(
        f"time column {name!r} is {kind}, not a timestamp: convert it first, for instance with "
        f"to_timestamp({name}) for text or timestamp_seconds({name}) for Unix seconds"
    )


def from_microseconds(column: str, kind: str) -> str:
    """SQL for the instant, of the type that Spark's window() has for this time column."""
    if kind == "timestamp_ntz":
        # Division of a bigint is in doubles, which lose microseconds three centuries from 1970.
        seconds = f"CAST(CAST({column} AS DECIMAL(20, 0)) / 1000000 AS DECIMAL(18, 6))"
        return f"{_EPOCH} + make_dt_interval(0, 0, 0, {seconds})"
    return f"timestamp_micros({column})"

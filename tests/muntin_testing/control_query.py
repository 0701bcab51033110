"""A stream whose windows come and go: its query, its rows, and what its list of windows means."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession

import muntin as mt
from muntin.model.windows import parse_window
from muntin_testing.oracle import rows_of_window

START = datetime(2024, 1, 1)
SCHEMA = "ts timestamp, k string, n bigint"
AGGREGATES = [mt.sum("n").alias("total"), mt.max("n").alias("most")]
WINDOWS = [
    mt.hopping("20 seconds", "10 seconds", id="always"),
    mt.tumbling("15 seconds", id="first"),
]
END = [(START + timedelta(hours=1), "end", 0)]


def batches(count: int) -> list[list[tuple[Any, ...]]]:
    """Fifteen seconds each, a third of the rows up to nine seconds late: never too late."""
    found = []
    for b in range(count):
        seconds = [15 * b + s - (9 if s % 3 == 0 else 0) for s in range(15)]
        found.append([(START + timedelta(seconds=max(s, 0)), "abcd"[s % 4], s) for s in seconds])
    return [*found, END]


def expected(
    spark: SparkSession, files: Path, control: mt.Control, given: Sequence[Row]
) -> list[Row]:
    """By recomputation over all rows, from what the list says of each window."""
    return listed_rows(spark.read.schema(SCHEMA).parquet(str(files)), control, given)


def listed_rows(rows: DataFrame, control: mt.Control, given: Sequence[Row]) -> list[Row]:
    """The same of a table, whose last row only ends the stream.

    Before a window is complete, those instances of which any row was given must be there whole.
    """
    table = rows.where("k <> 'end'")
    answered = {(row.window_id, row.window.start) for row in given}
    found: list[Row] = []
    for listed in control.list():
        never = listed.state == "suspended" and listed.until is None  # before any row
        if listed.state not in ("running", "suspended") or never:
            continue
        window = parse_window(f"{listed.id} = {listed.window}")
        asked = mt.query("ts", [window], AGGREGATES, keys="k")
        low, high = naive(listed.complete_from), naive(listed.until)
        first = naive(listed.answers_from)
        for row in rows_of_window(table, asked).collect():
            start = row.window.start
            begun = low is None or start >= low
            if not begun and first is not None and start >= first:
                begun = start == first or (listed.id, start) in answered
            if begun and (high is None or row.window.end <= high):
                names = listed.aggregates or ("total", "most")
                values = [row[n] if n in names else None for n in ("total", "most")]
                found.append(Row(*row[:3], *values))
    return found


def naive(instant: datetime | None) -> datetime | None:
    """The same instant as Spark gives it back in UTC."""
    return None if instant is None else instant.replace(tzinfo=None)

"""One question, four answers: a batch, a stream, a database that it fills, and in process."""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import muntin as mt
from muntin_testing.postgres_server import PostgresServer
from muntin_testing.streams import streamed, written
from muntin_testing.trailing_streams import DELAY, admitted, batches

SCHEMA = "ts timestamp, k string, n int, v int, x double"
GIVEN: Any = {
    "time": "ts",
    "keys": "k",
    "windows": ["30 seconds", mt.trailing("1 minute", delay="5 seconds", id="known"), "1 hour"],
    "aggregates": [
        mt.count(),
        mt.sum("v").alias("total"),
        mt.avg("x").alias("mean"),
        mt.count_distinct("v").alias("kinds"),
    ],
    "where": "n % 5 > 0",
}
Known = dict[int, tuple[Any, ...]]


def by_number(rows: Iterable[Iterable[Any]]) -> Known:
    """Rows by their number; instants with their zone."""
    found = [tuple(map(in_utc, row)) for row in rows]
    assert len({row[2] for row in found}) == len(found), "each row is there once"
    return {row[2]: row for row in found}


def in_utc(value: Any) -> Any:
    naive = isinstance(value, datetime) and value.tzinfo is None
    return value.replace(tzinfo=UTC) if naive else value


@pytest.mark.slow
@pytest.mark.parametrize("apart", [pytest.param(False, marks=pytest.mark.long), True])
def test_features_are_equal_wherever_they_are_computed(
    streams: SparkSession, postgres: PostgresServer, tmp_path: Path, apart: bool
) -> None:
    postgres.query("DROP TABLE IF EXISTS features")
    script = [[row[:5] for row in rows] for rows in batches(3, seed=8, late=70)]
    kept = [row for rows in admitted(script) for row in rows]
    assert len(kept) < sum(map(len, script)), "some are late"
    table = streams.createDataFrame(kept, SCHEMA)
    batch = by_number(mt.as_of(table, **GIVEN, events=table if apart else None).collect())
    batch.pop(10**6)  # it lets time pass, and waits for more

    files = written(streams, script, SCHEMA, tmp_path / "files")
    events = streamed(streams, files, SCHEMA) if apart else None
    live = mt.as_of(
        streamed(streams, files, SCHEMA),
        **GIVEN,
        events=events,
        watermark=f"{DELAY} seconds",
        buckets=2,
    )
    sink, emitted = mt.sinks.postgres(postgres.dsn, "features", key=["n"]), []

    def write(rows: DataFrame, number: int) -> None:
        rows = rows.persist()
        emitted.extend(rows.collect())
        sink(rows, number)

    writer = live.writeStream.foreachBatch(write).trigger(availableNow=True)
    writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start().awaitTermination()
    names = ", ".join(f'"{name}"' for name in live.columns)
    served = by_number(postgres.query(f"SELECT {names} FROM features"))
    arrow = table.toArrow()
    local = mt.as_of(arrow, **GIVEN, events=arrow if apart else None)
    in_process = by_number(zip(*(c.to_pylist() for c in local.columns), strict=True))
    in_process.pop(10**6)
    assert len(batch) > 80
    assert by_number(emitted) == batch
    assert served == batch
    assert in_process == batch

"""examples/fraud: payments become features in PostgreSQL, which a lookup by card finds."""

import os
import subprocess
import sys
import time
from pathlib import Path
from runpy import run_path
from tempfile import gettempdir
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin_testing.postgres_server import PostgresServer
from muntin_testing.streams import written

EXAMPLE = Path(__file__).parents[3] / "examples" / "fraud"
COLUMNS = [
    f"{of}__{window}"
    for window in ("5_minutes", "1_hour", "1_week")
    for of in ("count", "sum_amount", "avg_amount")
]


def close_to(row: Any) -> tuple[Any, ...]:
    """Sums may differ in their last bits: a number is equal to one that is close."""
    values = (row[name] for name in COLUMNS)
    return (row["payment"], *(v if v is None else pytest.approx(v) for v in values))


def as_of_batch(rows: DataFrame) -> dict[str, tuple[Any, ...]]:
    """The features by Spark's own frames, payment by payment."""
    found = mt.as_of(
        rows,
        time="paid",
        keys=["card"],
        windows=["5 minutes", "1 hour", "7 days"],
        aggregates=[mt.count(), mt.sum("amount"), mt.avg("amount")],
        operator="range",
    )
    return {row["payment"]: close_to(row) for row in found.collect()}


@pytest.mark.slow
def test_features_are_found_by_card(
    streams: SparkSession, postgres: PostgresServer, tmp_path: Path
) -> None:
    example = run_path(str(EXAMPLE / "features.py"))
    lookup = run_path(str(EXAMPLE / "lookup.py"))["lookup"]
    postgres.query("DROP TABLE IF EXISTS features")
    parts = [
        [
            (f"{part}-{i}", f"2026-01-01 00:0{part}:{i:02}", f"card-{i % 2}", float(i + part))
            for i in range(8)
        ]
        for part in range(2)
    ]
    text = "payment string, paid string, card string, amount double"
    raw = written(streams, parts, text, tmp_path / "files")
    reader = streams.readStream.schema(text).option("maxFilesPerTrigger", 1).parquet(str(raw))
    payments = reader.selectExpr("payment", "timestamp(paid) AS paid", "card", "amount")
    sink = mt.sinks.postgres(postgres.dsn, "features", key="payment")
    past = streams.sql(
        "SELECT 'h' AS payment, timestamp('2025-12-31') AS paid, 'card-1' AS card, 100d AS amount"
    )
    history = mt.History(past, until="2026-01-01T00:00:00Z")
    writer = example["features"](payments, history).writeStream.foreachBatch(sink)
    writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination()
    newest = lookup(postgres.dsn, "card-1")
    assert newest["payment"] == "1-7"
    assert (newest["count__5_minutes"], newest["count__1_week"]) == (7, 8)
    assert newest["alarm"] is False
    assert lookup(postgres.dsn, "card-9") is None
    table = (
        streams.read.schema(text).parquet(str(raw)).withColumn("paid", F.expr("timestamp(paid)"))
    )
    expected = as_of_batch(table.union(past))
    assert expected["1-7"] == ("1-7", *(newest[name] for name in COLUMNS))


@pytest.mark.long
@pytest.mark.usefixtures("postgres")
def test_one_command_starts_it_and_one_stops_it(spark: SparkSession) -> None:
    folder = Path(gettempdir()) / f"muntin-fraud-test-{os.getpid()}"  # which the server may enter
    run_it("start", folder)
    try:
        limit = time.monotonic() + 120
        while "alarm                    True" not in run_it("card", folder, "card-007"):
            assert time.monotonic() < limit, (folder / "features.log").read_text()[-3000:]
            time.sleep(1)
        found = rows_of((folder / "dsn").read_text())
        names = [int((folder / f"{name}.pid").read_text()) for name in ("payments", "features")]
        schema = run_path(str(EXAMPLE / "features.py"))["SCHEMA"]
        payments = spark.read.schema(schema).json(str(folder / "arriving"))
        past = spark.read.parquet(str(folder / "history.parquet"))
        expected = as_of_batch(payments.union(past))
        assert len(found) > 20
        for row in found:
            assert expected[row["payment"]] == (row["payment"], *(row[name] for name in COLUMNS))
    finally:
        run_it("stop", folder)
    assert not folder.exists()
    assert not any(Path(f"/proc/{pid}").exists() for pid in names)
    print(f"{len(found)} payments compared")


def run_it(command: str, folder: Path, *more: str) -> str:
    script = [sys.executable, str(EXAMPLE / "fraud.py"), command, *more]
    environment = {**os.environ, "FRAUD_FOLDER": str(folder), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(script, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def rows_of(dsn: str) -> list[dict[str, Any]]:
    import psycopg
    from psycopg.rows import dict_row

    with psycopg.connect(dsn, row_factory=dict_row) as connection:
        return connection.execute("SELECT * FROM features").fetchall()

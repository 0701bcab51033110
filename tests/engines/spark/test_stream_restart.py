"""Restarts from a checkpoint: kept windows go on exactly, and another set of windows is refused."""

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, Row, SparkSession

import muntin as mt
from muntin.engines.spark.guard import ADVICE, COMPARED
from muntin_testing.oracle import differences, rows_of_window
from muntin_testing.streams import streamed, written

SCHEMA = "ts timestamp, k string, n bigint"
SHORT, LONG = mt.tumbling("10 seconds"), mt.hopping("1 minute", "20 seconds")
AGGREGATES = [mt.sum("n").alias("total"), mt.max("n").alias("most")]
BATCHES = [
    [(f"2024-01-01 00:00:{s:02}", "a" if s % 3 else "b", s) for s in range(b * 12, b * 12 + 12)]
    for b in range(4)
]
END = [("2024-01-01 01:00:00", "end", 0)]


def run(rows: DataFrame, checkpoint: Path) -> list[Row]:
    """What a run gave until it had read the files that there were."""
    found: list[Row] = []
    query = (
        rows.writeStream.foreachBatch(lambda batch, _: found.extend(batch.collect()))
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return found


def asked(stream: DataFrame, *windows: mt.Window, **options: Any) -> DataFrame:
    always = {"aggregates": AGGREGATES, "watermark": "5 seconds", "operator": "native"}
    rows: DataFrame = mt.aggregate(stream, "ts", windows, keys="k", **(always | options))
    return rows


@pytest.mark.slow
def test_another_set_of_windows_is_refused_and_kept_ones_go_on(
    streams: SparkSession, tmp_path: Path
) -> None:
    batches = [[(datetime.fromisoformat(t), k, n) for t, k, n in b] for b in [*BATCHES, END]]
    files = written(streams, batches, SCHEMA, tmp_path / "files")
    later = sorted(files.iterdir())[2:]
    aside = tmp_path / "aside"
    aside.mkdir()
    for file in later:
        file.rename(aside / file.name)
    checkpoint = tmp_path / "checkpoint"
    stream = streamed(streams, files, SCHEMA)
    first = run(asked(stream, SHORT, LONG), checkpoint)
    for file in later:
        (aside / file.name).rename(file)
    with pytest.raises(StreamingQueryException, match=ADVICE):
        run(asked(stream, LONG), checkpoint)
    with pytest.raises(StreamingQueryException, match=ADVICE):
        run(asked(stream, LONG, mt.tumbling("7 seconds")), checkpoint)
    others = [mt.sum("n * 2").alias("total"), AGGREGATES[1]]  # of the same type
    with pytest.raises(StreamingQueryException, match=ADVICE):
        run(asked(stream, SHORT, LONG, aggregates=others), checkpoint)
    streams.conf.set(COMPARED, "false")
    with pytest.raises(mt.MuntinError, match=f"{COMPARED} is false: .* set it to true"):
        asked(stream, SHORT, LONG)
    streams.conf.unset(COMPARED)
    with pytest.raises(mt.MuntinError, match="windows can be left out at a restart, not added"):
        asked(stream, LONG, mt.tumbling("7 seconds"), started_with=[SHORT, LONG])
    rest = run(asked(stream, LONG, started_with=[SHORT, LONG]), checkpoint)
    assert {row.window_id for row in first} == {SHORT.id}, "no instance of the other had ended"
    assert {row.window_id for row in rest} == {LONG.id}
    table = streams.read.schema(SCHEMA).parquet(str(files)).where("k <> 'end'")
    expected = rows_of_window(table, mt.query("ts", [LONG], AGGREGATES, keys="k")).collect()
    kept = [row for row in [*first, *rest] if row.window_id == LONG.id]
    assert differences(kept, expected, 1) == []
    assert len(kept) >= 6


@pytest.mark.slow
@pytest.mark.parametrize("then", [("native", "bucketed"), ("bucketed", "native")])
def test_a_restart_with_another_operator_is_refused(
    then: tuple[str, str], streams: SparkSession, tmp_path: Path
) -> None:
    """Spark names the operator of the checkpoint and the present one, and reads no state."""
    batches = [[(datetime.fromisoformat(t), k, n) for t, k, n in b] for b in BATCHES[:2]]
    files = written(streams, batches, SCHEMA, tmp_path / "files")
    second = sorted(files.iterdir())[1]
    second.rename(tmp_path / second.name)
    stream, (first, other) = streamed(streams, files, SCHEMA), then
    run(asked(stream, SHORT, LONG, operator=first), tmp_path / "checkpoint")
    (tmp_path / second.name).rename(second)
    match = "OPERATOR_NOT_MATCH_IN_STATE_METADATA"
    with pytest.raises(StreamingQueryException, match=match):
        run(asked(stream, SHORT, LONG, operator=other), tmp_path / "checkpoint")

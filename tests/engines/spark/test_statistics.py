"""Statistics: what a sample and what files say of the data, and what they cannot say."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

import muntin as mt
from muntin.engines.spark.session import cores_of, make_table
from muntin.engines.spark.statistics import glance
from muntin.planner.options import ASSUMED

QUERY = mt.query("ts", [mt.tumbling("1 hour")], [mt.count()], keys="device")


@pytest.fixture
def events(frugal: SparkSession, tmp_path: Path) -> DataFrame:
    return make_table(frugal, str(tmp_path), rows=20_000, keys=500, rate=10)


def test_statistics_are_those_of_the_table(frugal: SparkSession, events: DataFrame) -> None:
    assert cores_of(frugal) == 2
    whole = mt.statistics(events, QUERY, fraction=1.0)
    assert (whole.rows, whole.keys, whole.origin) == (20_000, 500, "from all rows")
    assert whole.rate == pytest.approx(10, rel=0.01)
    part = mt.statistics(events, QUERY, fraction=0.1)
    assert part.rows == pytest.approx(20_000, rel=0.1)
    assert part.keys == pytest.approx(500, rel=0.15)
    assert part.rate == pytest.approx(10, rel=0.1)
    assert part.origin.startswith("from a sample of ")


def test_files_say_how_many_rows_they_hold(frugal: SparkSession, tmp_path: Path) -> None:
    times = pa.array([i * 100_000 for i in range(1000)], pa.timestamp("us", "UTC"))
    table = pa.table({"ts": times, "device": pa.array([i % 7 for i in range(1000)])})
    for number in (0, 1):
        pq.write_table(table.slice(number * 500, 500), tmp_path / f"{number}.parquet")
    files = mt.statistics(frugal.read.parquet(str(tmp_path)), QUERY, "metadata", keys=7)
    assert (files.rows, files.keys) == (1000, 7)
    assert files.rate == pytest.approx(10, rel=0.01)
    assert "footers" in str(files)


def test_what_is_not_known_is_said(frugal: SparkSession, events: DataFrame) -> None:
    with pytest.raises(mt.MuntinError, match="only local parquet files"):
        mt.statistics(frugal.range(3).selectExpr("now() AS ts", "id AS device"), QUERY, "metadata")
    with pytest.raises(mt.MuntinError, match="do not say when 'ts' begins and ends"):
        mt.statistics(events, QUERY, "metadata")
    with pytest.raises(mt.MuntinError, match=r"sample of 0\.01 of the rows is empty"):
        mt.statistics(events.limit(1), QUERY)
    with pytest.raises(mt.MuntinError, match="unknown statistics 'smaple': did you mean 'sample'"):
        mt.statistics(events, QUERY, "smaple")  # type: ignore[arg-type]
    with pytest.raises(mt.MuntinError, match="fraction 2 must be a number from"):
        mt.statistics(events, QUERY, fraction=2)


def test_plans_rest_on_them(events: DataFrame) -> None:
    found = mt.aggregate(events, queries={"a": QUERY}, statistics="sample").count()
    assert found == mt.aggregate(events, "ts", QUERY.windows, [mt.count()], "device").count()
    known = mt.statistics(events, QUERY, fraction=1.0)
    plan = mt.optimize(QUERY, statistics=known)
    assert "for 20,000 rows, 500 keys, 10 events/s (from all rows)" in plan.explain()


def test_a_glance_runs_no_job_and_says_what_stays_unknown(
    frugal: SparkSession, tmp_path: Path
) -> None:
    """Footers and some rows of local files, else Spark's own estimate of the size."""
    times = pa.array([i * 100_000 for i in range(1000)], pa.timestamp("us", "UTC"))
    table = pa.table({"ts": times, "device": pa.array([i % 7 for i in range(1000)])})
    pq.write_table(table, tmp_path / "events.parquet")
    files = frugal.read.parquet(str(tmp_path))
    found = glance(files, QUERY, ASSUMED)
    assert (found.rows, found.keys, found.unknown) == (1000, 7, ())
    assert found.rate == pytest.approx(10, rel=0.01)
    made = frugal.range(1000).selectExpr("timestamp_seconds(id) AS ts", "id % 7 AS device")
    estimated = glance(made, QUERY, ASSUMED)
    assert 100 < estimated.rows < 10_000
    assert estimated.unknown == ("keys", "rate")
    text = mt.explain(files, "ts", QUERY.windows, QUERY.aggregates, "device").explain()
    assert "1,000 rows, 7 keys, 10 events/s (from the files)" in text
    assert "unknown:" not in text
    renamed = glance(
        files.withColumnRenamed("device", "other"), replace(QUERY, keys=("other",)), ASSUMED
    )
    assert (renamed.rows, renamed.unknown) == (1000, ("keys",))


def test_a_glance_at_files_that_spark_wrote(events: DataFrame) -> None:
    """Their times are INT96, which no footer bounds: some rows tell."""
    found = glance(events, QUERY, ASSUMED)
    assert (found.rows, found.unknown) == (20_000, ())
    assert found.keys == pytest.approx(500, rel=0.1)
    assert found.rate == pytest.approx(10, rel=0.1)


def test_where_spark_has_lost_track_nothing_is_known(frugal: SparkSession) -> None:
    rows = frugal.createDataFrame([(1, 2)], ["ts", "device"])
    crossed = rows.selectExpr("timestamp_seconds(ts) AS ts", "device")
    assert glance(crossed, QUERY, ASSUMED) is ASSUMED

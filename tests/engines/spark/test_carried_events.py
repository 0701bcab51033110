"""A key cut into chunks of time although windows have no bound: what each chunk is given before."""

from collections import Counter
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from conformance.carried import CHUNK, carried_question, count_splits
from conformance.selection import SEED, many
from conformance.test_trailing_spark import by_stage, on_spark
from conformance.trailing_runners import differences, note
from muntin.engines.spark import frame_stage
from muntin.engines.spark.as_of import SparkAsOf
from muntin.engines.spark.repeated import is_repeatable
from muntin.engines.spark.session_facts import tasks_at_once
from muntin.physical.frame_chunks import carry_refusal
from muntin_testing.reached import Reached

pytestmark = pytest.mark.slow

SPLITS = ("keys that are cut", "an empty chunk between", "ties at a border", "more ties than rows")


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Every key is cut into chunks of ten minutes where it can be; counts where that was."""
    found: Counter[str] = Counter()

    def chunk(self: SparkAsOf) -> int | None:
        refused = carry_refusal(self.asked, self._whole.program)
        found["whole" if refused else "carried"] += 1
        return None if refused else CHUNK

    forced: Any = cached_property(chunk)
    forced.__set_name__(SparkAsOf, "chunk")
    monkeypatch.setattr(SparkAsOf, "chunk", forced)
    return found


def test_features_of_cut_keys_are_those_of_brute_force(
    spark: SparkSession, cut: Counter[str]
) -> None:
    reached = Reached()
    for number in range(many(9, 150)):
        asked = carried_question(f"{SEED}/carried/{number}")
        before = cut["carried"]
        wrong = differences(asked, on_spark(spark, asked, "frames"))
        assert not wrong, "\n".join([f"{asked.seed}: {asked}", *wrong[:5]])
        if cut["carried"] > before:
            note(asked, reached)
            count_splits(asked, reached)
    reached.at_least(1, "left", "both", "other events", "null times", "ties", "where", "delay")
    reached.at_least(3, "rows", "lifetime", *SPLITS)


@pytest.mark.slow
def test_portions_of_a_chunk_change_nothing(
    spark: SparkSession, cut: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where what is carried into a chunk is carried on within it, three records at a time."""
    monkeypatch.setattr(frame_stage, "PORTION", 3)
    reached = Reached()
    for number in range(many(8, 100)):
        asked = carried_question(f"{SEED}/carried portions/{number}")
        wrong = differences(asked, by_stage(spark, asked, 3))
        assert not wrong, "\n".join([f"{asked.seed}: {asked}", *wrong[:5]])
        note(asked, reached)
        kinds = [window.rows is not None for window in asked.windows if window.duration is None]
        reached["rows and lifetime"] += cut["carried"] > 0 and len(set(kinds)) == 2
    assert cut["carried"] > many(5, 50)
    reached.at_least(2, "rows", "lifetime", "rows and lifetime")


def busy(spark: SparkSession, folder: Path, rows: int = 20_000) -> DataFrame:
    """A file of one key, with a row every second."""
    table = spark.range(rows).selectExpr(
        "timestamp_seconds(id) AS ts", "'hot' AS k", "id % 7 AS v", "CAST(id AS DOUBLE) AS x"
    )
    spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    table.write.mode("overwrite").parquet(str(folder))
    return spark.read.parquet(str(folder))


ASKED: Any = {
    "time": "ts",
    "keys": "k",
    "windows": [mt.lifetime(), mt.trailing(rows=3), "1 minute"],
    "aggregates": [mt.count(), mt.sum("v"), mt.max("v"), mt.stddev_pop("x")],
    "operator": "frames",
}


def test_a_busy_key_is_shared_out_among_tasks(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What auto knows of the file is enough; explain says what runs."""
    monkeypatch.setattr("muntin.physical.frame_chunks.FEWEST_ROWS", 10_000.0)
    monkeypatch.setattr("muntin.engines.spark.as_of.tasks_at_once", lambda _: 4)
    rows, settings = busy(spark, tmp_path / "busy"), {
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
        "spark.sql.shuffle.partitions": "8",
    }  # fmt: skip
    before = {name: spark.conf.get(name) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        plan = mt.explain(rows, **ASKED)
        found = plan.run()
        tasks = found.groupBy(F.spark_partition_id()).agg(F.max("count__lifetime")).count()
        rows_found = found.collect()
    finally:
        for name, old in before.items():
            spark.conf.set(name, str(old))
    assert tasks > 2
    for row in rows_found:
        place = int(row["x"])
        assert row["count__lifetime"] == place
        assert row["count__1_minute"] == min(place, 60)
        if place:
            assert row["sum_v__3_rows"] == sum(i % 7 for i in range(max(place - 3, 0), place))
            assert row["stddev_pop_x__lifetime"] == pytest.approx(((place**2 - 1) / 12) ** 0.5)
    said = plan.explain()
    assert "one shuffle by k and chunks of" in said
    assert "events of the last 1 minute of a chunk also go to the next" in said
    assert "read three times: a chunk is given the last 3 events and one partial of all" in said
    assert "not split" not in said


def test_explain_says_why_a_key_is_not_split(spark: SparkSession, tmp_path: Path) -> None:
    rows = busy(spark, tmp_path / "busy", 100)
    assert "not known that reading events twice would pay" in mt.explain(rows, **ASKED).explain()
    for changed, why in (
        ({"windows": [mt.trailing(rows=1001)]}, "more than 1,000 rows would go to every chunk"),
        ({"aggregates": [mt.median("v")]}, "what is computed from values needs all events"),
        ({"aggregates": [mt.max_by("v", "x")]}, "the oldest of 'lifetime' counts"),
    ):
        assert why in mt.explain(rows, **{**ASKED, **changed}).explain()


@pytest.mark.parametrize(
    ("settings", "tasks"),
    [
        ({"spark.master": "local[7]"}, 7),
        ({"spark.master": "local"}, 1),
        ({"spark.master": "local[6,3]"}, 6),
        (
            {"spark.master": "yarn", "spark.executor.instances": "5", "spark.executor.cores": "4"},
            20,
        ),
        ({"spark.master": "k8s://x", "spark.default.parallelism": "48"}, 48),
        ({"spark.master": "yarn", "spark.executor.cores": "4"}, 1),
        ({}, 1),
    ],
)
def test_how_many_tasks_run_at_once(settings: dict[str, str], tasks: int) -> None:
    """Where that is not known, one: keys stay whole."""

    class Session:
        conf = settings  # asked as a session's are: get(name, default)

    session: Any = Session()
    assert tasks_at_once(session) == tasks


def test_what_may_change_is_not_read_twice(spark: SparkSession, tmp_path: Path) -> None:
    rows = busy(spark, tmp_path / "busy", 100)
    steady = [rows, rows.where("v > 1").select("ts", "v"), rows.unionAll(rows), spark.range(9)]
    assert all(map(is_repeatable, steady))
    moving = [
        rows.limit(5),
        rows.sample(0.5),
        rows.withColumn("v", F.rand()),
        rows.repartition(3),
        rows.where("rand() > 0.5"),
        rows.dropDuplicates(["v"]),
    ]
    assert not any(map(is_repeatable, moving))
    held = rows.limit(5).cache()
    assert is_repeatable(held)
    assert not is_repeatable(held.union(rows.repartition(3)))
    assert is_repeatable(held.union(rows))
    held.unpersist()

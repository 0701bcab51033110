"""Jobs from a topic into Kafka, Delta and Iceberg: killed, restarted, their windows changed."""

import os
import signal
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin_testing.connectors import CONF, RELEASE, jars_of
from muntin_testing.control_query import END, SCHEMA, START, batches, listed_rows
from muntin_testing.oracle import differences
from muntin_testing.processes import PATIENCE, launched
from muntin_testing.toml import toml

pytestmark = pytest.mark.connectors

ROWS = batches(7)[:-1]
LATE = [(START, "late", 1)]
"""Comes when every window around it has fired."""
RESULTS = (
    "window_id STRING, window STRUCT<start: TIMESTAMP, end: TIMESTAMP>, k STRING, "
    "total BIGINT, most BIGINT"
)
CASES = {
    "kafka": ("kafka",),
    "upserted": ("kafka",),
    "delta": ("kafka", "delta"),
    "merged": ("kafka", "delta"),
    "iceberg": ("kafka", "iceberg"),
}
"""Sinks, and the connectors that their jobs have: `upserted` is a Delta table without any jar of
Delta's, `merged` the same by Spark's own Delta."""
HERE = [kind for kind in CASES if (len(CASES[kind]) == 1) is (RELEASE != "4.1")]
"""Delta and Iceberg have releases for 4.1; what needs Kafka alone runs on the pinned Spark."""


class Pipeline:
    """One job, its topic, and how its results are read back."""

    def __init__(self, kind: str, spark: SparkSession, folder: Path, kafka: str) -> None:
        self.kind, self.spark, self.folder, self.kafka = kind, spark, folder, kafka
        self.topic = f"rows-{kind}"
        self.random = Random(kind)

    def produce(self, rows: list[tuple[Any, ...]]) -> None:
        """Messages in this order: the topic has one partition."""
        table = self.spark.createDataFrame(rows, SCHEMA).coalesce(1)
        messages = table.select(F.to_json(F.struct("*")).alias("value"))
        options = {"kafka.bootstrap.servers": self.kafka, "topic": self.topic}
        messages.write.format("kafka").options(**options).save()

    def write_job(self, jars: Path, lake: Path) -> None:
        """Two files: one runs until it is killed, the other to the end of the topic."""
        tables: dict[str, dict[str, Any]] = {
            "source": {
                "format": "kafka",
                "servers": self.kafka,
                "topic": self.topic,
                "schema": SCHEMA,
                "options": {"maxOffsetsPerTrigger": len(ROWS[0])},
            },
            "query": {
                "time": "ts",
                "keys": ["k"],
                "windows": ["always = 20 seconds/10 seconds", "first = 15 seconds"],
                "aggregates": ["sum(n) as total", "max(n) as most"],
                "watermark": "10 seconds",
                "control": "control",
            },
            "sink": self.sink(),
            "spark": {
                "master": "local[2]",
                "conf": CONF | jars_of(jars, *CASES[self.kind], lake=lake),
            },
        }
        for name, ends in (("endless", False), ("ends", True)):
            trigger: dict[str, Any] = {"checkpoint": "checkpoint", "available_now": ends}
            sections = {**tables, "trigger": trigger}
            text = "\n".join(f"[{each}]\n{toml(table)}\n" for each, table in sections.items())
            (self.folder / f"{name}.toml").write_text(text, encoding="utf-8")

    def sink(self) -> dict[str, Any]:
        match self.kind:
            case "kafka":
                return {"format": "kafka", "servers": self.kafka, "topic": "results"}
            case "iceberg":
                return {"format": "iceberg", "table": "lake.db.results"}
            case "delta":
                return {"format": "delta", "path": "out"}
            case _:
                return {"format": "delta", "path": "out", "mode": "upsert"}

    def run(self, name: str, kill_after: int = 0) -> None:
        """To its end, or until so many more micro-batches are committed, and then kill -9."""
        before = self.committed()
        process = launched(self.folder, "-m", "muntin", "run", str(self.folder / f"{name}.toml"))
        if not kill_after:
            assert process.wait(PATIENCE) == 0, self.log()
            return
        limit = time.monotonic() + PATIENCE
        while self.committed() < before + kill_after:
            assert process.poll() is None, self.log()
            assert time.monotonic() < limit, self.log()
            time.sleep(0.02)
        time.sleep(self.random.uniform(0, 0.5))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def committed(self) -> int:
        commits = self.folder.glob("checkpoint/commits/*")
        return sum(1 for each in commits if each.name.isdigit())

    def forget_last_commit(self) -> None:
        """As if it had been killed after the sink's commit, and before Spark's own."""
        folder = self.folder / "checkpoint" / "commits"
        last = max(int(each.name) for each in folder.iterdir() if each.name.isdigit())
        (folder / str(last)).unlink()
        (folder / f".{last}.crc").unlink(missing_ok=True)

    def log(self) -> str:
        return (self.folder / "log").read_text(encoding="utf-8")[-3000:]

    def results(self) -> list[Row]:
        if self.kind == "kafka":
            return self.received().distinct().collect()
        if self.kind == "iceberg":
            return self.spark.table("lake.db.results").collect()
        if self.kind == "delta":
            return self.spark.read.format("delta").load(str(self.folder / "out")).collect()
        return [_as_result(row) for row in _delta(self.folder / "out")]

    def received(self) -> DataFrame:
        """The messages of the topic; Spark's sink may send some twice after a kill."""
        options = {"kafka.bootstrap.servers": self.kafka, "subscribe": "results"}
        messages = self.spark.read.format("kafka").options(**options).load()
        value = F.from_json(F.col("value").cast("string"), RESULTS)
        return messages.select(value.alias("m")).select("m.*")


def _delta(path: Path) -> list[dict[str, Any]]:
    """Read by deltalake, whoever wrote it."""
    found: list[dict[str, Any]] = DeltaTable(str(path)).to_pyarrow_table().to_pylist()
    return found


def _as_result(row: dict[str, Any]) -> Row:
    bounds = [row[f"window_{bound}"].replace(tzinfo=None) for bound in ("start", "end")]
    window = Row(start=bounds[0], end=bounds[1])
    return Row(
        window_id=row["window_id"], window=window, k=row["k"], total=row["total"], most=row["most"]
    )


@pytest.mark.parametrize("kind", HERE)
def test_a_job_from_a_topic(
    kind: str, spark: SparkSession, kafka: str, jars: Path, lake: Path, tmp_path: Path
) -> None:
    """Two kills, a window registered between them, a late row, and a run to the end."""
    pipeline = Pipeline(kind, spark, tmp_path, kafka)
    pipeline.write_job(jars, lake)
    for batch in ROWS[:2]:
        pipeline.produce(batch)
    pipeline.run("endless", kill_after=1)
    control = mt.Control(tmp_path / "control")
    control.register(mt.hopping("30 seconds", "10 seconds", id="later"))
    for batch in ROWS[2:5]:
        pipeline.produce(batch)
    pipeline.run("endless", kill_after=2)
    for batch in [LATE * len(ROWS[0]), *ROWS[5:], END]:
        pipeline.produce(batch)
    pipeline.run("ends")
    table = spark.createDataFrame([row for batch in ROWS for row in batch], SCHEMA)
    found = [row for row in pipeline.results() if row["k"] != "end"]
    expected = listed_rows(table, control, found)
    assert {row[0] for row in expected} == {"always", "first", "later"}
    assert len(expected) > 60
    assert differences(found, expected, 1) == []
    print(f"{kind}: 2 kills, {len(found)} rows compared")
    if pipeline.sink().get("mode") == "upsert":
        version = DeltaTable(str(tmp_path / "out")).version()
        pipeline.forget_last_commit()
        pipeline.run("ends")
        assert DeltaTable(str(tmp_path / "out")).version() == version, "it was written twice"
        assert version <= pipeline.committed(), "a commit for each micro-batch with rows"

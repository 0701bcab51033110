"""Jobs whose windows come and go: sessions, and trailing windows of [as_of], across a restart."""

import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from typer.testing import CliRunner

import muntin as mt
from muntin.cli import app
from muntin.cli import run as command
from muntin.engines.spark.job import read_rows
from muntin.jobs import read_job
from muntin_testing.control_query import naive

EXAMPLES = Path(__file__).parents[3] / "examples" / "sensors"
FIVE = "2026-01-01 05:40:00"
"""What the watermark has passed in the end."""


class Restarted:
    """A job into files that runs, is told commands, and runs on with its last file."""

    def __init__(self, streams: SparkSession, folder: Path, name: str) -> None:
        self.spark, self.place = streams, Path(shutil.copytree(EXAMPLES, folder / "sensors"))
        self.file, self.control = self.place / name, self.place / "commands"
        self.cli = CliRunner()

    def run(self, text: str, *commands: list[str]) -> DataFrame:
        """The rows that it has written."""
        text = text.replace('format = "console"\nrows = 4', 'format = "parquet"\npath = "out"')
        text = text.replace('watermark = "10', 'control = "commands"\nwatermark = "10')
        self.file.write_text(text + 'checkpoint = "place"\n', encoding="utf-8")
        last = (self.place / "readings/hour-5.csv").rename(self.place / "later.csv")
        self._invoke("run", str(self.file))
        for each in commands:
            self._invoke("control", str(self.control), *each)
        last.rename(self.place / "readings/hour-5.csv")
        self._invoke("run", str(self.file))
        return self.spark.read.parquet(str(self.place / "out"))

    def table(self) -> DataFrame:
        """All readings."""
        return read_rows(self.spark, read_job(self.file).as_table())

    def listed(self) -> dict[str, Any]:
        return {row.id: row for row in mt.Control(self.control).list()}

    def _invoke(self, *words: str) -> None:
        done = self.cli.invoke(app, list(words))
        assert done.exit_code == 0, done.output


@pytest.fixture(autouse=True)
def session(streams: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs run in the session of the tests."""

    @contextmanager
    def opened(*_: object) -> Iterator[SparkSession]:
        yield streams

    monkeypatch.setattr(command, "open_session", opened)


def counted(rows: list[Row]) -> Counter[Any]:
    return Counter(map(tuple, rows))


@pytest.mark.long
def test_sessions_of_a_job_come_and_go(streams: SparkSession, tmp_path: Path) -> None:
    job = Restarted(streams, tmp_path, "sensors.toml")
    text = (EXAMPLES / "sensors.toml").read_text(encoding="utf-8")
    lines = [
        'windows = ["visits = session 1 minute", "fives = 5 records"]'
        if line.startswith("windows")
        else line
        for line in text.splitlines()
    ]
    new = ["register", "session 30 seconds", "--id", "short"]
    found = job.run("\n".join(lines) + "\n", new, ["suspend", "visits"])
    listed = job.listed()
    assert {id: row.state for id, row in listed.items()} == {
        "visits": "suspended",
        "fives": "running",
        "short": "running",
    }
    windows = [mt.session("1 minute", id="visits"), mt.session("30 seconds", id="short")]
    aggregates = [mt.min("temperature").alias("MinTemp")]
    whole = mt.aggregate(job.table(), "EntryTime", windows, aggregates, "DeviceID")
    since, until = naive(listed["short"].complete_from), naive(listed["visits"].until)
    short = f"window_id = 'short' AND window.start >= '{since}' AND window.end <= '{FIVE}'"
    visits = f"window_id = 'visits' AND window.end <= '{until}'"
    for condition, least in ((short, 5), (visits, 40)):
        expected = whole.where(condition).collect()
        own = condition.partition(" AND ")[0]
        ours = found.where(condition if own == "window_id = 'short'" else own).collect()
        assert counted(ours) == counted(expected)
        assert len(expected) > least
    assert not found.where(f"window_id = 'short' AND window.start < '{since}'").count()


@pytest.mark.slow
def test_trailing_windows_of_a_job_come_and_go(streams: SparkSession, tmp_path: Path) -> None:
    job = Restarted(streams, tmp_path, "as_of.toml")
    text = (EXAMPLES / "as_of.toml").read_text(encoding="utf-8")
    new = ["register", "10 minutes", "--id", "short", "--aggregate", "n"]
    found = job.run(text, new, ["suspend", "before"])
    listed = job.listed()
    since, until = naive(listed["short"].complete_from), naive(listed["before"].until)
    aggregates = [
        mt.count().alias("n"),
        mt.min("temperature").alias("MinTemp"),
        mt.max("temperature").alias("MaxTemp"),
    ]
    columns = ["EntryTime", "DeviceID", "temperature", "n", "MinTemp", "MaxTemp"]
    rows = job.table()
    for id, length, condition in (
        ("short", "10 minutes", f"EntryTime >= '{since}' AND EntryTime <= '{FIVE}'"),
        ("before", "30 minutes", f"EntryTime <= '{until}'"),
    ):
        whole = mt.as_of(rows, "EntryTime", [length], aggregates, "DeviceID")
        expected: list[Any] = whole.where(condition).toDF(*columns).collect()
        if id == "short":
            expected = [(*row[:4], None, None) for row in expected]
        own = found.where(f"window_id = '{id}'")
        ours = own.where(condition if id == "short" else "true").select(*columns).collect()
        assert counted(ours) == counted(expected), id
        assert len(expected) > 100
    assert not found.where(f"window_id = 'short' AND EntryTime < '{since}'").count()

"""Windows that come and go on a running stream: the rows are what the history of commands says."""

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from random import Random
from runpy import run_path
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import muntin as mt
from muntin_testing.control_query import (
    AGGREGATES,
    SCHEMA,
    START,
    WINDOWS,
    batches,
    expected,
    naive,
)
from muntin_testing.killed_controls import play_and_kill
from muntin_testing.oracle import differences
from muntin_testing.poison import POISON, SPREAD
from muntin_testing.streams import streamed, written
from muntin_testing.windows import random_window

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
SCRIPT = Path(__file__).with_name("control_run.py")


class Scripted:
    """A stream whose files and commands arrive when the test says so."""

    def __init__(self, spark: SparkSession, tmp_path: Path, rows: list[Any]) -> None:
        self.spark, self.tmp = spark, tmp_path
        self.aside = sorted(written(spark, rows, SCHEMA, tmp_path / "aside").iterdir())
        self.files = tmp_path / "files"
        self.files.mkdir()
        self.found: list[Row] = []

    def start(self, control: mt.Control, **changes: Any) -> StreamingQuery:
        stream = streamed(self.spark, self.files, SCHEMA)
        options: Any = {"watermark": "10 seconds", "buckets": 3, "control": control} | changes
        rows: DataFrame = mt.aggregate(stream, "ts", WINDOWS, AGGREGATES, "k", **options)
        return (
            rows.writeStream.foreachBatch(lambda batch, _: self.found.extend(batch.collect()))
            .outputMode(options.get("output", "append"))
            .option("checkpointLocation", str(self.tmp / "checkpoint"))
            .start()
        )

    def expected(self, control: mt.Control) -> list[Row]:
        """What the list of windows means, for the files that have arrived."""
        return expected(self.spark, self.files, control, self.found)

    def arrive(self, query: StreamingQuery, files: int = 1) -> None:
        """Let some files arrive, and wait until they are worked through."""
        for _ in range(files):
            file = self.aside.pop(0)
            file.rename(self.files / file.name)
            query.processAllAvailable()


def results_of(query: StreamingQuery) -> Mapping[str, float]:
    """How many rows each window has given."""
    last = mt.progress(query)
    assert last is not None
    return last.results


def test_windows_come_and_go_while_the_stream_runs(streams: SparkSession, tmp_path: Path) -> None:
    script = Scripted(streams, tmp_path, batches(6))
    control = mt.Control(tmp_path / "control", grain="1 second")
    query = script.start(control)
    script.arrive(query, 2)
    control.register("30 seconds/5 seconds", "new edges", aggregates=["total"])
    control.register("30 seconds/10 seconds", "served at once")
    other = mt.Control(tmp_path / "control")
    with pytest.raises(mt.MuntinError, match="does not fit the grain of this stream, 1 second"):
        other.register("1500 milliseconds")
    script.arrive(query, 2)
    other.suspend("first")
    query.processAllAvailable()
    assert [row.state for row in control.list()] == ["running", "suspended", "running", "running"]
    query.stop()
    control.register("7 seconds", "first")
    query = script.start(control)
    script.arrive(query)
    control.suspend("new edges")
    script.arrive(query, 2)
    assert list(results_of(query)) == ["always", "served at once", "first"]
    query.stop()
    wrong = differences(script.found, script.expected(control), 1)
    assert wrong == [], control.list()
    ids = [row.window_id for row in script.found]
    assert {id: ids.count(id) > 4 for id in ids} == dict.fromkeys(
        ["always", "first", "new edges", "served at once"], True
    )
    begun = {row.id: naive(row.complete_from) or START for row in control.list()}
    assert begun["served at once"] < START + timedelta(seconds=29) < begun["new edges"]
    early = {row.id: naive(row.answers_from) for row in control.list()}
    assert early["new edges"] is not None, "slices of the others are cut where some begin and end"
    starts = [row.window.start for row in script.found if row.window_id == "new edges"]
    assert min(starts) == early["new edges"] < begun["new edges"]


@pytest.mark.slow
def test_poisonous_files_are_refused_and_the_stream_goes_on_also_after_a_restart(
    streams: SparkSession, tmp_path: Path
) -> None:
    place = tmp_path / "a [control] of {its} own%20"
    place.mkdir()
    (place / "log").mkdir()
    (place / "log/mine.json").write_text("not the stream's")
    script, control = Scripted(streams, tmp_path, batches(3)), mt.Control(place)
    query = script.start(control, buckets=1)
    script.arrive(query)
    assert control.folder is not None
    poison = dict(POISON)
    huge = poison.pop("brackets") * 2  # larger than a command may be
    for i, raw in enumerate(poison.values()):
        (control.folder.commands / f"{i}.json").write_bytes(raw)
    (control.folder.commands / "huge.json").write_bytes(huge)
    (control.folder.commands / "spread.json").write_bytes(SPREAD)
    (control.folder.commands / "empty.json").touch()
    os.mkfifo(control.folder.commands / "pipe.json")
    for folder in ("month=1", "year=2"):
        (control.folder.commands / folder).mkdir()
        (control.folder.commands / folder / "inside.json").write_text("{}")
    control.register("30 seconds/10 seconds", "healthy")
    script.arrive(query)
    states = [row.state for row in control.list()]
    assert states.count("running") == 4, control.list()
    assert sum(state.endswith("refused") for state in states) == len(poison) + 3
    query.stop()
    for i in range(len(poison)):
        (control.folder.commands / f"{i}.json").unlink()  # whoever tidies up does no harm
    query = script.start(control, buckets=1)
    script.arrive(query, 2)
    query.stop()
    assert [row.state for row in control.list()] == states
    assert differences(script.found, script.expected(control), 1) == []
    assert {row.window_id for row in script.found} == {"always", "first", "healthy", "spread"}
    assert (place / "log/mine.json").read_text() == "not the stream's"


@pytest.mark.long
def test_commands_may_come_as_rows_of_any_stream(streams: SparkSession, tmp_path: Path) -> None:
    script, told = Scripted(streams, tmp_path, batches(3)), tmp_path / "told"
    told.mkdir()
    schema = "time timestamp, action string, id string, window string, aggregates array<string>"
    rows = streams.readStream.schema(schema).json(str(told))
    control = mt.Control(tmp_path / "control", commands=rows)
    query = script.start(control, buckets=1)
    script.arrive(query)
    commands = [
        {"time": "2024-01-01T00:00:02", "action": "suspend", "id": "first"},
        {"time": "2024-01-01T00:00:01", "action": "register", "id": "x", "window": "10 seconds"},
        {"time": "2024-01-01T00:00:03", "action": "register", "id": "x", "window": "1 hour"},
        {"time": "2024-01-01T00:00:00", "action": "suspend", "id": "x"},
    ]
    (told / "0.json").write_text("\n".join(map(json.dumps, commands)))
    script.arrive(query, 3)
    assert results_of(query).keys() == {"always", "x"}
    query.stop()
    assert [(row.id, row.state) for row in control.list()] == [
        ("always", "running"),
        ("first", "suspended"),
        ("x", "suspend refused"),
        ("x", "running"),
        ("x", "register refused"),
    ]
    assert differences(script.found, script.expected(control), 1) == []


def test_what_cannot_be_controlled_is_refused_with_a_sentence(
    streams: SparkSession, tmp_path: Path
) -> None:
    table = streams.createDataFrame([], SCHEMA)
    files = tmp_path / "files"
    files.mkdir()
    stream, control = streamed(streams, files, SCHEMA), mt.Control(tmp_path / "control")
    texts = streams.readStream.schema("action string, id int").json(str(files))
    late = streams.readStream.schema("time timestamp").json(str(files))

    def apply(data: DataFrame = stream, **changes: Any) -> None:
        options: Any = {"watermark": "10 seconds", "control": control} | changes
        mt.aggregate(data, "ts", WINDOWS, AGGREGATES, "k", **options)

    refused: list[tuple[dict[str, Any], str]] = [
        ({"data": table, "watermark": None}, "control needs a streaming DataFrame: a batch has no"),
        (
            {"operator": "native"},
            "operator 'native' has fixed windows: leave out `operator` or `control`",
        ),
        ({"output": "complete"}, "needs operator 'bucketed', which cannot run: complete mode"),
        ({"control": str(tmp_path)}, r"must be mt.Control\(path\)"),
        ({"control": mt.Control(tmp_path, grain="4 seconds")}, "'20 seconds/10 seconds' does not"),
        ({"control": mt.Control(commands=table)}, "commands must be a streaming DataFrame"),
        ({"control": mt.Control(commands=texts)}, "need id string, window string; or one column"),
        ({"control": mt.Control(commands=late.withWatermark("time", "1 hour"))}, "leave it out"),
    ]
    for options, reason in refused:
        with pytest.raises(mt.MuntinError, match=reason):
            apply(**options)


@pytest.mark.slow
def test_the_example_prints_what_the_page_shows(
    streams: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    example = run_path(str(ROOT / "examples/control/control.py"))
    example["main"](streams, tmp_path)
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    page = (ROOT / "docs/control.md").read_text(encoding="utf-8").splitlines()
    begin = page.index("```text") + 1
    shown = page[begin : page.index("```", begin)]
    at = printed.index(shown[0])
    assert printed[at : at + len(shown)] == shown
    assert "refused: there is no window 'second' to suspend: known: trend, odd" in printed


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
def test_random_scripts(streams: SparkSession, tmp_path: Path, seed: int) -> None:
    """Commands at random, also while a batch runs, and restarts; refusals are in the list."""
    random, script = Random(seed), Scripted(streams, tmp_path, batches(10))
    control = mt.Control(tmp_path / "control", grain=random.choice([None, "1 second"]))
    query = script.start(control)
    while script.aside:
        for _ in range(random.randrange(3)):
            with suppress(mt.MuntinError):  # an id that is taken, or unknown
                if random.random() < 0.4:
                    control.suspend(random.choice(["always", "first", "x", "y"]))
                else:
                    window = random_window(random, 1_000_000)
                    control.register(window, random.choice(["first", "x", "y"]))
        if random.random() < 0.2:
            query.stop()
            query = script.start(control)
        script.arrive(query)
    query.stop()
    assert differences(script.found, script.expected(control), 1) == []
    assert not any("waiting" in row.state for row in control.list())


@pytest.mark.long
def test_windows_come_and_go_across_kills(streams: SparkSession, tmp_path: Path) -> None:
    """Killed with -9 three times, at any moment: nothing lost, nothing twice, no command either."""
    files = tmp_path / "files"
    aside = sorted(written(streams, batches(16), SCHEMA, tmp_path / "aside").iterdir())
    control = mt.Control(tmp_path / "control")
    commands: dict[int, Callable[[], object]] = {
        1: lambda: control.register("30 seconds/5 seconds", "x"),
        3: lambda: control.suspend("first"),
        6: lambda: control.register("7 seconds", "first", ["most"]),
        8: lambda: control.suspend("x"),
        11: lambda: control.register("40 seconds/10 seconds", "x"),
    }
    play_and_kill(SCRIPT, tmp_path, aside, commands, (4, 9, 12))
    found = streams.read.parquet(str(tmp_path / "out")).where("k <> 'end'").collect()
    assert differences(found, expected(streams, files, control, found), 1) == [], control.list()
    assert [row.state for row in control.list()].count("running") == 3
    assert {row.window_id for row in found} == {"always", "first", "x"}

"""Jobs on Spark: sources, sinks and what is told when Spark refuses; every example runs."""

import copy
import io
import json
import os
import runpy
import shutil
import subprocess
import sys
import tomllib
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from typer.testing import CliRunner

import muntin as mt
from muntin.api.job_features import plan_features
from muntin.cli import app
from muntin.cli import run as command
from muntin.engines.spark.job import read_rows
from muntin.errors import QueryError
from muntin.jobs import Job, read_job
from muntin.jobs.reader import check_job
from muntin_testing.postgres_server import PostgresServer
from muntin_testing.toml import toml

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture
def cli(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    """The command line on the session of the tests."""

    @contextmanager
    def opened(*_: object) -> Iterator[SparkSession]:
        yield spark

    monkeypatch.setattr(command, "open_session", opened)
    return CliRunner()


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The examples in a folder of their own, since some write beside themselves."""
    return Path(shutil.copytree(EXAMPLES, tmp_path / "examples"))


@pytest.mark.usefixtures("compiled")
def test_the_flights_job_prints_its_rows_and_verifies(cli: CliRunner, tmp_path: Path) -> None:
    """A week of it; the whole year would only take longer."""
    text = (EXAMPLES / "flights/flights.toml").read_text(encoding="utf-8")
    text = text.replace("../../src", str(EXAMPLES.parent / "src"))
    file = tmp_path / "flights.toml"
    file.write_text(
        text.replace("keys =", "where = \"departure < '2013-01-08'\"\nkeys ="), encoding="utf-8"
    )
    done = cli.invoke(app, ["run", str(file)], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    assert "over_an_hour" in done.output
    assert "the first 8 are shown" in done.output
    done = cli.invoke(app, ["verify", str(file)])
    assert done.exit_code == 0, done.output
    assert "are Spark's own" in done.output


def test_the_cards_job_writes_a_column_for_each_feature(
    cli: CliRunner, copied: Path, spark: SparkSession
) -> None:
    done = cli.invoke(app, ["run", str(copied / "cards/cards.toml")])
    assert done.exit_code == 0, done.output
    features = spark.read.parquet(str(copied / "cards/features"))
    assert {f"{a}__{w}" for a in ("n", "mean", "most") for w in ("5m", "1h", "1d", "7d")} < set(
        features.columns
    )
    assert features.agg({"n__7d": "max"}).first()[0] == 87  # type: ignore[index]


def test_a_job_asks_as_of_each_row_and_verifies(cli: CliRunner, copied: Path) -> None:
    """The rows are the events, or labels beside events of another file."""
    file = copied / "cards/as_of.toml"
    done = cli.invoke(app, ["run", str(file)], env={"COLUMNS": "300"})
    assert done.exit_code == 0, done.output
    assert "mean__last" in done.output
    assert "the first 5 are shown" in done.output
    done = cli.invoke(app, ["verify", str(file)])
    assert done.output.startswith("equal: all 980 rows are Spark's own")
    job = tomllib.loads(file.read_text(encoding="utf-8"))
    job["events"] = {**job["source"], "columns": {"at": "paid + INTERVAL 7 SECONDS"}}
    job["as_of"] |= {"events_time": "at", "windows": ["1 hour", "2 rows"], "closed": "both"}
    job["as_of"] |= {"operator": "frames"}
    file.write_text(toml(job), encoding="utf-8")
    done = cli.invoke(app, ["verify", str(file)])
    assert done.output.startswith("equal: all 980 rows are Spark's own")


@pytest.mark.slow
def test_a_job_streams_features_into_files(
    cli: CliRunner, copied: Path, streams: SparkSession
) -> None:
    """They are those of a batch, once for each row that the watermark has passed."""
    text = (copied / "sensors/as_of.toml").read_text(encoding="utf-8")
    text = text.replace('format = "console"\nrows = 4', 'format = "parquet"\npath = "out"')
    file = copied / "sensors/as_of.toml"
    file.write_text(text + 'checkpoint = "place"\n', encoding="utf-8")
    done = cli.invoke(app, ["run", str(file)])
    assert done.exit_code == 0, done.output
    assert "as_of.toml: stopped" in done.output
    found = streams.read.parquet(str(copied / "sensors/out"))
    table = job_table(streams, read_job(file)).where("EntryTime <= '2026-01-01T05:40:00Z'")
    assert table.count() > 1_000
    assert found.where("EntryTime <= '2026-01-01T05:40:00Z'").exceptAll(table).count() == 0
    assert table.exceptAll(found).count() == 0


def job_table(spark: SparkSession, job: Job) -> DataFrame:
    """The features of the rows that are there, read as a table."""
    table = job.as_table()
    events = read_rows(spark, table, "events") if table.events else None
    found: DataFrame = plan_features(table, read_rows(spark, table), events).run()
    return found


def test_the_sensors_job_streams_and_shows_what_it_does(cli: CliRunner, copied: Path) -> None:
    file = copied / "sensors/sensors.toml"
    done = cli.invoke(app, ["run", str(file)])
    assert done.exit_code == 0, done.output
    assert "MinTemp" in done.output
    assert "input 1,080 rows" in done.output
    assert "watermark 2026-01-01 05:4" in done.output
    assert "sensors.toml: stopped" in done.output


def test_a_stream_into_files_goes_on_where_it_stopped(
    cli: CliRunner, copied: Path, spark: SparkSession
) -> None:
    text = (copied / "sensors/sensors.toml").read_text(encoding="utf-8")
    text = text.replace('format = "console"\nrows = 4', 'format = "parquet"\npath = "out"')
    file = copied / "sensors/files.toml"
    file.write_text(text + 'checkpoint = "place"\n', encoding="utf-8")
    readings = copied / "sensors/readings"
    last = (readings / "hour-5.csv").rename(copied / "later.csv")
    assert cli.invoke(app, ["run", str(file)]).exit_code == 0
    last.rename(readings / "hour-5.csv")
    assert cli.invoke(app, ["run", str(file)]).exit_code == 0
    written = spark.read.parquet(str(copied / "sensors/out"))
    job = read_job(file)
    whole = mt.aggregate(
        read_rows(spark, job.as_table()),
        "EntryTime",
        [mt.tumbling(f"{n} minutes", id=f"{n} min") for n in (10, 20, 30, 40)],
        [mt.min("temperature").alias("MinTemp")],
        keys=["DeviceID"],
    )
    fired = whole.where("window.end <= timestamp'2026-01-01 05:49:00'")
    assert fired.exceptAll(written).count() == 0
    assert written.exceptAll(whole).count() == 0


@pytest.mark.usefixtures("streams")
@pytest.mark.slow
def test_a_stream_starts_from_history(cli: CliRunner, copied: Path, spark: SparkSession) -> None:
    """Which is needed no more once it has started."""
    here = copied / "sensors"
    text = (here / "sensors.toml").read_text(encoding="utf-8")
    text = text.replace('format = "console"\nrows = 4', 'format = "parquet"\npath = "out"')
    past = '[history]\nformat = "csv"\npath = "past"\nuntil = "2026-01-01T03:07:00Z"\n'
    file = here / "files.toml"
    file.write_text(f'{text}checkpoint = "place"\n{past}', encoding="utf-8")
    whole = read_rows(spark, read_job(file).as_table()).localCheckpoint()
    shutil.copytree(here / "readings", here / "past")
    for hour in range(3):
        (here / f"readings/hour-{hour}.csv").unlink()
    last = (here / "readings/hour-5.csv").rename(copied / "later.csv")
    assert cli.invoke(app, ["run", str(file)]).exit_code == 0
    last.rename(here / "readings/hour-5.csv")
    shutil.rmtree(here / "past")
    done = cli.invoke(app, ["run", str(file)])
    assert done.exit_code == 0, done.output
    asked = mt.query(
        "EntryTime",
        [mt.tumbling(f"{n} minutes", id=f"{n} min") for n in (10, 20, 30, 40)],
        [mt.min("temperature").alias("MinTemp")],
        keys=["DeviceID"],
    )
    written = spark.read.parquet(str(here / "out"))
    own = mt.optimize(asked).apply(whole).where("window.end > timestamp'2026-01-01 03:07:00'")
    fired = own.where("window.end <= timestamp'2026-01-01 05:49:00'")
    assert fired.exceptAll(written).count() == 0
    assert written.exceptAll(own).count() == 0
    shutil.rmtree(here / "place")
    done = cli.invoke(app, ["run", str(file)])
    assert "history.path leads to no file or folder, and the stream has" in str(done.exception)


@pytest.mark.slow
@pytest.mark.parametrize("apart", [True, pytest.param(False, marks=pytest.mark.long)])
def test_features_start_from_history(
    cli: CliRunner, copied: Path, streams: SparkSession, apart: bool
) -> None:
    """Which is that of the events, where these are others than the rows."""
    here = copied / "sensors"
    job = tomllib.loads((here / "as_of.toml").read_text(encoding="utf-8"))
    job |= {"sink": {"format": "parquet", "path": "out"}}
    job["trigger"]["checkpoint"] = "place"
    if apart:
        job["events"] = {**job["source"], "columns": {"at": "EntryTime + INTERVAL 7 SECONDS"}}
        job["as_of"] |= {"events_time": "at"}
    file = here / "features.toml"
    file.write_text(toml(job), encoding="utf-8")
    until = "2026-01-01T03:07:00Z"
    expected = job_table(streams, read_job(file)).where(
        f"EntryTime >= '{until}' AND EntryTime <= '2026-01-01T05:40:00Z'"
    )
    wanted = sorted(map(repr, expected.collect()))
    job["history"] = {"format": "csv", "path": "past", "until": until}
    file.write_text(toml(job), encoding="utf-8")
    shutil.copytree(here / "readings", here / "past")
    for hour in range(3):
        (here / f"readings/hour-{hour}.csv").unlink()
    done = cli.invoke(app, ["run", str(file)])
    assert done.exit_code == 0, done.output
    found = streams.read.parquet(str(here / "out")).where("EntryTime <= '2026-01-01T05:40:00Z'")
    assert sorted(map(repr, found.collect())) == wanted
    early = found.where(f"EntryTime < timestamp'{until}' + INTERVAL 20 MINUTES")
    assert len(wanted) > 400
    assert early.agg({"n__before": "min"}).first()[0] > 5, "of the table"  # type: ignore[index]


@pytest.mark.parametrize("name", ["flights/flights.py", "sensors/sensors.py", "cards/cards.py"])
def test_an_example_runs_as_it_stands(name: str, compiled: SparkSession) -> None:
    shown = {"flights": "equal: all", "sensors": "10 minutes", "cards": "card-07"}
    module = runpy.run_path(str(EXAMPLES / name))
    with redirect_stdout(io.StringIO()) as printed:
        module["main"]()
    assert shown[name.split("/")[0]] in printed.getvalue()
    compiled.catalog.dropTempView("coldest")


BROKEN: dict[str, tuple[str, str, str]] = {
    "no such time": ('time = "paid"', 'time = "pad"', "time 'pad' is not a column: did you mean"),
    "no such key": ('["card"]', '["crd"]', "key 'crd' is not a column: did you mean 'card'"),
    "no such input": ("avg(amount)", "avg(amont)", "input 'amont' cannot be computed"),
    "another format": ('format = "csv"', 'format = "parquet"', "source.path cannot be read as par"),
    "no files": ('"cards.csv"', '"empty"', "source.path holds no csv files from which"),
    "no such type": (
        "TIMESTAMP",
        "TIMSTAMP",
        "source.schema cannot be read: [UNSUPPORTED_DATATYPE]",
    ),
    "no comma": ("TIMESTAMP,", "TIMESTAMP", "source.schema cannot be read: "),
    "no such folders": (
        "[sink]",
        '[sink]\npartition_by = ["crd"]',
        "sink.partition_by has, as entry 1, no column of the results: did you mean 'card'?",
    ),
    "no such operator": ("[sink]", 'operator = "kernl"\n\n[sink]', "did you mean 'kernel'"),
    "no condition": (
        "[sink]",
        'where = "amount >"\n\n[sink]',
        "where 'amount >' cannot be",
    ),
    "no file of that name": (
        '"cards.csv"',
        '"card.csv"',
        "source.path leads to no file or folder, seen from",
    ),
}
"""An example's job, broken: what is replaced, by what, and what is told."""


@pytest.mark.parametrize("mistake", BROKEN)
def test_a_broken_example_is_told_with_its_file_and_what_to_do(
    mistake: str, cli: CliRunner, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before, after, message = BROKEN[mistake]
    text = (EXAMPLES / "cards/cards.toml").read_text(encoding="utf-8")
    assert before in text
    text = text.replace(before, after)
    if mistake in ("another format", "no files"):
        text = text.replace("schema =", "# schema =")
    shutil.copy(EXAMPLES / "cards/cards.csv", tmp_path)
    (tmp_path / "empty").mkdir()
    file = tmp_path / "cards.toml"
    file.write_text(text, encoding="utf-8")
    told = str(cli.invoke(app, ["run", str(file)]).exception)
    assert told.startswith(f"{file}: ")
    assert message in told
    assert "\n" not in told
    assert "QueryContextLogger" not in capfd.readouterr().err


CANARY = "k3y-Tweet-xyzzy"
CANARIES: dict[str, dict[str, dict[str, Any]]] = {
    "no such mode": {"source": {"options": {"mode": CANARY}}},
    "no such encoding": {"source": {"options": {"encoding": CANARY}}},
    "no such zone": {"source": {"options": {"timeZone": CANARY}}},
    "no such pattern": {"source": {"options": {"timestampFormat": CANARY}}},
    "no number": {"source": {"options": {"maxColumns": CANARY}}},
    "no truth": {"source": {"options": {"inferSchema": CANARY}, "schema": None}},
    "no time": {"source": {"options": {"modifiedBefore": CANARY}}},
    "no schema": {"source": {"schema": CANARY}},
    "no column": {"source": {"columns": {"x": CANARY.replace("-", "_")}}},
    "no expression": {"source": {"columns": {"x": f"aes_decrypt(amount, '{CANARY}', 'GCM', 1"}}},
    "no result": {"source": {"columns": {"x": f"assert_true(false, '{CANARY}')"}}},
    "no scheme": {"source": {"path": f"{CANARY}://user:{CANARY}@place/"}},
    "no such codec": {"sink": {"options": {"compression": CANARY}}},
    "no folder to write": {"sink": {"path": f"{CANARY}://{CANARY}@place/out"}},
    "no column to part by": {"sink": {"partition_by": [CANARY]}},
}
"""A secret where Spark would say it."""


@pytest.mark.slow
def test_what_spark_says_is_passed_on_without_the_values_of_options(
    cli: CliRunner, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(EXAMPLES / "cards/cards.csv", tmp_path)
    whole = tomllib.loads((EXAMPLES / "cards/cards.toml").read_text(encoding="utf-8"))
    whole["query"]["windows"], whole["query"]["layout"] = ["1 hour"], "long"
    file, refused = tmp_path / "job.toml", 0
    for place, changes in CANARIES.items():
        changed = copy.deepcopy(whole)
        for section, options in changes.items():
            changed[section] |= options
            changed[section] = {k: v for k, v in changed[section].items() if v is not None}
        file.write_text(toml(changed), encoding="utf-8")
        for words in ("run", "verify") if "source" in changes else ("run",):
            done = cli.invoke(app, [words, str(file)])
            raised = "".join(traceback.format_exception(*done.exc_info)) if done.exc_info else ""
            printed = capfd.readouterr()
            heard = f"{done.output}{done.stderr}{raised}{printed.out}{printed.err}".lower()
            assert "tweet" not in heard, f"{words}, {place}: {raised}"
            assert "xyzzy" not in heard, f"{words}, {place}: {raised}"
            if words == "run" and done.exit_code:
                assert isinstance(done.exception, mt.MuntinError), f"{place}: {raised}"
                refused += 1
    assert refused >= 10, refused


def test_the_log_of_a_start_that_fails_says_no_setting(tmp_path: Path) -> None:
    text = (EXAMPLES / "cards/cards.toml").read_text(encoding="utf-8")
    shutil.copy(EXAMPLES / "cards/cards.csv", tmp_path)
    file = tmp_path / "cards.toml"
    file.write_text(f'{text}\n[spark.conf]\nspark.driver.memory = "{CANARY}"\n', encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "muntin", "run", file], capture_output=True)
    printed = (done.stdout + done.stderr).decode().lower()
    assert done.returncode == 2, printed
    assert f"error: {file}: spark cannot be started" in printed
    assert "traceback" not in printed
    assert "tweet" not in printed


def job(source: dict[str, Any], **sections: Any) -> Job:
    query = {"time": "ts", "windows": ["1 minute"], "aggregates": ["count(*)"]}
    table = {"source": source, "query": query, "sink": {"format": "console"}, **sections}
    return check_job(table, Path("job.toml"))


def test_a_format_that_spark_lacks_says_what_to_install(spark: SparkSession) -> None:
    kafka = {"format": "kafka", "topic": "t", "servers": "localhost:1", "schema": "ts TIMESTAMP"}
    asked = check_job(
        {
            "source": kafka,
            "query": {
                "time": "ts",
                "windows": ["1 minute"],
                "aggregates": ["count(*)"],
                "watermark": "0 seconds",
            },
            "sink": {"format": "console"},
        },
        Path("job.toml"),
    )
    with pytest.raises(QueryError, match=r"'kafka' is not known to this Spark: put .*connector"):
        read_rows(spark, asked)


def test_a_column_that_cannot_be_computed_is_named(spark: SparkSession) -> None:
    source = {"format": "csv", "path": str(EXAMPLES / "cards/cards.csv")}
    with pytest.raises(QueryError, match=r"source\.columns\.ts cannot be computed"):
        read_rows(spark, job({**source, "columns": {"ts": "payed"}}))
    rows = read_rows(spark, job({**source, "columns": {"ts": "paid + interval 1 hour"}}))
    assert dict(rows.dtypes) == {
        "paid": "timestamp",
        "card": "string",
        "amount": "double",
        "ts": "timestamp",
    }


def test_results_already_there_are_not_overwritten_unasked(cli: CliRunner, copied: Path) -> None:
    file = copied / "cards/cards.toml"
    text = file.read_text(encoding="utf-8").replace('mode = "overwrite"\n', "")
    file.write_text(text, encoding="utf-8")
    (copied / "cards/features").mkdir()
    done = cli.invoke(app, ["run", str(file)])
    assert "is there already: set sink.mode to 'overwrite' or 'append'" in str(done.exception)


@pytest.mark.parametrize("operator", ["native", pytest.param("bucketed", marks=pytest.mark.long)])
def test_progress_tells_rates_state_watermark_and_late_rows(
    operator: str, streams: SparkSession, tmp_path: Path
) -> None:
    """Three files, three micro-batches: the last one holds a row that comes too late."""
    (tmp_path / "in").mkdir()
    stream = (
        streams.readStream.schema("ts TIMESTAMP, k STRING")
        .option("maxFilesPerTrigger", "1")
        .json(str(tmp_path / "in"))
    )
    results = mt.aggregate(  # type: ignore[call-overload]
        stream,
        "ts",
        [mt.tumbling("1 minute"), mt.hopping("2 minutes", "1 minute")],
        [mt.count()],
        keys="k",
        watermark="0 seconds",
        operator=operator,
    )
    seen = []
    for place, minutes in enumerate([[0, 1, 5], [8], [0]]):
        lines = [f'{{"ts": "2026-01-01T00:{m:02}:00Z", "k": "a"}}\n' for m in minutes]
        (tmp_path / f"in/{place}.json").write_text("".join(lines), encoding="utf-8")
        query = (
            results.writeStream.format("noop")
            .option("checkpointLocation", str(tmp_path / "place"))
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(60)
        assert query.exception() is None
        seen.append(mt.progress(query))
        assert seen[-1] is not None
        assert not seen[-1].active
    first, second, third = [p for p in seen if p is not None]
    assert str(first.watermark) == "2026-01-01 00:05:00+00:00"
    assert str(second.watermark) == "2026-01-01 00:08:00+00:00"
    assert first.results["1 minute"] > 0
    assert set(first.results) == {"1 minute", "2 minutes/1 minute"}
    assert first.state_rows > 0
    assert first.state_bytes > 0
    assert second.batch > first.batch
    assert third.late_rows > 0
    assert third.results["1 minute"] == 0


@pytest.mark.slow
def test_jobs_into_sinks_that_replace_rows_by_key(
    cli: CliRunner, copied: Path, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch and a stream, twice each: the rows are there once."""
    from deltalake import DeltaTable

    monkeypatch.setenv("CARDS_DSN", postgres.dsn)
    postgres.query("DROP TABLE IF EXISTS cards; DROP TABLE IF EXISTS sensors")
    cards = tomllib.loads((copied / "cards/cards.toml").read_text(encoding="utf-8"))
    sensors = tomllib.loads((copied / "sensors/sensors.toml").read_text(encoding="utf-8"))
    place = {"available_now": True, "checkpoint": "place"}

    def into(table: str) -> dict[str, str]:
        return {"format": "postgres", "dsn": "env:CARDS_DSN", "table": table}

    sinks: dict[str, Any] = {
        "cards/one": cards | {"sink": into("cards")},
        "cards/two": cards | {"sink": {"format": "delta", "path": "table", "mode": "upsert"}},
        "sensors/one": sensors | {"sink": into("sensors"), "trigger": place},
    }
    counts = []
    for _ in range(2):
        for name, job in sinks.items():
            file = copied / f"{name}.toml"
            file.write_text(toml(job), encoding="utf-8")
            done = cli.invoke(app, ["run", str(file)])
            assert done.exit_code == 0, done.output
        counts += [postgres.query(f"SELECT count(*) FROM {t}")[0][0] for t in ("cards", "sensors")]
        counts.append(DeltaTable(str(copied / "cards/table")).to_pyarrow_table().num_rows)
    assert counts[:3] == counts[3:]
    assert counts[0] == counts[2] > 100
    assert counts[1] > 10


@pytest.mark.slow
@pytest.mark.usefixtures("streams")
def test_a_job_writes_late_rows_aside(cli: CliRunner, tmp_path: Path) -> None:
    """Files, one a micro-batch: a row that is too late, and one from the future."""
    (tmp_path / "in").mkdir()
    for place, minutes in enumerate([["00:00", "00:01"], ["00:20"], ["00:00"], ["00:40"]]):
        lines = [f'{{"ts": "2026-01-01T{m}:00Z", "k": "a"}}\n' for m in minutes]
        lines += ['{"ts": "2100-01-01T00:00:00Z", "k": "a"}\n'] if place == 0 else []
        file = tmp_path / f"in/{place}.json"
        file.write_text("".join(lines), encoding="utf-8")
        os.utime(file, (1_700_000_000 + place,) * 2)
    job: dict[str, Any] = {
        "source": {
            "format": "json",
            "path": "in",
            "stream": True,
            "schema": "ts TIMESTAMP, k STRING",
            "options": {"maxFilesPerTrigger": "1"},
        },
        "query": {
            "time": "ts",
            "keys": ["k"],
            "windows": ["1 minute"],
            "aggregates": ["count(*) as n"],
            "watermark": "0 seconds",
            "future": "1 day",
        },
        "sink": {"format": "parquet", "path": "out", "late_to": "late", "late_records": True},
        "trigger": {"available_now": True, "checkpoint": "place"},
    }
    file = tmp_path / "job.toml"
    file.write_text(toml(job), encoding="utf-8")
    done = cli.invoke(app, ["run", str(file)])
    assert done.exit_code == 0, done.output
    late = pq.read_table(tmp_path / "late").to_pylist()
    assert [(row["window_id"], row["n"], len(row["missed"])) for row in late] == [
        ("1 minute", 1, 1)
    ]
    assert [json.loads(text) for row in late for text in row["records"]] == [
        {"ts": "2026-01-01T00:00:00.000000Z", "k": "a"}
    ]
    found = pq.read_table(tmp_path / "out").to_pylist()
    assert sorted(row["window"]["start"].minute for row in found) == [0, 1, 20]


def test_a_job_whose_server_is_down_says_no_secret(cli: CliRunner, copied: Path) -> None:
    job = tomllib.loads((copied / "cards/cards.toml").read_text(encoding="utf-8"))
    dsn = "host=127.0.0.1 port=1 user=ada password=s3cret-Word"
    job["sink"] = {"format": "postgres", "dsn": dsn, "table": "cards"}
    file = copied / "cards/down.toml"
    file.write_text(toml(job), encoding="utf-8")
    done = cli.invoke(app, ["run", str(file)])
    assert done.exit_code != 0
    said = f"{done.output} {''.join(traceback.format_exception(done.exception))}"
    assert "cannot connect to PostgreSQL" in said
    assert "s3cret" not in said


@pytest.mark.parametrize(
    ("sink", "words"),
    [
        ({"format": "postgres", "table": "t"}, "sink.dsn is missing"),
        ({"format": "postgres", "dsn": "host=h"}, "sink.table is missing"),
        ({"format": "postgres", "dsn": "host=h", "table": "t", "mode": "append"}, "sink.mode is"),
        ({"format": "parquet", "path": "o", "mode": "upsert"}, "sink.mode is 'upsert'"),
        ({"format": "parquet", "path": "o", "key": ["a"]}, "sink.key is given"),
        ({"format": "console", "dsn": "host=h"}, "sink.dsn is given"),
        (
            {"format": "delta", "path": "o", "mode": "upsert", "options": {"a": "b"}},
            "sink.options is given",
        ),
    ],
)
def test_what_sinks_by_key_need(copied: Path, sink: dict[str, Any], words: str) -> None:
    job = tomllib.loads((copied / "cards/cards.toml").read_text(encoding="utf-8"))
    with pytest.raises(mt.MuntinError, match=words):
        check_job(job | {"sink": sink}, copied / "cards/cards.toml")

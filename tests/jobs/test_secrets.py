"""No command repeats the value of an option, wherever in a job file it stands."""

import io
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from copy import deepcopy
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from muntin.cli import app
from muntin.cli import run as command
from muntin.cli.explain import explain
from muntin.errors import QueryError
from muntin.jobs import Job, options_of
from muntin.jobs.job import SECTIONS
from muntin.jobs.secrets import SAID
from muntin_testing.toml import toml

CANARY, NUMBER = "k3y-Tweet-xyzzy", 918273645546372819
WORDS = ("tweet", "xyzzy", str(NUMBER), "0.918273645546372")

KAFKA = {
    "source": {"format": "kafka", "topic": "events", "servers": "broker:9092", "schema": "t INT"},
    "query": {
        "time": "timestamp",
        "windows": ["1 hour", "1 day/1 hour"],
        "aggregates": ["count(*) as n"],
        "watermark": "1 minute",
    },
    "sink": {"format": "kafka", "topic": "results", "servers": "broker:9092"},
    "trigger": {"checkpoint": "place", "interval": "10 seconds"},
    "spark": {"conf": {"spark.sql.shuffle.partitions": 2}},
}
FILES = {
    "source": {"format": "csv", "path": ".", "columns": {"t": "1"}},
    "query": {"time": "ts", "windows": ["1 hour"], "aggregates": ["count(*)"]},
    "sink": {"format": "parquet", "path": "out", "mode": "overwrite", "partition_by": ["n"]},
}
FEATURES = {
    "source": {"format": "csv", "path": "."},
    "as_of": {"time": "ts", "windows": ["1 hour"], "aggregates": ["count(*)"], "keys": ["k"]},
    "events": {"format": "csv", "path": ".", "columns": {"t": "1"}},
    "sink": {"format": "console"},
}
JAAS = f'org.apache.kafka.PlainLoginModule required username="u" password="{CANARY}";'
VALUES: tuple[Any, ...] = (
    CANARY,
    JAAS,
    [CANARY],
    [[CANARY], NUMBER],
    {"kafka.sasl.jaas.config": JAAS},
    {"a": {"b": [CANARY]}},
    {"a": date(2024, 1, 1), "b": CANARY},
    [{"password": CANARY}],
    NUMBER,
    NUMBER / 10**18,
    -NUMBER,
)


def placed(job: dict[str, Any], section: str, key: str, value: object) -> dict[str, Any]:
    found = deepcopy(job)
    found.setdefault(section, {})[key] = value
    return found


def positions() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every option, typo and wrong type with a canary in it, under a name."""
    for base in (KAFKA, FILES, FEATURES):
        for section, kind in SECTIONS.items():
            for key in options_of(kind):
                for value in VALUES:
                    said = section in SAID and isinstance(value, str | list | float)
                    if not said or key in ("layout", "empty", "output", "closed"):
                        yield f"{section}.{key}", placed(base, section, key, value)
                yield f"{section}.{key}?", placed(base, section, f"{key}s", CANARY)
                yield f"{section}?", {**base, f"{section}x": {key: CANARY}}
                yield key, {**base, key: CANARY}
            for value in VALUES:
                yield section, {**base, section: value}
                yield f"{section}?", {**base, f"{section}s": value}
        for section in ("source", "sink"):
            for value in VALUES:
                options = {"kafka.sasl.jaas.config": value, "header": True}
                yield f"{section}.options", placed(base, section, "options", options)
        for value in VALUES:
            conf = {"spark.hadoop.fs.s3a.secret.key": value}
            yield "spark.conf", placed(base, "spark", "conf", conf)


def everything(job: Job) -> str:
    """What the most talkative of Sparks would say."""
    return f"{job.source!r} {job.events!r} {job.sink!r} {job.trigger!r} {job.spark!r}".replace(
        "\n", " "
    )


COMMANDS: dict[str, Callable[[Path], None]] = {
    "explain": lambda file: explain(job=file),
    "run": command.run,
    "verify": command.verify_job,
}


def output(call: Callable[[Path], None], file: Path) -> str:
    """All that a command prints, and what it raises."""
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        try:
            call(file)
        except Exception:
            traceback.print_exc(limit=0)
    return printed.getvalue()


def test_a_canary_is_heard_in_no_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = []

    @contextmanager
    def open_session(job: Job, *_: object) -> Iterator[None]:
        started.append(job)
        if len(started) % 2:
            raise QueryError(f"Spark cannot be started: {everything(job)}")
        raise RuntimeError(everything(job))
        yield

    monkeypatch.setattr(command, "open_session", open_session)
    file, tried = tmp_path / "job.toml", 0
    for place, job in positions():
        file.write_text(toml(job), encoding="utf-8")
        for name, call in COMMANDS.items():
            printed = output(call, file).lower()
            heard = [word for word in WORDS if word in printed]
            assert not heard, f"muntin {name}, {place}: {printed}"
            tried += 1
    assert tried > 3000, tried
    assert len(started) > 100, "many of them are jobs that would run"


def test_only_what_was_hidden_is_missing_from_a_message(tmp_path: Path) -> None:
    file = tmp_path / "job.toml"
    file.write_text(toml({**KAFKA, "sorce": {"password": CANARY}}), encoding="utf-8")
    done = CliRunner().invoke(app, ["explain", "--job", str(file)])
    assert str(done.exception) == f"{file}: unknown section [sorce]: did you mean 'source'?"
    options = {"kafka.sasl.jaas.config": [CANARY]}
    file.write_text(toml(placed(KAFKA, "source", "options", options)), encoding="utf-8")
    done = CliRunner().invoke(app, ["run", str(file)])
    assert str(done.exception) == (
        f"{file}: source.options.kafka.sasl.jaas.config is a list: it must be a text, number or "
        "boolean"
    )

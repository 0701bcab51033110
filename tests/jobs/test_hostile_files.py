"""Whatever a job file says, it is told with the file and the key: no stack trace, no hanging."""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from muntin.api.job_features import explain_features
from muntin.api.optimize import plan_job
from muntin.cli.explain import explain
from muntin.errors import MuntinError
from muntin.jobs import JobError, options_of, read_job, report_errors
from muntin.jobs.job import SECTIONS
from muntin_testing.toml import toml
from muntin_testing.watchdog import watchdog

JOB: dict[str, Any] = {
    "source": {"format": "csv", "path": ".", "columns": {"t": "1"}, "options": {"header": True}},
    "query": {
        "time": "ts",
        "windows": ["1 hour", "session 30 minutes", "100/10 records"],
        "aggregates": ["count(*)", "avg(t) filter (where t > 30) as hot"],
    },
    "sink": {"format": "console", "rows": 8},
    "spark": {"conf": {"spark.sql.shuffle.partitions": 2}},
}


FEATURES: dict[str, Any] = {name: part for name, part in JOB.items() if name != "query"} | {
    "as_of": {
        "time": "ts",
        "windows": ["1 hour", "10 rows", "lifetime delayed by 1 day"],
        "aggregates": ["count(*)", "avg(t) filter (where t > 30) as hot"],
        "order_by": ["t"],
    },
    "events": JOB["source"],
}


@pytest.fixture(autouse=True)
def _watchdog() -> Iterator[None]:
    with watchdog(120, "a hostile file"):
        yield


def told(file: Path) -> str | None:
    """The sentence that a command ends with, or None if it runs."""
    try:
        with report_errors(job := read_job(file)):
            explain_features(job) if job.as_of else plan_job(job)
    except MuntinError as error:
        said = str(error)
        assert said.startswith(str(file)), said
        assert "\n" not in said
        assert len(said) < 700 + len(str(file)), said
        return said
    return None


HOSTILE: dict[str, tuple[bytes, str]] = {
    "brackets": (b"a = " + b"[" * 5000, "is nested too deeply"),
    "closed brackets": (b"a = " + b"[" * 5000 + b"]" * 5000, "is nested too deeply"),
    "braces": (b"a = " + b"{a = " * 5000, "is nested too deeply"),
    "sections": (b"[" + b"a." * 900 + b"a]\nb = 1", "unknown section [a]"),
    "deep options": (
        b"[source]\nformat = 'csv'\n[source.options." + b"a." * 980 + b"a]\nb = 1",
        "is nested too deeply",
    ),
    "a key of many parts": (b"a." * 100_000 + b"a = 1", "more than 1,000 dots in line 1"),
    "5,000 digits": (b"[source]\nport = " + b"9" * 5000, "a number of thousands of digits"),
    "NUL": (b"[source]\nformat = 'c\0sv'", "is not TOML: "),
    "no UTF-8": (b"[source]\nformat = 'caf\xe9'", "is not text in UTF-8"),
    "UTF-16": ("[source]\nformat = 'csv'".encode("utf-16"), "is not text in UTF-8"),
    "huge": (b"# a comment\n" * 100_000, "is larger than 262,144 bytes"),
    "empty": (b"", "section [source] is missing"),
    "half a pair": (b'[source]\nformat = "\\ud800"', "is not TOML: "),
    "an unclosed text": (b'[source]\nformat = "csv', "is not TOML: "),
    "a letter that is none": (b"[source]\n\x1b[31m = 1", "is not TOML: "),
    "a long name": (b"[" + b"x" * 100_000 + b"]", "unknown section ['xxxx"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_told_in_a_sentence(tmp_path: Path, name: str) -> None:
    content, reason = HOSTILE[name]
    file = tmp_path / "job.toml"
    file.write_bytes(content)
    assert reason in str(told(file))


def test_what_is_no_file_is_told_in_a_sentence(tmp_path: Path) -> None:
    assert "Is a directory" in str(told(tmp_path))
    assert "larger than" in str(told(Path("/dev/zero")))
    (tmp_path / "loop").symlink_to("loop")
    assert "cannot be read: " in str(told(tmp_path / "loop"))
    assert "cannot be read: " in str(told(tmp_path / ("x" * 5000)))
    with pytest.raises(JobError, match="no path holds a NUL"):
        read_job("a\0b")


VALUES: tuple[Any, ...] = (
    *(0, -1, 0.5, 10**19, 10**400, -(10**400), float("nan"), float("inf"), -float("inf"), 1e308),
    *(True, "", "\0", "text", "9" * 400, "9" * 5000, "(" * 5000, "[" * 5000, "'", "\x1b[31m\u202e"),
    *("x" * 100_000, "../" * 2000, "/" * 5000, f"{10**400} weeks", f"{'9' * 5000} records"),
    *(
        f"session {10**30} weeks",
        f"{'9' * 400} of t",
        f"{'9' * 5000} rows",
        "1 hour/1 microsecond",
        "a = b = c",
    ),
    *([], [[]], ["\0"], ["9" * 400], [10**400], ["(" * 5000], {}, {"a": {}}, {"\0": 1}, {"": "\0"}),
    *({"a": 10**400}, {"a": [1]}, {"a": float("nan")}),
)


def test_every_value_in_every_place_is_a_job_or_a_sentence(tmp_path: Path) -> None:
    file, reached = tmp_path / "job.toml", {"told": 0, "runs": 0}
    for section, kind in SECTIONS.items():
        base = FEATURES if section in ("as_of", "events") else JOB
        for option in options_of(kind).values():
            for value in VALUES:
                whole = {**base, section: {**base.get(section, {}), option.name: value}}
                file.write_text(toml(whole), encoding="utf-8")
                said = told(file)
                reached["told" if said else "runs"] += 1
                number = isinstance(value, int | float) and not isinstance(value, bool)
                if option.kind is float and number and not 0 < value <= 1e12:
                    assert f"{section}.{option.name} must be " in str(said)
    assert reached["told"] > 800, reached
    assert reached["runs"] > 100, reached


def test_two_thousand_mutated_job_files(tmp_path: Path) -> None:
    random, file = Random("mutated jobs"), tmp_path / "job.toml"
    original, reached = toml(JOB).encode(), {"told": 0, "runs": 0}
    for _ in range(2000):
        data = bytearray(original)
        for _ in range(random.choice([1, 1, 2, 5])):
            at = random.randrange(len(data))
            width = random.choice([0, 1, 1, 8])
            insert = random.choice([b"", bytes([random.randrange(256)]), b"[" * 9, b"9" * 99, b"'"])
            data[at : at + width] = insert
        file.write_bytes(data)
        reached["told" if told(file) else "runs"] += 1
    assert reached["told"] > 1000, reached
    assert reached["runs"] > 50, reached


def test_an_overwritten_folder_may_hold_results_and_nothing_else(tmp_path: Path) -> None:
    sink = {"format": "parquet", "path": "out", "mode": "overwrite"}
    data = tmp_path / "data"
    data.mkdir()
    job = {**JOB, "source": {"format": "csv", "path": "data"}, "sink": sink}
    file, out = tmp_path / "job.toml", tmp_path / "out"
    file.write_text(toml(job))
    assert told(file) is None, "a folder that is not there yet"
    results = ["_SUCCESS", "._SUCCESS.crc", "day=1/part-00000-4711-c000.snappy.parquet"]
    for name in [*results, "day=1/.part-00000-4711-c000.snappy.parquet.crc"]:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).touch()
    assert told(file) is None
    (out / "day=1/thesis.txt").write_text("years of work")
    assert "sink.path holds 'day=1/thesis.txt', which no job wrote and" in str(told(file))
    for path, reason in ((".", "the rows are read from"), ("data/..", "the rows are read from")):
        file.write_text(toml({**job, "sink": {**sink, "path": path}}))
        assert reason in str(told(file))
    (tmp_path / "in").mkdir()
    inner = tmp_path / "jobs"
    inner.mkdir()
    moved = {**job, "source": {"format": "csv", "path": "../data"}, "sink": {**sink, "path": "."}}
    (inner / "job.toml").write_text(toml(moved))
    assert "sink.path holds the job itself" in str(told(inner / "job.toml"))


def test_a_picture_takes_the_place_of_a_picture_only(tmp_path: Path) -> None:
    picture, other = tmp_path / "plan.svg", tmp_path / "thesis.txt"
    for _ in range(2):
        explain(window=["1 hour"], svg=picture)
    other.write_text("years of work")
    with pytest.raises(MuntinError, match="already exists and is not a picture"):
        explain(window=["1 hour"], svg=other)
    assert other.read_text() == "years of work"
    with pytest.raises(MuntinError, match="cannot be written: No such file or directory"):
        explain(window=["1 hour"], svg=tmp_path / "nowhere" / "plan.svg")

"""Reading a job file: every mistake is told with the file, the key and what may be there.

A file is checked against the declared options first, then for what its options need of each other;
windows and aggregates are read by the same functions as everywhere, so they have the same grammar.
Values are not repeated, since some of them are secrets (muntin.jobs.secrets).
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from muntin.errors import MuntinError, did_you_mean, shown
from muntin.jobs.fields import Option, options_of
from muntin.jobs.job import SECTIONS, Job
from muntin.jobs.requirements import unmet_needs
from muntin.jobs.secrets import hide

OPTIONAL = ("trigger", "history", "spark")
"""Sections that may be left out."""

ASKED = ("query", "as_of")
"""Of these a job has one; [events] only beside the second."""

MOST_BYTES, MOST_DOTS = 262_144, 1_000
"""Of a file, and of a line in it: the time in which TOML is read grows with their square."""

LONGEST_KEY, LONGEST_LINE = 80, 600
"""Letters of a key that a message shows, and of a message."""

_WORDS = (
    (str, "a text"),
    (bool, "a boolean"),
    (int | float, "a number"),
    (list, "a list"),
    (dict, "a table"),
)


class JobError(MuntinError, ValueError):
    """A job file that cannot be run as it is."""


def read_job(file: str | Path) -> Job:
    """The job in a file."""
    path = Path(file)
    text = _read_text(path)
    try:
        return check_job(_parse(text, path), path)
    except RecursionError:
        raise JobError(f"{path} is nested too deeply: no key of a job needs it") from None


def _parse(text: str, path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        hint = "; texts stand in quotes" if str(error).startswith("Invalid value") else ""
        raise JobError(f"{path} is not TOML: {error}{hint}") from None
    except ValueError:
        raise JobError(f"{path} has a number of thousands of digits: no key takes it") from None


def _read_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        text = content.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise JobError(f"{path} is not text in UTF-8: a job file is TOML") from None
    except OSError as error:
        raise JobError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError:
        raise JobError(f"{shown(str(path))} cannot be read: no path holds a NUL") from None
    if len(content) > MOST_BYTES:
        raise JobError(f"{path} is larger than {MOST_BYTES:,} bytes: a job file is a page of TOML")
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > MOST_DOTS:
            raise JobError(f"{path} has more than {MOST_DOTS:,} dots in line {number}: split it")
    return text


@contextmanager
def report_errors(job: Job, *secrets: str | None) -> Iterator[None]:
    """Name the job's file in every error of the block, and hide the values of its options.

    What is no error of ours passes as it is, unless it says one of these values.
    """
    try:
        yield
    except Exception as error:
        said = str(error)
        told = said.removeprefix(f"{job.file}: ")
        safe = _line(hide(told, job, *secrets))  # in this order: half a secret would not be found
        if safe == told and (told != said or not isinstance(error, MuntinError)):
            raise
        kind = "" if isinstance(error, MuntinError) else f"{type(error).__name__}: "
        raise JobError(f"{job.file}: {kind}{safe}") from None


def check_job(table: Mapping[str, Any], file: Path) -> Job:
    """The job in a table that was read from `file`."""
    for name in table:
        if name not in SECTIONS:
            hint = did_you_mean(_key(name), SECTIONS) + _belongs(name)
            raise JobError(f"{file}: unknown section [{_key(name)}]: {hint}")
    if all(name in table for name in ASKED):
        raise JobError(f"{file}: sections [query] and [as_of] are both given: keep one of them")
    left_out = {"events"} | ({"query"} if "as_of" in table else {"as_of"})
    sections: dict[str, Any] = {
        name: None if name in left_out - set(table) else _section(name, table.get(name), file)
        for name in SECTIONS
    }
    job = Job(file, **sections)
    for key, problem in unmet_needs(job):
        raise JobError(f"{file}: {_line(f'{key} {problem}')}")
    return job


def _belongs(key: str) -> str:
    """Where an option that stands outside its section belongs."""
    homes = [f"[{name}]" for name, kind in SECTIONS.items() if key in options_of(kind)]
    return f"; {key} belongs into {' or '.join(homes)}" if homes else ""


def _section(name: str, given: object, file: Path) -> Any:
    kind = SECTIONS[name]
    if given is None:
        if name in OPTIONAL:
            return kind()
        needed = [o.name for o in options_of(kind).values() if o.required]
        other = ", or [as_of]: docs/jobs.md" if name == "query" else ""
        raise JobError(f"{file}: section [{name}] is missing: it needs {', '.join(needed)}{other}")
    if not isinstance(given, dict):
        raise JobError(f"{file}: {name} is {_kind(given)}: it must be a section, [{name}]")
    options = options_of(kind)
    for key in given:
        if key not in options:
            hint = _belongs(key).removeprefix("; ") or did_you_mean(_key(key), options)
            raise JobError(f"{file}: unknown key {name}.{_key(key)}: {hint}")
    values = {}
    for key, option in options.items():
        if key in given:
            values[key] = _check(given[key], option, f"{file}: {name}.{key}")
        elif option.required:
            raise JobError(f"{file}: {name}.{key} is missing: {option.meaning}")
    return kind(**values)


def _check(value: object, option: Option, where: str) -> object:
    """The value as its declared type, or what is wrong with it."""
    if option.choices and isinstance(value, str) and value not in option.choices:
        raise JobError(f"{where} is unknown: {did_you_mean(value[:LONGEST_KEY], option.choices)}")
    if option.kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        if 0 < value <= option.most and (not option.whole or value == int(value)):
            return float(value)
        raise JobError(f"{where} must be {option.allowed}")
    if option.kind == tuple[str, ...]:
        given = [value] if isinstance(value, str) else value
        if isinstance(given, list):
            return tuple(_entry(each, place, where) for place, each in enumerate(given, start=1))
    if option.kind == Mapping[str, str] and isinstance(value, dict):
        return _flatten(value, where)
    if isinstance(option.kind, type) and isinstance(value, option.kind):
        return _check_nul(value, where) if isinstance(value, str) else value
    raise JobError(f"{where} is {_kind(value)}: it must be {option.allowed}")


def _entry(value: object, place: int, where: str) -> str:
    if not isinstance(value, str):
        raise JobError(f"{where} has, as entry {place}, {_kind(value)}: it must be a text")
    return _check_nul(value, where)


def _check_nul(text: str, where: str) -> str:
    if "\0" in text:
        raise JobError(f"{where} holds a NUL character: leave it out")
    return text


def _line(message: str) -> str:
    """A message on one line, however long the texts that it repeats."""
    line = " ".join(message.splitlines())
    return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE // 2]} … {line[-200:]}"


def _key(name: str) -> str:
    """A key as a message shows it."""
    return name if name.isprintable() and len(name) <= LONGEST_KEY else shown(name)


def _kind(value: object) -> str:
    """What a value is, in the words of a file's author."""
    for kind, words in _WORDS:
        if isinstance(value, kind):
            return words
    return "a date or a time"


def _flatten(table: dict[str, object], where: str, prefix: str = "") -> dict[str, str]:
    """A table of plain values as texts; `a.b = 1` and [a] b = 1 are the key "a.b" alike."""
    texts: dict[str, str] = {}
    for key, value in table.items():
        at = f"{where}.{_key(prefix + key)}"
        match value:
            case dict():
                texts.update(_flatten(value, where, f"{prefix}{key}."))
            case bool():
                texts[prefix + key] = str(value).lower()
            case str() | int() | float():
                texts[_check_nul(prefix + key, at)] = _check_nul(str(value), at)
            case _:
                raise JobError(f"{at} is {_kind(value)}: it must be a text, number or boolean")
    return texts

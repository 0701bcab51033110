"""Reading a job file: every mistake is told with the file, the key, what is there, what may be.

A file is checked against the declared options first, then for what its options need of each other;
windows and aggregates are read by the same functions as everywhere, so they have the same grammar.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING
from pathlib import Path
from typing import Any

from muntin.errors import MuntinError, did_you_mean
from muntin.jobs.fields import Option, options_of
from muntin.jobs.job import SECTIONS, Job
from muntin.jobs.needs import unmet_needs

OPTIONAL = ("trigger", "spark")
"""Sections that may be left out."""


class JobError(MuntinError, ValueError):
    """A job file that cannot be run as it is."""


def read_job(file: str | Path) -> Job:
    """The job in a file."""
    path = Path(file)
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise JobError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise JobError(f"{path} is not text in UTF-8: a job file is TOML") from None
    except tomllib.TOMLDecodeError as error:
        hint = "; texts stand in quotes" if str(error).startswith("Invalid value") else ""
        raise JobError(f"{path} is not TOML: {error}{hint}") from None
    return job_of(table, path)


@contextmanager
def named(job: Job) -> Iterator[None]:
    """An error in the block that does not name the job's file is told with it."""
    try:
        yield
    except MuntinError as error:
        if job.file.name in str(error):
            raise
        raise JobError(f"{job.file}: {error}") from None


def job_of(table: Mapping[str, Any], file: Path) -> Job:
    """The job in a table that was read from `file`."""
    for name in table:
        if name not in SECTIONS:
            raise JobError(
                f"{file}: unknown section [{name}]: {did_you_mean(name, SECTIONS)}" + _belongs(name)
            )
    sections = {
        name: _section(name, kind, table.get(name), file) for name, kind in SECTIONS.items()
    }
    job = Job(file, **sections)
    for key, problem in unmet_needs(job):
        raise JobError(f"{file}: {key} {problem}")
    return job


def _belongs(key: str) -> str:
    """Where an option that stands outside its section belongs."""
    homes = [f"[{name}]" for name, kind in SECTIONS.items() if key in options_of(kind)]
    return f"; {key} belongs into {' or '.join(homes)}" if homes else ""


def _section(name: str, kind: type, given: object, file: Path) -> Any:
    if given is None:
        if name in OPTIONAL:
            return kind()
        needed = [o.name for o in options_of(kind).values() if o.required]
        raise JobError(f"{file}: section [{name}] is missing: it needs {', '.join(needed)}")
    if not isinstance(given, dict):
        raise JobError(f"{file}: {name} is {given!r}: it must be a section, [{name}]")
    options = options_of(kind)
    for key, value in given.items():
        if key not in options:
            elsewhere = _belongs(key)
            hint = elsewhere.removeprefix("; ") or did_you_mean(key, options)
            raise JobError(f"{file}: unknown key {name}.{key} = {value!r}: {hint}")
    values = {}
    for option in options.values():
        value = given.get(option.name, option.default)
        if value is MISSING:
            raise JobError(f"{file}: {name}.{option.name} is missing: {option.meaning}")
        if option.name in given:
            value = _checked(value, option, f"{file}: {name}.{option.name}")
        values[option.name] = value
    return kind(**values)


def _checked(value: Any, option: Option, where: str) -> Any:
    """The value as its declared type, or what is wrong with it."""
    if option.choices and value not in option.choices:
        if isinstance(value, str):
            hint = did_you_mean(value, option.choices)
            raise JobError(f"{where} is {value!r}: {hint} ({option.allowed})")
        raise JobError(f"{where} is {value!r}: it must be {option.allowed}")
    if option.kind is float and isinstance(value, (int, float)) and not isinstance(value, bool):
        if value <= 0:
            raise JobError(f"{where} is {value!r}: it must be more than zero")
        return float(value)
    if option.kind == tuple[str, ...]:
        given = [value] if isinstance(value, str) else value
        if isinstance(given, list) and all(isinstance(each, str) for each in given):
            return tuple(given)
    if option.kind == Mapping[str, str] and isinstance(value, dict):
        return _texts(value, where)
    if isinstance(option.kind, type) and isinstance(value, option.kind):
        return value
    raise JobError(f"{where} is {value!r}: it must be {option.allowed}")


def _texts(table: dict[str, Any], where: str, prefix: str = "") -> dict[str, str]:
    """A table of plain values as texts; `a.b = 1` and [a] b = 1 are the key "a.b" alike."""
    texts: dict[str, str] = {}
    for key, value in table.items():
        match value:
            case dict():
                texts.update(_texts(value, where, f"{prefix}{key}."))
            case bool():
                texts[prefix + key] = str(value).lower()
            case str() | int() | float():
                texts[prefix + key] = str(value)
            case _:
                raise JobError(
                    f"{where}.{prefix}{key} is {value!r}: it must be a text, number or boolean"
                )
    return texts

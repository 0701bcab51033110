"""What a page shows and no test runs is read: names, keywords, commands, options and keys exist.

Some code cannot run in a test, because it needs a lake, a broker or a cluster. It may still be
misspelt or out of date, and that shows without running it.
"""

from __future__ import annotations

import ast
import re
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import Parameter, signature
from pathlib import Path
from textwrap import dedent
from typing import Any

import sqlglot
import typer
from sqlglot.errors import ParseError

import muntin
from muntin.cli import app
from muntin.jobs import options_of
from muntin.jobs.job import SECTIONS

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md")
    for path in ROOT.glob(pattern)
    if path.name != "CHANGELOG.md"
)
BLOCK = re.compile(
    r"^(?P<indent> *)```(?P<language>[^\n`]*)\n(?P<code>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)
INDENTED = re.compile(r"(?:^|\n\n)((?: {4}.*(?:\n|$))+)")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page, with the language that it names."""

    page: str
    line: int
    language: str
    code: str


def blocks(page: Path, text: str | None = None) -> Iterator[Block]:
    """All fenced blocks of a page."""
    text = page.read_text(encoding="utf-8") if text is None else text
    for found in BLOCK.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        name = str(page.relative_to(ROOT))
        yield Block(name, line, found["language"].strip(), dedent(found["code"]))


def unfenced(text: str) -> list[str]:
    """Python and commands that are only indented: nothing says what they are, so nothing looks."""
    rest = BLOCK.sub("", text)
    return [
        block.strip()
        for block in INDENTED.findall(rest)
        if re.search(r"\bmt\.\w+\(|^\s*(muntin|make|pip|python) [a-z]", block, re.MULTILINE)
    ]


def wrong_python(code: str) -> list[str]:
    """Names of Muntin that do not exist, and keywords that they do not take."""
    try:
        tree = ast.parse(code)
    except SyntaxError as error:
        return [f"no Python: {error}"]
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and _rooted(node) and _value(node) is None:
            found.append(f"there is no {ast.unparse(node)}")
        if isinstance(node, ast.Call) and (called := _value(node.func)) is not None:
            known = _keywords(called)
            given = [k.arg for k in node.keywords if k.arg is not None]
            found += [
                f"{ast.unparse(node.func)} takes no {name}" for name in given if name not in known
            ]
    return found


def _rooted(node: ast.expr) -> bool:
    """Whether it is a name of Muntin: mt.sinks.postgres."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id == "mt"


def _value(node: ast.expr) -> Any:
    """What a name of Muntin stands for, or None where there is none."""
    if isinstance(node, ast.Attribute) and _rooted(node):
        owner = muntin if isinstance(node.value, ast.Name) else _value(node.value)
        return getattr(owner, node.attr, None) if owner is not None else None
    return None


def _keywords(called: Any) -> set[str]:
    """What a function takes by keyword; options in a TypedDict are among it."""
    known: set[str] = set()
    for name, parameter in signature(called).parameters.items():
        known.add(name)
        if parameter.kind is Parameter.VAR_KEYWORD:
            known |= set(muntin.PlanOptions.__annotations__)
    return known


def wrong_commands(code: str) -> list[str]:
    """Targets, commands, options, files and extras that do not exist."""
    found = []
    for line in code.replace("\\\n", " ").splitlines():
        for part in re.split(r"&&|\|\|?|;", line):
            words = shlex.split(part, comments=True)
            if words:
                found += _wrong_command(words)
    return found


def _wrong_command(words: list[str]) -> list[str]:
    match words:
        case ["make", target, *_] if not re.search(
            rf"^{re.escape(target)}\b.*:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE
        ):
            return [f"make has no target {target}"]
        case ["muntin", *rest]:
            return _wrong_options(rest)
        case ["python" | "python3", file, *_] if (
            file.endswith(".py") and not (ROOT / file).exists()
        ):
            return [f"there is no file {file}"]
        case ["pip", "install", *rest]:
            project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
            extras = project["project"]["optional-dependencies"]
            asked = [e for w in rest for m in re.findall(r"\[([\w,]+)\]", w) for e in m.split(",")]
            return [f"there is no extra {extra}" for extra in asked if extra not in extras]
    return []


def _wrong_options(words: list[str]) -> list[str]:
    """Of a call of `muntin`, the command and the options that it does not have."""
    command: Any = typer.main.get_command(app)
    while hasattr(command, "commands") and words:
        arguments = [each for each in command.params if each.param_type_name == "argument"]
        name, *words = words[len(arguments) :] or words  # a sentence may leave them out
        if name not in command.commands:
            return [f"muntin has no command {name}"]
        command = command.commands[name]
    known = {name for each in command.params for name in each.opts} | {"--help"}
    given = [word.partition("=")[0] for word in words if word.startswith("-")]
    return [f"muntin {command.name} has no option {name}" for name in given if name not in known]


def wrong_keys(code: str) -> list[str]:
    """Sections and keys that a job file does not have."""
    try:
        table = tomllib.loads(code)
    except tomllib.TOMLDecodeError as error:
        return [f"no TOML: {error}"]
    found = []
    for section, given in table.items():
        if section not in SECTIONS:
            found.append(f"a job has no section [{section}]")
            continue
        known = options_of(SECTIONS[section])
        found += [f"[{section}] has no key {key}" for key in given if key not in known]
    return found


def wrong_sql(code: str) -> list[str]:
    """What is no SQL of PostgreSQL or DuckDB; macros of Grafana stand for a condition."""
    wrong = []
    for dialect in ("postgres", "duckdb"):
        try:
            sqlglot.parse(re.sub(r"\$__\w+", "bool", code), read=dialect)
        except ParseError as error:
            wrong.append(f"no SQL of {dialect}: {error}")
    return wrong if len(wrong) == 2 else []

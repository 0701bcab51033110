"""How mkdocs reads the source for docs/api.md, without importing it."""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any

from griffe import Alias, Extension, Module, Object

ARGUMENT = re.compile(r"\w+(?:, \w+)* {2,}\S")
"""A line of a list of arguments: a name, two spaces or more, what it is."""
ARGUMENT_OR_MORE = re.compile(rf"{ARGUMENT.pattern}| {{4,}}\S")
"""Such a line, or one that goes on with its text."""


class PublicNames(Extension):
    """A public name is the function, where a module has the same name, as in Python."""

    def on_package(self, *, pkg: Module, **_: Any) -> None:
        for name in pkg.exports or ():
            member = pkg.members[str(name)]
            target = member.final_target if isinstance(member, Alias) else member
            if target.is_module and name in target.members:
                pkg.set_member(str(name), Alias(str(name), target.members[str(name)], parent=pkg))


class MarkedUpDocstrings(Extension):
    """Docstrings are written to be read by help(); these are the same words in Markdown."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = mark_up(obj.docstring.value)


def mark_up(text: str) -> str:
    """Doctests become blocks of code, lists of arguments become tables."""
    lines: list[str] = []
    for blank, group in groupby(text.splitlines(), key=lambda line: not line.strip()):
        paragraph = list(group)
        if not blank and paragraph[0].startswith(">>>"):
            lines += ["```pycon", *paragraph, "```"]
        elif ARGUMENT.match(paragraph[0]) and all(map(ARGUMENT_OR_MORE.match, paragraph)):
            lines += ["| | |", "|---|---|", *_rows(paragraph)]
        else:
            lines += paragraph
    return "\n".join(lines)


def _rows(paragraph: list[str]) -> list[str]:
    """The rows of a table: a line that is indented goes on with the one before."""
    rows: list[list[str]] = []
    for line in paragraph:
        name, text = re.split(r" {2,}", line, maxsplit=1)
        if name:
            rows.append([f"`{name}`", text])
        else:
            rows[-1][1] += f" {text}"
    return [f"| {name} | {text} |" for name, text in rows]

"""How mkdocs reads the source for docs/api.md, without importing it."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from griffe import Alias, Extension, Module, Object


class PublicNames(Extension):
    """A public name is the function, where a module has the same name, as in Python."""

    def on_package(self, *, pkg: Module, **_: Any) -> None:
        for name in pkg.exports or ():
            member = pkg.members[str(name)]
            target = member.final_target if isinstance(member, Alias) else member
            if target.is_module and name in target.members:
                pkg.set_member(str(name), Alias(str(name), target.members[str(name)], parent=pkg))


class FencedDoctests(Extension):
    """Doctests become blocks of code, where Markdown would see quotations."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = fence(obj.docstring.value)


def fence(text: str) -> str:
    lines: list[str] = []
    for blank, group in groupby(text.splitlines(), key=lambda line: not line.strip()):
        paragraph = list(group)
        is_doctest = not blank and paragraph[0].startswith(">>>")
        lines += ["```pycon", *paragraph, "```"] if is_doctest else paragraph
    return "\n".join(lines)

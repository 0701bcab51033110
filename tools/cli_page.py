"""Write docs/cli.md from the code: every command with its arguments and options.

    .venv/bin/python tools/cli_page.py

A test checks that the page is current.
"""

from __future__ import annotations

from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from typing import Any

import typer

from muntin.cli import app

PAGE = Path(__file__).parent.parent / "docs" / "cli.md"

HEAD = """# The command line

<!-- Written by tools/cli_page.py: change the code, not this page. -->

Installing Muntin brings the command `muntin`. A mistake is told in one line, and the exit code is
then 2.
"""


def page() -> str:
    """The whole page."""
    return HEAD + "".join(_command(("muntin",), typer.main.get_command(app)))


def _command(path: tuple[str, ...], command: Any) -> Iterator[str]:
    """A section for the command, or for each command of a group."""
    if hasattr(command, "commands"):
        for name, each in command.commands.items():
            yield from _command((*path, name), each)
        return
    yield f"\n## `{' '.join(path)}`\n\n{cleandoc(command.help or '')}\n"
    rows = [_row(each) for each in command.params]
    if rows:
        yield "\n| argument | default | meaning |\n|---|---|---|\n" + "".join(rows)


def _row(parameter: Any) -> str:
    option = parameter.param_type_name == "option"
    names = ", ".join(parameter.opts) if option else parameter.name.upper()
    given = parameter.default
    default = "" if given is None or given in ((), []) or callable(given) else f"`{given}`"
    told = " ".join((parameter.help or "").split()).replace("|", "\\|")
    return f"| `{names}` | {'required' if parameter.required else default} | {told} |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"written: {PAGE}")

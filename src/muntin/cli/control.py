"""muntin control: register, suspend and list the windows of a running stream."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from muntin.errors import ControlError, printable
from muntin.state.control import Control

control = typer.Typer(
    help="Register, suspend and list the windows of a running stream: see docs/control.md.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@control.callback()
def at(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(help="The directory of the stream's mt.Control(path).")],
) -> None:
    """Register, suspend and list the windows of a running stream."""
    context.obj = path


@control.command()
def register(
    context: typer.Context,
    window: Annotated[str, typer.Argument(help="'10 minutes', '1 hour/5 minutes@2 minutes'.")],
    id: Annotated[str | None, typer.Option(help="The window's id in the results.")] = None,
    aggregate: Annotated[
        list[str] | None, typer.Option(help="Only this aggregate of the stream; may be repeated.")
    ] = None,
) -> None:
    """Ask the stream for a window; `list` then says from when its rows are complete."""
    given = _control(context).register(window, id, aggregate or None)
    typer.echo(printable(f"{given}: waiting for the stream"))


@control.command()
def suspend(
    context: typer.Context,
    id: Annotated[str, typer.Argument(help="The id of the window.")],
) -> None:
    """Ask the stream to let a window go; instances that are over are still emitted."""
    _control(context).suspend(id)
    typer.echo(printable(f"{id}: suspension waiting for the stream"))


@control.command("list")
def list_windows(context: typer.Context) -> None:
    """Show the windows of the stream, and the commands that wait or were refused."""
    found = _control(context).list()
    if not found:
        typer.echo("no windows")
        return
    names, *rows = found.table
    table = Table(*names)
    for row in rows:
        table.add_row(*map(Text, row))  # Text, so that an id in brackets is no markup
    Console().print(table)


def _control(context: typer.Context) -> Control:
    found = Control(context.obj)
    if found.folder is None or not found.folder.exists:
        raise ControlError(
            f"there is no control at {str(context.obj)!r}: a stream that is started with "
            "control=mt.Control(path) makes one"
        )
    return found

"""muntin: one command for each thing to do; Muntin's errors are printed as one line."""

from __future__ import annotations

import sys

import typer
from rich.console import Console

from muntin.cli.calibrate import calibrate
from muntin.cli.control import control
from muntin.cli.demo import demo
from muntin.cli.explain import explain
from muntin.cli.lab import bench, experiment
from muntin.cli.run import run, verify_job
from muntin.errors import MuntinError, printable


class _App(typer.Typer):
    """A mistake of the user's ends the command with its message, not with a stack trace."""

    def __call__(self, *args: object, **kwargs: object) -> object:
        try:
            return super().__call__(*args, **kwargs)
        except MuntinError as error:
            said = "\n".join(map(printable, f"error: {error}".split("\n")))
            Console(stderr=True).print(said, style="red", markup=False, soft_wrap=True)
            sys.exit(2)


app = _App(
    name="muntin",
    help="Many windows, one pass: window aggregates on Spark that share their work.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(demo)
app.command()(explain)
app.command()(run)
app.command("verify")(verify_job)
app.command()(bench)
app.command()(experiment)
app.command()(calibrate)
app.add_typer(control, name="control")

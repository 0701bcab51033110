"""muntin experiment: repeat an experiment of the papers, with tables, CSV and pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from muntin.cli.lab import lab_module


def experiment(
    name: Annotated[str, typer.Argument(help="Which experiment, for instance factor-windows.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder for CSV and pictures; none are written without it.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the random window sets.")] = 1,
    sets: Annotated[
        int | None,
        typer.Option(help="How many window sets; the paper's number if not given.", min=1),
    ] = None,
    part: Annotated[
        list[str] | None,
        typer.Option(help="Only this part of an experiment that has several; may be repeated."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder with the papers' rows; generated ones are used without it."),
    ] = None,
) -> None:
    """Run an experiment of the papers and print its tables."""
    lab = lab_module("registry")
    options = lab.Options(out=out, seed=seed, sets=sets, parts=tuple(part or ()), data=data)
    lab.find("experiment", name)(options, Console())

"""muntin experiment, muntin bench: what the lab beside the source holds; it is not in the wheel."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

import muntin
from muntin.errors import LabError


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
    _run("experiment", name, part, out=out, seed=seed, sets=sets, data=data)


def bench(
    name: Annotated[str, typer.Argument(help="Which benchmark, for instance duckdb.")],
    rows: Annotated[int, typer.Option(help="How many events.", min=1)] = 10_000_000,
    repeat: Annotated[int, typer.Option(help="Rounds after the warm-up.", min=1)] = 3,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A window set; all of them if not given.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the events, by default a cache folder; sustained: for its files, by "
            "default this folder."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="growth: folder for its table and its picture.")
    ] = None,
    strategy: Annotated[str, typer.Option(help="A strategy's name, or auto.")] = "auto",
    minutes: Annotated[
        float, typer.Option(help="sustained: how long the rate is held.", min=0.1)
    ] = 10.0,
    rate: Annotated[
        int | None, typer.Option(help="sustained: events a second; found if not given.", min=1)
    ] = None,
) -> None:
    """Run a benchmark: all sides in turn, medians and ratios."""
    given = {"rows": rows, "repeat": repeat, "strategy": strategy, "minutes": minutes}
    _run("benchmark", name, set_, data=data, out=out, rate=rate, **given)


def _run(kind: str, name: str, parts: list[str] | None, **given: object) -> None:
    """Run one of the lab of this checkout."""
    checkout = Path(muntin.__file__).parents[2]
    if not (checkout / "lab" / "__init__.py").exists():
        raise LabError(
            "experiments and benchmarks are not part of the installed package: clone the "
            "repository, and run `make setup` and then `.venv/bin/muntin` there"
        )
    if str(checkout) not in sys.path:
        sys.path.append(str(checkout))
    lab = import_module("lab.registry")
    lab.find(kind, name)(lab.Options(parts=tuple(parts or ()), **given), Console())

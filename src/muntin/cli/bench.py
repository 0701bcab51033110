"""muntin bench: measure on this machine; data is made once and kept."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from muntin.cli.lab import lab_module


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
    strategy: Annotated[str, typer.Option(help="A strategy's name, or auto.")] = "auto",
    minutes: Annotated[
        float, typer.Option(help="sustained: how long the rate is held.", min=0.1)
    ] = 10.0,
    rate: Annotated[
        int | None, typer.Option(help="sustained: events a second; found if not given.", min=1)
    ] = None,
) -> None:
    """Run a benchmark: all sides in turn, medians and ratios."""
    lab = lab_module("registry")
    options = lab.Options(
        parts=tuple(set_ or ()),
        data=data,
        rows=rows,
        repeat=repeat,
        strategy=strategy,
        minutes=minutes,
        rate=rate,
    )
    lab.find("benchmark", name)(options, Console())

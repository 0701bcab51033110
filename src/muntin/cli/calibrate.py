"""muntin calibrate: measure what things cost on this Spark, for plans that are chosen by it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from muntin.cost.calibration import check_place, constants_file, current_constants
from muntin.cost.spark import KINDS, SHIPPED
from muntin.errors import CalibrationError

if TYPE_CHECKING:
    from muntin.cost import Constants


def calibrate(
    master: Annotated[
        str | None, typer.Option(help="A cluster's master URL; this machine if not given.")
    ] = None,
    remote: Annotated[
        str | None, typer.Option(help="A Spark Connect server, sc://host, instead.")
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(help="Folder for the tables; on a cluster, one that all its nodes can read."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Where to write; by default the user's config folder.")
    ] = None,
    repeat: Annotated[int, typer.Option(help="Rounds after the warm-up.", min=1)] = 3,
    show: Annotated[
        bool, typer.Option("--show", help="Only show the constants that are in use.")
    ] = False,
) -> None:
    """Measure this machine or cluster in a minute or two, and keep the constants for planning."""
    console = Console()
    path = out or constants_file()
    if show:
        constants = current_constants()
        console.print(_table(constants, SHIPPED))
        console.print(
            f"constants {constants.origin}; file: {path}", highlight=False, soft_wrap=True
        )
        return
    check_place(path)
    if master and remote:
        raise CalibrationError("give either --master or --remote, not both")
    if (master or remote) and data is None:
        raise CalibrationError("a cluster reads its own files: give --data with a folder for them")
    from muntin.cli.calibration import calibrate as measure
    from muntin.cli.calibration_cases import cache_folder
    from muntin.engines.spark.session import quiet_start, session

    with console.status("starting Spark"), quiet_start():
        spark = session("muntin calibrate", master, remote)
    where = (remote or master or "local[*]").partition("/;")[0]  # a server's token follows it
    folder = data or str(cache_folder())
    found, deviation = measure(spark, folder, where, Console(stderr=True), repeat)
    spark.stop()
    found.save(path)
    console.print(_table(found.constants, SHIPPED))
    console.print(
        f"predictions deviate from these runs by {deviation:.0%} in the mean\nwritten: {path}",
        highlight=False,
        soft_wrap=True,
    )


def _table(found: Constants, shipped: Constants) -> Table:
    table = Table(title="seconds for one thing of each kind", title_justify="left")
    table.add_column("kind")
    for name in ("here", "shipped"):
        table.add_column(name, justify="right")
    for kind in KINDS:
        table.add_row(kind, f"{getattr(found, kind):.3g}", f"{getattr(shipped, kind):.3g}")
    table.add_row("cores", str(found.cores), str(shipped.cores))
    return table

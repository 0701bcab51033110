"""muntin explain: the plan for some windows, without starting Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from muntin.aggregates import parse_aggregate
from muntin.api import optimize
from muntin.query import query
from muntin.windows import parse_window


def explain(
    window: Annotated[
        list[str],
        typer.Option("--window", "-w", help="range[/slide][@offset], e.g. '1 hour/5 minutes'."),
    ],
    aggregate: Annotated[
        list[str] | None,
        typer.Option("--aggregate", "-a", help="e.g. 'min(t)' or 'avg(t) as mean'."),
    ] = None,
    strategy: Annotated[str, typer.Option(help="A strategy's name, or auto.")] = "auto",
    rate: Annotated[float, typer.Option(help="Events per second over all keys.")] = 100.0,
    keys: Annotated[float, typer.Option(help="How many distinct keys there are.")] = 1,
    cost: Annotated[str, typer.Option(help="rate or paper.")] = "rate",
    operator: Annotated[
        str | None, typer.Option(help="Force how it runs: window, expand or kernel.")
    ] = None,
    svg: Annotated[Path | None, typer.Option(help="Write the plan as a picture, too.")] = None,
) -> None:
    """Show who is computed from whom, at what cost, and every strategy tried."""
    aggregates = [parse_aggregate(text) for text in aggregate or ["count"]]
    asked = query("time", [parse_window(text) for text in window], aggregates)
    plan = optimize(asked, strategy, rate, keys, cost, operator)
    typer.echo(plan.explain())
    if svg is not None:
        svg.write_text(plan.to_svg(), encoding="utf-8")
        typer.echo(f"\npicture: {svg}")

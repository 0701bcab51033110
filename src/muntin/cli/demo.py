"""muntin demo: real flights, many windows, Spark's own queries and ours in the same run."""

from __future__ import annotations

from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, cast

import typer
from rich.console import Console
from rich.table import Table

import muntin as mt
from muntin.model.choices import Strategy

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

QUESTION = "How late do flights leave, at each airport of New York, over many windows at once?"
FLIGHTS = 336_776
"""Departures in the year that the package ships."""
WINDOWS = (
    mt.tumbling("1 hour"),
    mt.hopping("3 hours", "1 hour"),
    mt.hopping("12 hours", "1 hour"),
    mt.hopping("1 day", "1 hour"),
    mt.hopping("1 week", "1 hour"),
)
AGGREGATES = (
    mt.count().alias("flights"),
    mt.avg("delay").alias("mean_delay"),
    mt.max("delay").alias("worst"),
    mt.count("delay").filter("delay > 60").alias("over_an_hour"),
)


def demo(
    strategy: Annotated[str, typer.Option(help="A strategy's name, or auto.")] = "auto",
    repeat: Annotated[int, typer.Option(help="How often each side is timed.", min=1)] = 3,
) -> None:
    """A year of departures from New York: the plan, some rows, both times, and a proof."""
    console = Console()
    query = mt.query("departure", WINDOWS, AGGREGATES, keys=["origin"])
    asked = cast(Strategy, strategy)
    plan = mt.optimize(query, asked, rate=FLIGHTS / (365 * 86_400), distinct_keys=3, rows=FLIGHTS)
    console.print(f"[bold]{QUESTION}[/]\n")
    console.print(plan.explain(), markup=False, highlight=False, soft_wrap=True)

    from muntin.engines.spark.own_windows import run_own_windows
    from muntin.engines.spark.session import local_session, quiet_start

    with console.status("starting Spark"), quiet_start():
        spark = local_session("muntin demo")
    flights = mt.demo_flights(spark).cache()
    rows = flights.count()
    ours = plan.apply(flights)
    _show_sample(console, ours)
    with console.status("timing Spark's own window() queries and ours, in turns"):
        theirs, own = _race(lambda: run_own_windows(flights, query), lambda: ours, repeat)
    console.print(f"\nmeasured on {rows:,} departures, medians of this run:")
    console.print(f"  Spark's own {len(WINDOWS)} window() queries  {theirs:6.2f} s")
    console.print(f"  Muntin, one pass              {own:6.2f} s   {theirs / own:.1f}× faster\n")
    with console.status("comparing all rows"):
        outcome = mt.verify(flights, plan)
    console.print(f"[bold]{outcome!r}[/]", markup=True, highlight=False)
    spark.stop()
    if not outcome.equal:
        raise typer.Exit(1)


def _race(
    theirs: Callable[[], DataFrame], ours: Callable[[], DataFrame], repeat: int
) -> tuple[float, float]:
    """The median time of each side, after one run of each to warm up, alternating."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeat + 1):
        for side, seconds in zip((theirs, ours), times, strict=True):
            begun = perf_counter()
            side().write.format("noop").mode("overwrite").save()
            seconds.append(perf_counter() - begun)
    return median(times[0][1:]), median(times[1][1:])


def _show_sample(console: Console, result: DataFrame) -> None:
    table = Table(title="\nJFK, windows that begin on 1 July 2013, 12:00", title_justify="left")
    for name in ("window", "until"):
        table.add_column(name, no_wrap=True)
    names = [a.name for a in AGGREGATES]
    for name in names:
        table.add_column(name, justify="right")
    noon = "window.start = timestamp'2013-07-01 12:00:00' AND origin = 'JFK'"
    found = {row["window_id"]: row for row in result.where(noon).collect()}
    for window in WINDOWS:
        row = found[window.id]
        values = [f"{row[n]:.1f}" if isinstance(row[n], float) else str(row[n]) for n in names]
        table.add_row(window.id, f"{row['window']['end']:%d %b %H:%M}", *values)
    console.print(table)

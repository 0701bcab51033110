"""planning: seconds to plan 20, 100, 1,000 and 3,000 windows that are hard to plan.

All strategies are tried, as by "auto". Beside the seconds stand the steps that were counted: those
are what the planning budget limits (`strategies.budget`), and the same on every machine.
Give fewer `rows` than 3,000 to leave out sets of more windows.
"""

from __future__ import annotations

from statistics import median
from time import process_time

from rich.console import Console
from rich.table import Table

from lab.benchmarks.hostile import HOSTILE, hostile_windows
from lab.benchmarks.machine import machine
from lab.benchmarks.options import Options
from muntin import aggregates
from muntin.aggregates import Aggregate
from muntin.api.optimize import optimize
from muntin.api.plan import Plan
from muntin.errors import StrategyError, did_you_mean
from muntin.model.query import query
from muntin.plan.slicing.edges import forget

SIZES = (20, 100, 1_000, 3_000)
AGGREGATES: tuple[Aggregate, ...] = (aggregates.max("v"), aggregates.sum("v"))
"""One whose pieces may overlap, and one whose pieces may not."""


def bench_planning(options: Options, console: Console) -> None:
    """Plan every kind of windows, and print the seconds and the steps."""
    for name in options.sets:
        if name not in HOSTILE:
            raise StrategyError(f"unknown set {name!r}: {did_you_mean(name, HOSTILE)}")
    console.print(machine())
    table = Table(title="\nSeconds of processor time to plan", title_justify="left")
    table.caption = "out: strategies that were left out or refused"
    for column in ("windows", "kind", "of", "seconds", "explain", "steps", "out"):
        left = column in ("kind", "of")
        table.add_column(column, justify="left" if left else "right", no_wrap=True)
    for size in [size for size in SIZES if size <= options.rows]:
        for kind in options.sets or tuple(HOSTILE):
            for aggregate in AGGREGATES:
                with console.status(f"{size:,} windows, {kind}, {aggregate.name}"):
                    cells = _cells(size, kind, aggregate, options.repeat)
                table.add_row(f"{size:,}", kind, aggregate.function.name, *cells)
        table.add_section()
    console.print(table)


def _cells(size: int, kind: str, aggregate: Aggregate, repeat: int) -> tuple[str, ...]:
    plans, explained = [], []
    for _ in range(repeat):
        seconds, plan = planned(size, kind, aggregate)
        plans.append(seconds)
        begun = process_time()
        plan.explain()
        explained.append(process_time() - begun)
    steps = sum(a.steps for a in plan.alternatives)
    left_out = sum(a.cost is None for a in plan.alternatives)
    return f"{median(plans):.2f}", f"{median(explained):.2f}", f"{steps / 1e6:.2f} M", f"{left_out}"


def planned(size: int, kind: str, aggregate: Aggregate) -> tuple[float, Plan]:
    """The plan of so many windows of a kind, from scratch, and its seconds."""
    asked = query("ts", hostile_windows(kind, size), [aggregate])
    forget()
    begun = process_time()
    plan = optimize(asked)
    return process_time() - begun, plan

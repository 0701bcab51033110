"""cost-model: what the cost models predict, beside what is counted and measured.

A part is one engine. Each part prints its tables and writes its own files into the folder given;
without `--part` all of them run, one after the other.

    in-process   woven plans run by the techniques of `muntin.incremental`: Ω against counted
                 operations, 1/cost against results a second (Figures 22 and 23)
    spark        plans of many sets by several operators: predicted against measured seconds
"""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console

from lab.experiments.in_process import run_in_process
from lab.experiments.on_spark import run_on_spark
from lab.experiments.options import Options
from muntin.errors import StrategyError, did_you_mean

PARTS: dict[str, Callable[[Options, Console], object]] = {
    "in-process": run_in_process,
    "spark": run_on_spark,
}
"""Every part by the name that users write, in the order in which they run."""


def run_cost_model(options: Options, console: Console) -> None:
    """Run the parts that are named, or all of them."""
    for name in options.parts:
        if name not in PARTS:
            raise StrategyError(f"unknown part {name!r}: {did_you_mean(name, PARTS)}")
    for name in options.parts or PARTS:
        console.rule(name)
        PARTS[name](options, console)

"""Every experiment by the name that users write."""

from __future__ import annotations

from typing import Protocol

from rich.console import Console

from lab.experiments.cost_model import run_cost_model
from lab.experiments.cutty import run_cutty
from lab.experiments.factor_windows import run_factor_windows
from lab.experiments.omega import run_omega
from lab.experiments.optimality import run_optimality
from lab.experiments.options import Options
from lab.experiments.subsumption import run_subsumption
from lab.experiments.techniques import run_techniques
from lab.experiments.weave import run_weave
from muntin.errors import StrategyError, did_you_mean


class Experiment(Protocol):
    """Runs, prints its tables, and writes its files."""

    def __call__(self, options: Options, console: Console) -> object: ...


EXPERIMENTS: dict[str, Experiment] = {
    "factor-windows": run_factor_windows,
    "optimality": run_optimality,
    "techniques": lambda options, console: run_techniques(console, options.out),
    "omega": lambda options, console: run_omega(console, options.out),
    "weave": run_weave,
    "cutty": run_cutty,
    "cost-model": run_cost_model,
    "subsumption": run_subsumption,
}


def experiment_named(name: str) -> Experiment:
    """The experiment of that name, or an error with the closest known one."""
    if name not in EXPERIMENTS:
        raise StrategyError(f"unknown experiment {name!r}: {did_you_mean(name, EXPERIMENTS)}")
    return EXPERIMENTS[name]

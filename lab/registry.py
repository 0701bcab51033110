"""Every experiment and benchmark by the name that users write, and what each can be told."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import cast

from rich.console import Console

from muntin.errors import StrategyError, unknown
from muntin.model.choices import Strategy

EXPERIMENTS = {
    "factor-windows": "lab.factor_windows.report",
    "optimality": "lab.costs.optimality",
    "techniques": "lab.multi_query.techniques",
    "omega": "lab.multi_query.omega",
    "weave": "lab.multi_query.report",
    "cutty": "lab.cutty.report",
    "cost-model": "lab.costs.cost_model",
    "subsumption": "lab.subsumption.report",
}
_TIMED = """as-of as-of-choice batch duckdb flink growth history kernel open-slices planning stages
stream stream-choice sustained techniques untold userwindows"""
BENCHMARKS = {name: f"lab.benchmarks.{name.replace('-', '_')}" for name in _TIMED.split()}
"""The module of each; its function `run` prints tables and writes files."""
KNOWN = {"experiment": EXPERIMENTS, "benchmark": BENCHMARKS}


@dataclass(frozen=True, slots=True)
class Options:
    """What an experiment or a benchmark can be told; each reads what concerns it.

    `out` is where files go (None: nowhere), `sets` the number of random window sets, `parts` the
    parts that run (none: all; a benchmark calls them sets), `data` a folder or file with the rows
    of the papers or for those that are made, `rate` events a second (None: as many as are held).
    """

    out: Path | None = None
    seed: int = 1
    sets: int | None = None
    parts: tuple[str, ...] = ()
    data: Path | None = None
    rows: int = 10_000_000
    repeat: int = 3
    strategy: Strategy = "auto"
    minutes: float = 10.0
    rate: int | None = None

    def choose(self, known: Iterable[str], kind: str = "part") -> tuple[str, ...]:
        """The parts to run, in the order given or else in that of the known ones.

        >>> Options(parts=("time",)).choose(["groups", "time"])
        ('time',)
        """
        names = tuple(known)
        for part in self.parts:
            check_name(kind, part, names)
        return self.parts or names


def check_name(kind: str, name: str, known: Iterable[str]) -> None:
    """Refuse an unknown name, with the closest known one."""
    if name not in (names := list(known)):
        raise StrategyError(unknown(kind, name, names))


def find(kind: str, name: str) -> Callable[[Options, Console], object]:
    """The experiment or benchmark of that name, loaded only now: each needs other libraries."""
    check_name(kind, name, KNOWN[kind])
    return cast(Callable[[Options, Console], object], import_module(KNOWN[kind][name]).run)

"""Experiments 1 to 5 of the multi-query paper: one parameter varied at a time (Table 4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from lab.experiments.weave_workload import Setting, Workload, workload
from muntin.cost import WeaveCost
from muntin.cost.tree_forms import final_of
from muntin.plan.slicing import edge_rate
from muntin.plan.slicing.cuts import cut_everywhere
from muntin.planner.strategies.weaving.greedy_merging import EdgeRate, Loom, planning_rate

TECHNIQUES = {
    "Panes": "panes",
    "FlatFAT": "flatfat",
    "FlatFIT": "flatfit",
    "SlickDeque (Inv)": "slick-deque-inv",
    "SlickDeque (Non-Inv)": "slick-deque-non-inv",
}
OPTIMIZERS = ("WeaveShare", "TriWeave")


@dataclass(frozen=True, slots=True)
class Sweep:
    """One experiment: the parameter that it varies, and what the paper says of it."""

    number: int
    parameter: str
    field: str
    values: tuple[float, ...]
    claim: float
    """The most that SlickDeque is better than Panes, by the paper's text."""

    @property
    def figure(self) -> int:
        """Figure 17 shows experiment 1."""
        return self.number + 16


SWEEPS = (
    Sweep(1, "Q_num", "queries", (1, 10, 100, 1_000, 10_000), 5_000),
    Sweep(2, "S_max", "s_max", (10, 100, 1_000, 10_000, 100_000), 4_300),
    Sweep(3, "O_max", "o_max", (100, 1_000, 10_000, 100_000, 1_000_000), 270_000),
    Sweep(4, "λ", "rate", (0.01, 0.1, 1, 10, 100), 3_000),
    Sweep(5, "Z_skew", "skew", (-1, -0.5, 0, 0.5, 1), 4_200),
)

PAPER_TREES = {
    "Panes": 16.0,
    "FlatFAT": 15.7,
    "FlatFIT": 10.3,
    "SlickDeque (Inv)": 4.8,
    "SlickDeque (Non-Inv)": 4.8,
}
"""Average number of trees (section 5.2); the paper has one number for both SlickDeques."""


@dataclass(frozen=True, slots=True)
class Run:
    """The plan of one workload."""

    experiment: int
    parameter: str
    value: float
    set: int
    optimizer: str
    technique: str
    cost: float
    trees: int


def runs(sets: int, seed: int) -> Iterator[Run]:
    """All runs of the five experiments."""
    for sweep in SWEEPS:
        for value in sweep.values:
            setting = _setting(sweep, value)
            for index in range(sets):
                queries = workload(setting, seed * 1_000 + index)
                for optimizer in OPTIMIZERS:
                    for title, technique in TECHNIQUES.items():
                        cost, trees = woven(queries, setting.rate, technique, optimizer)
                        key = (sweep.number, sweep.parameter, value, index + 1)
                        yield Run(*key, optimizer, title, cost, trees)


def _setting(sweep: Sweep, value: float) -> Setting:
    changed: dict[str, Any] = {sweep.field: value}
    return replace(Setting(), **changed)


def woven(
    queries: Workload,
    rate: float,
    technique: str,
    optimizer: str = "WeaveShare",
    grouped: bool = True,
    edges: EdgeRate = planning_rate,
) -> tuple[float, int]:
    """Cost and number of trees of an optimizer's plan.

    >>> from lab.experiments.weave_workload import workload
    >>> cost, trees = woven(workload(Setting(queries=5, s_max=12, o_max=4), 1), 1.0, "panes")
    >>> round(cost, 3), trees
    (10.667, 2)
    """
    strands = queries.strands(grouped)
    everything = cut_everywhere(cut for s in strands for cut in s.slices.cuts)
    three_levels = optimizer == "TriWeave"
    slicing = float(edge_rate(everything)) if three_levels else rate
    final = final_of(WeaveCost(technique, rate, unit_of_time=1))
    trees = Loom(strands, slicing, final, edges).weave()
    finals = sum(final.cost(edges(t.slices), t.members, t.slices) for t in trees)
    return (rate if three_levels else 0.0) + len(trees) * slicing + finals, len(trees)

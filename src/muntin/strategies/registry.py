"""The registry: every strategy by the name that users write, in the order they are tried."""

from __future__ import annotations

from typing import Protocol

from muntin.errors import StrategyError, did_you_mean
from muntin.plan import SharingPlan
from muntin.strategies.direct import direct
from muntin.strategies.factor_windows import wcg_fw
from muntin.strategies.problem import Problem
from muntin.strategies.shared_slices import on_shared_pairs, on_shared_panes
from muntin.strategies.steiner import steiner
from muntin.strategies.unshared_slices import unshared_pairs, unshared_panes
from muntin.strategies.wcg import wcg


class Strategy(Protocol):
    """Builds a sharing plan for a problem."""

    def __call__(self, problem: Problem) -> SharingPlan: ...


STRATEGIES: dict[str, Strategy] = {
    "direct": direct,
    "unshared-panes": unshared_panes,
    "unshared-pairs": unshared_pairs,
    "shared-panes": on_shared_panes,
    "shared-pairs": on_shared_pairs,
    "wcg": wcg,
    "wcg-fw": wcg_fw,
    "steiner": steiner,
}

LIMITS: dict[str, int] = {"wcg-fw": 300, "steiner": 150}
"""Up to how many windows `auto` tries a strategy; asked for by name, it always runs."""


def strategy_named(name: str) -> Strategy:
    """The strategy of that name, or an error with the closest known one."""
    if name not in STRATEGIES:
        known = ["auto", *STRATEGIES]
        raise StrategyError(f"unknown strategy {name!r}: {did_you_mean(name, known)}")
    return STRATEGIES[name]

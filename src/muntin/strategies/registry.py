"""The registry: every strategy by the name that users write, in the order they are tried."""

from __future__ import annotations

from typing import Protocol

from muntin.errors import StrategyError, did_you_mean
from muntin.plan import SharingPlan
from muntin.strategies.direct import direct
from muntin.strategies.problem import Problem
from muntin.strategies.wcg import wcg


class Strategy(Protocol):
    """Builds a sharing plan for a problem."""

    def __call__(self, problem: Problem) -> SharingPlan: ...


STRATEGIES: dict[str, Strategy] = {
    "direct": direct,
    "wcg": wcg,
}


def strategy_named(name: str) -> Strategy:
    """The strategy of that name, or an error with the closest known one."""
    if name not in STRATEGIES:
        known = ["auto", *STRATEGIES]
        raise StrategyError(f"unknown strategy {name!r}: {did_you_mean(name, known)}")
    return STRATEGIES[name]

"""Strategies: each builds a sharing plan, one file each, in one ordered registry."""

from muntin.planner.strategies.budget import Budget, budget_for
from muntin.planner.strategies.problem import Problem
from muntin.planner.strategies.registry import (
    COST_FREE,
    SHARES,
    STRATEGIES,
    Strategy,
    strategy_named,
)

__all__ = [
    "COST_FREE",
    "SHARES",
    "STRATEGIES",
    "Budget",
    "Problem",
    "Strategy",
    "budget_for",
    "strategy_named",
]

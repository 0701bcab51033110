"""Strategies: each builds a sharing plan, one file each, in one ordered registry."""

from muntin.strategies.problem import Problem
from muntin.strategies.registry import LIMITS, STRATEGIES, Strategy, strategy_named

__all__ = ["LIMITS", "STRATEGIES", "Problem", "Strategy", "strategy_named"]

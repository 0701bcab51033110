"""Strategies: each builds a sharing plan, one file each, in one ordered registry."""

from muntin.strategies.problem import Problem
from muntin.strategies.registry import STRATEGIES, Strategy, strategy_named

__all__ = ["STRATEGIES", "Problem", "Strategy", "strategy_named"]

"""Costs of plans: one interface, several models."""

from muntin.cost.model import CostModel, node_costs, suffix_cost, total
from muntin.cost.paper import PaperCost
from muntin.cost.rate import RateCost
from muntin.cost.spark import Constants
from muntin.cost.statistics import Statistics
from muntin.cost.surrogates import ExpandCost, KernelCost
from muntin.cost.weave import WeaveCost

__all__ = [
    "Constants",
    "CostModel",
    "ExpandCost",
    "KernelCost",
    "PaperCost",
    "RateCost",
    "Statistics",
    "WeaveCost",
    "node_costs",
    "suffix_cost",
    "total",
]

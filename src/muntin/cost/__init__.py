"""Costs of plans: one interface, several models."""

from muntin.cost.model import CostModel, node_costs, total
from muntin.cost.paper import PaperCost
from muntin.cost.rate import RateCost

__all__ = ["CostModel", "PaperCost", "RateCost", "node_costs", "total"]

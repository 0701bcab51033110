"""Physical plans: how each edge of a sharing plan runs, whatever the engine."""

from muntin.physical.feeds import Feed, feeds_of
from muntin.physical.lowering import Level, PhysicalPlan, lower

__all__ = ["Feed", "Level", "PhysicalPlan", "feeds_of", "lower"]

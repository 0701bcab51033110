"""Physical plans: how each edge of a sharing plan runs, whatever the engine."""

from muntin.physical.feeds import Feed, feeds_of
from muntin.physical.lowering import Level, PhysicalPlan, lower
from muntin.physical.operators import Operators, choose, predicted

__all__ = ["Feed", "Level", "Operators", "PhysicalPlan", "choose", "feeds_of", "lower", "predicted"]

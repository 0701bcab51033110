"""Physical plans: how each edge of a sharing plan runs, whatever the engine."""

from muntin.physical.lowering import FROM_SOURCE, PhysicalNode, PhysicalPlan, lower
from muntin.physical.operators import BATCH, IN_PROCESS, OPERATORS, STREAM, Operator
from muntin.physical.question import Question

__all__ = [
    "BATCH",
    "FROM_SOURCE",
    "IN_PROCESS",
    "OPERATORS",
    "STREAM",
    "Operator",
    "PhysicalNode",
    "PhysicalPlan",
    "Question",
    "lower",
]

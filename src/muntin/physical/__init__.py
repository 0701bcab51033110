"""Physical plans: how each edge of a sharing plan runs, whatever the engine."""

from muntin.physical.feeds import Feed, feeds_of
from muntin.physical.lowering import Level, PhysicalPlan, lower
from muntin.physical.operators import Operators, choose, merged_beside, predicted, works_of
from muntin.physical.stream_operators import (
    STREAM_OPERATORS,
    choose_for_stream,
    predicted_on_stream,
)

__all__ = [
    "STREAM_OPERATORS",
    "Feed",
    "Level",
    "Operators",
    "PhysicalPlan",
    "choose",
    "choose_for_stream",
    "feeds_of",
    "lower",
    "merged_beside",
    "predicted",
    "predicted_on_stream",
    "works_of",
]

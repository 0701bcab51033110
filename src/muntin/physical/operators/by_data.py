"""Operators of windows that the data decides: the records of a key in order, slices by Cutty.

Their cost is the rows that each edge looks at, at one price: what an instance is made of only the
records tell, so predictions tell plans apart and no more.
"""

from __future__ import annotations

from muntin.cost import CostModel, RateCost
from muntin.physical.lowering import FROM_SOURCE, PhysicalPlan
from muntin.physical.operators.base import Operator
from muntin.physical.question import Question

LOOKED_AT = 5e-7
"""Seconds to look at a record or a piece in the order of time."""


class ByData(Operator):
    """An operator of such windows."""

    for_data_windows = True

    def surrogate(self, question: Question) -> CostModel:
        """Rows that each edge looks at."""
        return RateCost(question.statistics.rate, question.statistics.keys)

    def seconds(self, physical: PhysicalPlan, question: Question) -> dict[int, float]:
        """Every edge looks at the rows of its parent once."""
        known = question.statistics
        rates = RateCost(known.rate, known.keys)
        found = {FROM_SOURCE: 0.0}
        for node in physical.nodes:
            read = known.rate if node.parent == FROM_SOURCE else None
            rows = read if read is not None else rates.rows(physical.nodes[node.parent].shape)
            found[node.number] = LOOKED_AT * rows * known.span
        return found

"""Seconds of a tree's windows on its slices: so much for each row that the slices hold.

    rows(E)·(always + each·Q + moved·Σ r/s) + result·Σ held(w)

Q windows scan the rows (the kernel: `each`), or take each row into r/s instances (expand: `moved`);
`always` is what the slices themselves cost for a row. rows(E) never falls when edges are added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from muntin.cost.arrays import Floats, slice_rows
from muntin.cost.members import Members
from muntin.cost.statistics import SECOND, Statistics, occupied
from muntin.plan.slicing import Slices


@dataclass(frozen=True, slots=True)
class PerRow:
    """Seconds for a row of the slices, and for a row of the results."""

    statistics: Statistics
    each: float
    moved: float
    result: float = 0.0
    always: float = 0.0

    def cost(self, edges: float, members: Members, slices: Slices) -> float:
        known = self.statistics
        rows = occupied(known.keys * max(known.span * SECOND * edges, 1.0), known.rows)
        price = self.always + self.each * members.count + self.moved * members.overlap
        return rows * price + self._results(members)

    def at_least(
        self, edges: Floats, most: Floats, one: Members, others: Sequence[Members]
    ) -> Floats:
        count = one.count + np.array([m.count for m in others])
        overlap = one.overlap + np.array([m.overlap for m in others])
        price = self.always + self.each * count + self.moved * overlap
        bound: Floats = slice_rows(self.statistics, edges) * price
        if self.result:
            bound += self._results(one) + np.array([self._results(m) for m in others])
        return bound

    def _results(self, members: Members) -> float:
        if not self.result:
            return 0.0
        return self.result * sum(map(self.statistics.held, members.windows))

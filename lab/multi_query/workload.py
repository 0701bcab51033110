"""Workloads of many aggregate queries (section 5.1 of the multi-query paper).

    Q_num    how many queries             S_max   slides are drawn from the factors of this number
    O_max    the overlap r/s of a query is uniform between 1 and this
    Z_skew   how popular slides are: 0 uniform, above 0 long slides, below 0 short ones: the k-th
             longest slide has the weight k^-Z
    λ        the input rate, tuples in a unit of time: part of the cost

Queries are columns of numbers, so that a million of them fit in a few arrays. Queries with the same
slide begin as one tree (see `muntin.planner.strategies.weaving.greedy_merging`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from muntin.cost.arrays import Ints
from muntin.cost.members import Members
from muntin.model.windows import Window
from muntin.plan.slicing import Cut, Slices
from muntin.planner.strategies.coverage.divisors import divisors
from muntin.planner.strategies.weaving.greedy_merging import Strand


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of Table 4, with single values."""

    queries: int = 100
    s_max: int = 1_000
    o_max: int = 10_000
    rate: float = 1.0
    skew: float = 0.0


MIDDLE = Setting()
"""The middle point of the experiments."""


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """Queries as two columns: slide, and range as a number of slides."""

    slides: Ints
    overlaps: Ints

    def strands(self, grouped: bool = True) -> list[Strand]:
        """One tree for each slide, or for each query."""
        if not grouped:
            each = range(len(self.slides))
            return [self._strand(int(self.slides[i]), self.overlaps[i : i + 1], i) for i in each]
        order = np.argsort(self.slides, kind="stable")
        slides, begins = np.unique(self.slides[order], return_index=True)
        parts = np.split(self.overlaps[order], begins[1:])
        by_arrival = np.argsort(order[begins])  # so that ties fall as without grouping
        return [self._strand(int(slides[i]), parts[i], int(i)) for i in by_arrival]

    @staticmethod
    def _strand(slide: int, overlaps: Ints, number: int) -> Strand:
        lengths, times = np.unique(overlaps * slide, return_counts=True)
        members = Members(float(overlaps.sum()), len(overlaps), lengths, times)
        return Strand(Slices((Cut(slide, 0),), "shared pairs"), members, frozenset({number}))

    def windows(self) -> tuple[Window, ...]:
        """The queries as windows, each once."""
        lengths = self.slides * self.overlaps
        pairs = zip(lengths.tolist(), self.slides.tolist(), strict=True)
        return tuple(Window(length, slide) for length, slide in dict.fromkeys(pairs))


def workload(setting: Setting, seed: int) -> Workload:
    """Random queries of a setting.

    >>> few = workload(Setting(queries=4, s_max=10, o_max=3), seed=1)
    >>> few.slides.tolist(), few.overlaps.tolist()
    ([2, 1, 10, 1], [1, 1, 3, 2])
    """
    random = np.random.default_rng(seed)
    factors = divisors(setting.s_max)[::-1]
    weights = np.arange(1, len(factors) + 1, dtype=np.float64) ** -setting.skew
    slides = random.choice(factors, setting.queries, p=weights / weights.sum())
    overlaps = random.integers(1, setting.o_max, setting.queries, endpoint=True)
    return Workload(slides, overlaps)

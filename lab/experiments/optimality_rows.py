"""What the optimality experiment measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

EQUAL = 1e-7
"""Plans whose cost exceeds the optimum by less than this part count as optimal."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Costs of one planning problem."""

    generator: str
    shape: str
    pieces: str
    cost: str
    windows: int
    greedy: float
    ours: float
    least: float

    @property
    def gap(self) -> float:
        """How much `steiner` exceeds the optimum, as a part of it."""
        return self.ours / self.least - 1

    @property
    def greedy_gap(self) -> float:
        """How much `wcg-fw` exceeds the optimum."""
        return self.greedy / self.least - 1


@dataclass(frozen=True, slots=True)
class Timed:
    """Seconds of processor time and costs, by strategy and whether pieces may overlap."""

    windows: int
    seconds: dict[tuple[str, bool], float]
    costs: dict[tuple[str, bool], float]


@dataclass(frozen=True, slots=True)
class Gaps:
    """A summary of several gaps.

    >>> Gaps.of([0.0, 0.0, 0.03])
    Gaps(sets=3, optimal=2, mean=0.01, worst=0.03)
    """

    sets: int
    optimal: int
    mean: float
    worst: float

    @staticmethod
    def of(gaps: Sequence[float]) -> Gaps:
        """The summary of these."""
        optimal = sum(gap < EQUAL for gap in gaps)
        return Gaps(len(gaps), optimal, sum(gaps) / len(gaps), max(gaps))

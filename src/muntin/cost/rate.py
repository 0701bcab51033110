"""Cost as a rate: how many partials are combined in a second of event time.

The default, comparable across all strategies. A record is folded into each instance that it
belongs to; a partial is merged into each instance that it is a piece of. With few records per key,
slices do not shrink the data: a node never has more rows than records reach it, so

    rows(slices) = min(rate, keys·edges)            rows(window) = min(rate·r/s, keys/s)

a second, and an edge costs the rows of the parent times the instances that each row feeds. A window
that reads an open slice takes ⌈r·edges⌉ slices instead of r·edges (`plan.slicing.mean_slices`).
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

from muntin.cost.statistics import SECOND
from muntin.errors import StrategyError
from muntin.model.data_windows import Begins, CountWindow, DataWindow, Session
from muntin.model.windows import Window
from muntin.plan import Shape
from muntin.plan.coverage import EdgePieces, Source
from muntin.plan.slicing import Slices, edge_rate, mean_slices


def check_rates(rate: float, keys: float) -> None:
    """Refuse a rate or a number of keys that cannot be."""
    if not isinstance(rate, Real) or not rate > 0:
        raise StrategyError(f"rate {rate!r} must be positive: events per second")
    if not isinstance(keys, Real) or not keys >= 1:
        raise StrategyError(f"keys {keys!r} must be at least 1: distinct keys")


@dataclass(frozen=True, slots=True)
class RateCost:
    """Operations a second, for `rate` events a second over `keys` keys."""

    rate: float = 100.0
    keys: float = 1.0
    name: str = "rate"
    unit: str = "operations/s"
    fewest: bool = True
    level: float = 0.0

    def __post_init__(self) -> None:
        check_rates(self.rate, self.keys)

    def rows(self, shape: Shape) -> float:
        """Rows that a node holds for each second of event time."""
        match shape:
            case Source():
                return self.rate
            case Slices():
                return min(self.rate, self.keys * SECOND * float(edge_rate(shape)))
            case Window():
                return min(self.rate * shape.overlap, self.keys * SECOND / shape.slide)
            case Session():
                return min(self.rate, self.keys * SECOND / shape.gap)
            case CountWindow():
                return self.rate / shape.slide
            case Begins():
                return min(self.rate, sum(map(self._begins, shape.windows)))
            case DataWindow():
                return self.rate  # at most: a window begins with a record

    def _begins(self, window: Window | DataWindow) -> float:
        """How many instances begin in a second, at most."""
        if isinstance(window, Window):
            return self.keys * SECOND / window.slide
        return self.rows(window)

    def edge(self, parent: Shape, child: Slices | Window, pieces: EdgePieces) -> float:
        """Rows of the parent times the instances of the child that each one feeds."""
        if isinstance(child, Slices):
            return self.rows(parent)
        if isinstance(parent, Window):
            return self.rows(parent) * pieces.count * parent.slide / child.slide
        if isinstance(parent, Slices):
            read = float(mean_slices(child, parent, pieces.kind))
            return min(self.rate * child.overlap, self.keys * SECOND * read / child.slide)
        return self.rows(parent) * child.overlap

"""Costs of many edges at once, for searches that weigh thousands of candidate windows.

An edge between two windows costs (number of pieces) × (price of a piece), and the price depends on
the two windows only. `piece_prices` and `source_costs` are the columns of `CostModel.edge` as NumPy
arrays: the models of this package have closed forms, any other model is asked edge by edge.
A model that is not proportional to the pieces still works: a search that uses these prices compares
the plans it ends with by the model itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from muntin.cost.model import CostModel
from muntin.cost.paper import PaperCost
from muntin.cost.rate import SECOND, RateCost
from muntin.cost.weave import WeaveCost
from muntin.coverage import SOURCE, Pieces, Progression, every
from muntin.windows import Window

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class WindowArrays:
    """Windows as three columns.

    >>> table = WindowArrays.of([Window(10, 2), Window(6, 3, 1)])
    >>> table.range.tolist(), table.slide.tolist(), table.offset.tolist()
    ([10, 6], [2, 3], [0, 1])
    """

    range: Ints
    slide: Ints
    offset: Ints

    @staticmethod
    def of(windows: Iterable[Window]) -> WindowArrays:
        """The columns of these windows."""
        rows = [(w.range, w.slide, w.offset) for w in windows]
        return WindowArrays.rows(rows)

    @staticmethod
    def rows(rows: Iterable[tuple[int, int, int]]) -> WindowArrays:
        """The columns of (range, slide, offset) triples."""
        table = np.array(list(rows), dtype=np.int64).reshape(-1, 3)
        return WindowArrays(table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy())

    def __len__(self) -> int:
        return len(self.range)

    def window(self, index: int) -> Window:
        """One row as a window, with its default id."""
        return Window(int(self.range[index]), int(self.slide[index]), int(self.offset[index]))

    def triples(self) -> list[tuple[int, int, int]]:
        """The rows."""
        columns = (self.range.tolist(), self.slide.tolist(), self.offset.tolist())
        return list(zip(*columns, strict=True))

    def take(self, indices: Ints) -> WindowArrays:
        """Some of the rows."""
        return WindowArrays(self.range[indices], self.slide[indices], self.offset[indices])

    def joined(self, other: WindowArrays) -> WindowArrays:
        """These rows, then the other's."""
        return WindowArrays(
            np.concatenate([self.range, other.range]),
            np.concatenate([self.slide, other.slide]),
            np.concatenate([self.offset, other.offset]),
        )


@singledispatch
def piece_prices(
    model: CostModel, parents: WindowArrays, children: WindowArrays, needed: Flags
) -> Floats:
    """The cost of one piece for each (parent, child) that is needed; the others may be anything."""
    one = Pieces((Progression(0, 1, 1),))
    sources = [parents.window(i) for i in range(len(parents))]
    targets = [children.window(i) for i in range(len(children))]
    prices = np.zeros((len(sources), len(targets)))
    for i, j in np.argwhere(needed).tolist():
        prices[i, j] = model.edge(sources[i], targets[j], one)
    return prices


@piece_prices.register
def _(model: RateCost, parents: WindowArrays, children: WindowArrays, needed: Flags) -> Floats:
    seen = np.minimum(model.rate * parents.range, model.keys * SECOND)
    prices: Floats = seen[:, None] / children.slide[None, :]
    return prices


@piece_prices.register
def _(model: PaperCost, parents: WindowArrays, children: WindowArrays, needed: Flags) -> Floats:
    return np.broadcast_to(_instances(model, children), (len(parents), len(children)))


@piece_prices.register
def _(model: WeaveCost, parents: WindowArrays, children: WindowArrays, needed: Flags) -> Floats:
    held = np.full(len(parents), model.keys * model.unit_of_time, dtype=np.float64)
    if model.keys > 1:
        held = np.minimum(held, model.rate * parents.range)
    prices: Floats = model.aggregates * held[:, None] / children.slide[None, :]
    return prices


@singledispatch
def source_costs(model: CostModel, windows: WindowArrays) -> Floats:
    """What each window costs when it reads the source."""
    shapes = [windows.window(i) for i in range(len(windows))]
    return np.array([model.edge(SOURCE, w, every(w.range)) for w in shapes], dtype=np.float64)


@source_costs.register
def _(model: RateCost, windows: WindowArrays) -> Floats:
    costs: Floats = model.rate * (windows.range / windows.slide)
    return costs


@source_costs.register
def _(model: WeaveCost, windows: WindowArrays) -> Floats:
    costs: Floats = model.aggregates * model.rate * (windows.range / windows.slide)
    return costs


@source_costs.register
def _(model: PaperCost, windows: WindowArrays) -> Floats:
    return _instances(model, windows) * model.rate * windows.range


def _instances(model: PaperCost, windows: WindowArrays) -> Floats:
    counts: Floats = 1 + (float(model.period) - windows.range) / windows.slide
    return counts

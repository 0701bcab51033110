"""Costs of many edges at once, for searches that weigh thousands of candidate windows.

They are `CostModel.edge` as NumPy arrays. `edge_matrix` and `source_costs`: every window of one
list computed from every window of another, and from the source. `slice_costs`: slices from the
source, and every window and all other slices from them. The number of edges in a unit of time is
given, so that a search may estimate it. Where the checker allows no edge, the cost may be anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from muntin.cost.model import CostModel
from muntin.cost.paper import PaperCost
from muntin.cost.rate import RateCost
from muntin.cost.statistics import SECOND, Statistics
from muntin.cost.surrogates import ExpandCost, KernelCost
from muntin.cost.weave import WeaveCost
from muntin.model.windows import Window
from muntin.plan.coverage import SOURCE, every
from muntin.plan.slicing import Slices

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


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
        return WindowArrays.rows((w.range, w.slide, w.offset) for w in windows)

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
        columns = (self.range.tolist(), self.slide.tolist(), self.offset.tolist())
        return list(zip(*columns, strict=True))

    def take(self, indices: Ints) -> WindowArrays:
        return WindowArrays(self.range[indices], self.slide[indices], self.offset[indices])

    def join(self, other: WindowArrays) -> WindowArrays:
        return WindowArrays.rows([*self.triples(), *other.triples()])


def edge_matrix(
    model: CostModel, parents: WindowArrays, children: WindowArrays, counts: Ints
) -> Floats:
    """What each child (column) costs from so many pieces of each parent (row)."""
    match model:
        case RateCost():
            seen: Floats = np.minimum(model.rate * parents.range, model.keys * SECOND)
            return counts * (seen[:, None] / children.slide)
        case PaperCost():
            return counts * _instances(model, children)
        case WeaveCost():
            held = np.full(len(parents), model.keys * model.unit_of_time, dtype=np.float64)
            if model.keys > 1:
                held = np.minimum(held, model.rate * parents.range)
            return counts * (model.aggregates * held[:, None] / children.slide)
        case ExpandCost():
            above, own = (window_rows(model.statistics, each) for each in (parents, children))
            feeds: Floats = counts * (parents.slide[:, None] / children.slide)
            return model.combined(above[:, None], feeds, own)
        case KernelCost():
            above, own = (window_rows(model.statistics, each) for each in (parents, children))
            scanned = model.scanned(above[:, None], own)
            gathered = model.gathered(above[:, None], counts.astype(np.float64), own)
            disjoint = parents.range == parents.slide
            return np.where(disjoint[:, None], scanned, gathered)
    raise NotImplementedError(f"cost {model.name!r} has no matrix of edges")


def source_costs(model: CostModel, windows: WindowArrays) -> Floats:
    """What each window costs when it reads the source."""
    copies = windows.range / windows.slide
    match model:
        case RateCost():
            return model.rate * copies
        case WeaveCost():
            return model.aggregates * model.rate * copies
        case PaperCost():
            return _instances(model, windows) * model.rate * windows.range
        case ExpandCost() | KernelCost():
            return model.copy * copies + model.first * window_rows(model.statistics, windows)
    raise NotImplementedError(f"cost {model.name!r} has no array of edges")


class SliceCosts(NamedTuple):
    """Of each slices: from the source; of each window, and of each other slices, from them."""

    source: Floats
    windows: Floats
    slices: Floats


def slice_costs(
    model: CostModel, slices: Sequence[Slices], edges: Floats, windows: WindowArrays
) -> SliceCosts:
    """The costs of these slices, which have so many edges."""
    copies = windows.range / windows.slide
    match model:
        case RateCost():
            rows = model.keys * SECOND * edges
            return SliceCosts(
                np.full(len(edges), model.rate, dtype=np.float64),
                np.minimum(model.rate * copies, rows[:, None] * copies),
                _rows_of(np.minimum(model.rate, rows)),
            )
        case ExpandCost() | KernelCost():
            rows, own = slice_rows(model.statistics, edges), window_rows(model.statistics, windows)
            source, above = model.copy + model.first * rows, rows[:, None]
            if isinstance(model, KernelCost):
                return SliceCosts(source, model.scanned(above, own), _rows_of(model.step * rows))
            moved = model.combined(above, copies, own), model.combined(above, np.ones(1), rows)
            return SliceCosts(source, *moved)
    return ask_each(model, slices, windows)


def ask_each(model: CostModel, slices: Sequence[Slices], windows: WindowArrays) -> SliceCosts:
    """The same, asked of the model edge by edge."""
    shapes, one = [windows.window(i) for i in range(len(windows))], every(1)
    below = [[model.edge(s, w, every(w.range)) for w in shapes] for s in slices]
    return SliceCosts(
        np.array([model.edge(SOURCE, s, one) for s in slices]),
        np.array(below).reshape(len(slices), len(shapes)),
        np.array([[model.edge(s, other, one) for other in slices] for s in slices]),
    )


def _rows_of(each: Floats) -> Floats:
    return np.repeat(each[:, None], len(each), axis=1)


def window_rows(statistics: Statistics, windows: WindowArrays) -> Floats:
    """How many rows each window holds: `Statistics.held`."""
    instances = (statistics.span * SECOND + windows.range) / windows.slide
    cells = statistics.keys * np.maximum(instances, 1.0)
    return _occupied(cells, statistics.rows * (windows.range / windows.slide))


def slice_rows(statistics: Statistics, edges: Floats) -> Floats:
    """How many rows slices hold that have so many edges in a microsecond: `Statistics.held`."""
    cells = statistics.keys * np.maximum(statistics.span * SECOND * edges, 1.0)
    return _occupied(cells, statistics.rows)


def _occupied(cells: Floats, rows: Floats | float) -> Floats:
    return -cells * np.expm1(-rows / cells)


def _instances(model: PaperCost, windows: WindowArrays) -> Floats:
    return 1 + (float(model.period) - windows.range) / windows.slide

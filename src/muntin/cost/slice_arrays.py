"""Costs of edges from slices, as arrays: what `arrays` is for windows.

A search that puts slices between the source and windows asks what each slices cost by themselves,
and what every window and all other slices cost when they are made of them. The number of edges in
a unit of time is given, so that a search may estimate it. Where the checker allows no edge, the
cost may be anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import NamedTuple

import numpy as np

from muntin.cost.arrays import Floats, WindowArrays, slice_rows, window_rows
from muntin.cost.model import CostModel
from muntin.cost.rate import RateCost
from muntin.cost.statistics import SECOND
from muntin.cost.surrogates import ExpandCost, KernelCost
from muntin.plan.coverage import SOURCE, every
from muntin.plan.slicing import Slices


class SliceCosts(NamedTuple):
    """Of each slices: from the source; of each window, and of each other slices, from them."""

    source: Floats
    windows: Floats
    slices: Floats


@singledispatch
def slice_costs(
    model: CostModel, slices: Sequence[Slices], edges: Floats, windows: WindowArrays
) -> SliceCosts:
    """The costs of these slices, which have so many edges."""
    shapes, one = [windows.window(i) for i in range(len(windows))], every(1)
    below = [[model.edge(s, w, every(w.range)) for w in shapes] for s in slices]
    return SliceCosts(
        np.array([model.edge(SOURCE, s, one) for s in slices]),
        np.array(below).reshape(len(slices), len(shapes)),
        np.array([[model.edge(s, other, one) for other in slices] for s in slices]),
    )


@slice_costs.register
def _(
    model: RateCost, slices: Sequence[Slices], edges: Floats, windows: WindowArrays
) -> SliceCosts:
    rows = model.keys * SECOND * edges
    copies = windows.range / windows.slide
    return SliceCosts(
        np.full(len(edges), model.rate, dtype=np.float64),
        np.minimum(model.rate * copies, rows[:, None] * copies),
        _rows_of(np.minimum(model.rate, rows)),
    )


@slice_costs.register
def _(
    model: ExpandCost, slices: Sequence[Slices], edges: Floats, windows: WindowArrays
) -> SliceCosts:
    rows, own = slice_rows(model.statistics, edges), window_rows(model.statistics, windows)
    return SliceCosts(
        model.copy + model.first * rows,
        model.combined(rows[:, None], windows.range / windows.slide, own),
        model.combined(rows[:, None], np.ones(1), rows),
    )


@slice_costs.register
def _(
    model: KernelCost, slices: Sequence[Slices], edges: Floats, windows: WindowArrays
) -> SliceCosts:
    rows, own = slice_rows(model.statistics, edges), window_rows(model.statistics, windows)
    return SliceCosts(
        model.copy + model.first * rows,
        model.scanned(rows[:, None], own),
        _rows_of(model.step * rows),
    )


def _rows_of(each: Floats) -> Floats:
    """A square matrix whose rows are these."""
    return np.repeat(each[:, None], len(each), axis=1)

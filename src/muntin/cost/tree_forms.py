"""What one tree costs, slices and windows, in closed form, for searches that divide windows.

    tree = slicing + final         slicing: the same for every tree under one root

Where cost is seconds, slices cost a pass over their parent, and something for each row that they
hold. The first part is `slicing`. The second never falls when edges are added, nor does what the
windows cost: together they are `final`. In the other models slices cost a pass and no more.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from muntin.cost.finals import (
    FlatFat,
    FlatFit,
    Linear,
    PerAggregate,
    PerRow,
    SlickInv,
    SlickNonInv,
)
from muntin.cost.members import Final
from muntin.cost.model import CostModel
from muntin.cost.paper import PaperCost
from muntin.cost.rate import RateCost
from muntin.cost.statistics import SECOND
from muntin.cost.surrogates import ExpandCost, KernelCost
from muntin.cost.weave import WeaveCost
from muntin.model.windows import Window
from muntin.plan.coverage import Source, every
from muntin.plan.slicing import Slices, pairs

ANY = pairs(Window(1, 1))
"""Slices, whichever they are."""


class TreeForm(NamedTuple):
    """The two parts of a tree's cost."""

    slicing: float
    final: Final


def final_of(model: CostModel) -> Final:
    """The closed form of a cost model."""
    match model:
        case RateCost():
            return Linear(lambda edges: np.minimum(model.rate, model.keys * SECOND * edges))
        case PaperCost():
            return Linear(lambda edges: model.period * edges)
        case WeaveCost(counted=False):
            return _woven(model)
        case ExpandCost() | KernelCost():
            return per_row(model)
    raise NotImplementedError(f"cost {model.name!r} has no closed form")


def per_row(model: ExpandCost | KernelCost) -> PerRow:
    """What windows cost on slices, in seconds."""
    if isinstance(model, KernelCost):
        return PerRow(model.statistics, each=2 * model.step, moved=0.0, result=model.step)
    return PerRow(model.statistics, model.constants.entered, model.moved, result=model.kept)


def _woven(model: WeaveCost) -> Final:
    scale = model.keys * model.unit_of_time
    forms: dict[str, Final] = {
        "panes": Linear(lambda edges: scale * edges),
        "flatfat": FlatFat(scale),
        "flatfit": FlatFit(scale),
        "slick-deque-inv": SlickInv(scale),
        "slick-deque-non-inv": SlickNonInv(scale),
    }
    if model.aggregates == model.keys == 1:
        return forms[model.variants[0]]
    return PerAggregate(model, tuple((n, forms[row]) for row, n in Counter(model.variants).items()))


def tree_form(model: CostModel, root: Slices | Source, results: bool = True) -> TreeForm:
    """The cost of trees under the root.

    Results of windows cost the same in every division into trees: a search that only compares
    leaves them out (`results`), where the model has them apart.

    >>> from muntin.plan.coverage import SOURCE
    >>> tree_form(RateCost(rate=50.0), SOURCE).slicing
    50.0
    """
    if not isinstance(model, ExpandCost | KernelCost):
        return TreeForm(model.edge(root, ANY, every(1)), final_of(model))
    slicing, always = _in_seconds(model, root)
    form = replace(per_row(model), always=always)
    return TreeForm(slicing, form if results else replace(form, result=0.0))


def _in_seconds(model: ExpandCost | KernelCost, root: Slices | Source) -> tuple[float, float]:
    """What slices under the root cost, and what more for each row that they hold."""
    if isinstance(root, Source):
        return model.copy, model.first
    above = model.statistics.held(root)
    if isinstance(model, KernelCost):
        return model.step * above, 0.0
    return model.combined(above, 1.0, 0.0), model.kept

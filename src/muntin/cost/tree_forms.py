"""What one tree costs, slices and windows, in closed form, for searches that divide windows.

    tree = slicing + final         slicing: the same for every tree under one root

Where cost is seconds, slices cost a pass over their parent, and something for each row that they
hold. The first part is `slicing`. The second never falls when edges are added, nor does what the
windows cost: together they are `final`. In the other models slices cost a pass and no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from muntin.cost.arrays import Floats
from muntin.cost.finals import EdgeByEdge, final_of, per_row
from muntin.cost.members import Final, Members
from muntin.cost.model import CostModel
from muntin.cost.paper import PaperCost
from muntin.cost.rate import RateCost
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


def tree_form(model: CostModel, root: Slices | Source, results: bool = True) -> TreeForm:
    """The cost of trees under the root.

    Results of windows cost the same in every division into trees: a search that only compares
    leaves them out (`results`), where the model has them apart.

    >>> from muntin.plan.coverage import SOURCE
    >>> tree_form(RateCost(rate=50.0), SOURCE).slicing
    50.0
    """
    match model:
        case RateCost() | PaperCost() | WeaveCost():
            return TreeForm(model.edge(root, ANY, every(1)), final_of(model))
        case ExpandCost() | KernelCost():
            slicing, always = _in_seconds(model, root)
            form = per_row(model)
            return TreeForm(
                slicing, replace(form, always=always, result=form.result if results else 0.0)
            )
    return TreeForm(0.0, WithSlices(model, root))


def _in_seconds(model: ExpandCost | KernelCost, root: Slices | Source) -> tuple[float, float]:
    """What slices under the root cost, and what more for each row that they hold."""
    if isinstance(root, Source):
        return model.copy, model.first
    above = model.statistics.held(root)
    if isinstance(model, KernelCost):
        return model.step * above, 0.0
    return model.combined(above, 1.0, 0.0), model.kept


@dataclass(frozen=True, slots=True)
class WithSlices:
    """Any other model: asked for the slices and for each window, and without a bound."""

    model: CostModel
    root: Slices | Source

    def cost(self, edges: float, members: Members, slices: Slices) -> float:
        windows = EdgeByEdge(self.model).cost(edges, members, slices)
        return self.model.edge(self.root, slices, every(1)) + windows

    def at_least(
        self, edges: Floats, most: Floats, one: Members, others: Sequence[Members]
    ) -> Floats:
        return np.zeros(len(others))

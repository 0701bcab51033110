"""The interface of all cost models: what it costs to compute one node from its parent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from muntin.cost.rate import RateCost
from muntin.cost.weave import WeaveCost
from muntin.errors import StrategyError
from muntin.model.data_windows import DataWindow
from muntin.model.windows import Window
from muntin.plan import Node, Shape, SharingPlan
from muntin.plan.coverage import EdgeKind, EdgePieces, delta_window, every, suffix_piece
from muntin.plan.slicing import Slices


class CostModel(Protocol):
    """A cost is a sum over edges, each judged on its own, so that searches can compare edges."""

    @property
    def name(self) -> str:
        """What users call it."""

    @property
    def unit(self) -> str:
        """What it counts."""

    @property
    def fewest(self) -> bool:
        """Whether its plans take the fewest pieces, or the paper's covering set."""

    @property
    def level(self) -> float:
        """What one more level of the tree costs, whatever is on it."""

    def edge(self, parent: Shape, child: Slices | Window, pieces: EdgePieces) -> float:
        """The cost of computing the child from these pieces of the parent."""


def node_costs(model: CostModel, plan: SharingPlan) -> dict[str, float]:
    costs = {node.id: _alone(model, parent, node, plan) for parent, node in plan.edges()}
    if isinstance(model, WeaveCost):
        for node in plan.nodes:
            if isinstance(node.shape, Slices):
                costs.update(_together(model, node.shape, plan.children(node.id)))
    return costs


def suffix_cost(model: CostModel, foot: Slices, parent: Window, child: Window) -> float:
    """The cost of a stair: one piece of the narrower window, its delta as a window by itself, and
    the level that it adds to the tree.

    >>> from muntin.plan.slicing import shared_pairs
    >>> narrow, wide = Window(20, 10), Window(60, 10)
    >>> slices, model = shared_pairs([narrow, wide]), RateCost(rate=1e6)
    >>> model.edge(slices, wide, every(60)) / suffix_cost(model, slices, narrow, wide)    # 6 / 5
    1.2
    """
    pieces = suffix_piece(child, parent)
    assert pieces is not None, f"{child} does not nest {parent}"
    delta, share = delta_window(child, parent)
    read = model.edge(foot, delta, every(delta.range))
    return model.edge(parent, child, pieces) + share * read + model.level


def _alone(model: CostModel, parent: Shape, node: Node, plan: SharingPlan) -> float:
    if node.pieces.kind is EdgeKind.SUFFIX:
        foot, child = plan.shape(plan.foot(node)), node.shape
        assert isinstance(foot, Slices), "the checker allows stairs on slices only"
        assert isinstance(parent, Window), "the checker allows stairs of windows only"
        assert isinstance(child, Window), "the checker allows stairs of windows only"
        return suffix_cost(model, foot, parent, child)
    if not isinstance(node.shape, DataWindow):
        return model.edge(parent, node.shape, node.pieces)
    if not isinstance(model, RateCost):
        raise StrategyError(
            f"cost={model.name!r} judges periodic windows only: use cost='rate' for {node.id!r}"
        )
    return model.rows(parent)  # each is looked at once; the data decides the rest


def _together(model: WeaveCost, slices: Slices, children: Sequence[Node]) -> dict[str, float]:
    windows = {node.id: node.shape for node in children if isinstance(node.shape, Window)}
    kinds = [node.pieces.kind for node in children if isinstance(node.shape, Window)]
    shares = model.family(slices, list(windows.values()), kinds) if windows else []
    return dict(zip(windows, shares, strict=True))


def total(model: CostModel, plan: SharingPlan) -> float:
    return sum(node_costs(model, plan).values())

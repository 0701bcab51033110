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
from muntin.plan.coverage import EdgePieces
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

    def edge(self, parent: Shape, child: Slices | Window, pieces: EdgePieces) -> float:
        """The cost of computing the child from these pieces of the parent."""


def node_costs(model: CostModel, plan: SharingPlan) -> dict[str, float]:
    costs = {node.id: _alone(model, parent, node) for parent, node in plan.edges()}
    if isinstance(model, WeaveCost):
        for node in plan.nodes:
            if isinstance(node.shape, Slices):
                costs.update(_together(model, node.shape, plan.children(node.id)))
    return costs


def _alone(model: CostModel, parent: Shape, node: Node) -> float:
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

"""The interface of all cost models: what it costs to compute one node from its parent."""

from __future__ import annotations

from typing import Protocol

from muntin.coverage import Pieces
from muntin.plan import Shape, SharingPlan
from muntin.slicing import Slices
from muntin.windows import Window


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

    def edge(self, parent: Shape, child: Slices | Window, pieces: Pieces) -> float:
        """The cost of computing the child from these pieces of the parent."""


def node_costs(model: CostModel, plan: SharingPlan) -> dict[str, float]:
    """The cost of every node."""
    return {node.id: model.edge(parent, node.shape, node.pieces) for parent, node in plan.edges()}


def total(model: CostModel, plan: SharingPlan) -> float:
    """The cost of the plan."""
    return sum(node_costs(model, plan).values())

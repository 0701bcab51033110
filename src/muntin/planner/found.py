"""What planning finds: the plan, the operator that runs it, and all that was tried."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self

from muntin.cost import CostModel
from muntin.model.query import Query
from muntin.physical import Operator
from muntin.plan import SharingPlan
from muntin.planner.choice import Choice
from muntin.planner.options import Options


@dataclass(frozen=True, slots=True)
class Alternative:
    """A strategy that was tried: by which operator, its cost and seconds, or why it was left out.

    `steps` is what it took of the planning budget: the same on every machine.
    """

    strategy: str
    operator: str | None = None
    cost: float | None = None
    seconds: float | None = None
    note: str = ""
    steps: int = 0


@dataclass(frozen=True, slots=True, repr=False)
class Found:
    """The chosen plan of a query: how it runs, what it costs, and what it was compared with.

    `planned` is the tree that the strategy built, under `model`; `choice` the operator, and the
    tree as it runs it.
    """

    query: Query
    planned: SharingPlan
    strategy: str
    cost: float
    model: CostModel
    alternatives: tuple[Alternative, ...]
    choice: Choice
    options: Options

    @classmethod
    def of(cls, found: Found) -> Self:
        """What was found, as a plan of this class."""
        return cls(*(getattr(found, field.name) for field in fields(found)))

    @property
    def tree(self) -> SharingPlan:
        """The tree as it runs: what explain() shows."""
        return self.choice.plan

    @property
    def operator(self) -> Operator:
        return self.choice.operator

    @property
    def seconds(self) -> float:
        """How long the plan is predicted to take: on a stream, for ten million rows."""
        return self.choice.seconds

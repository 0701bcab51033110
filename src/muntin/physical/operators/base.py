"""The interface of all operators: whether one can run a plan, how it rewrites, prices, explains it.

An operator is two files of one name: here the engine-free half, which planning asks; in the engine
(`spark.operators`) the half that runs. To add one, write both and name it in BATCH or STREAM
(`physical.operators`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

from muntin.aggregates import Aggregate
from muntin.cost import CostModel, RateCost
from muntin.cost.spark import Work
from muntin.physical.lowering import FROM_SOURCE, PhysicalNode, PhysicalPlan
from muntin.physical.question import Question
from muntin.plan import SharingPlan, check

Rewrite = Callable[[SharingPlan], SharingPlan]

Works = dict[int, Work]
"""The work of each node by its number; under FROM_SOURCE what the plan costs however it shares."""


class Operator(ABC):
    """How plans run on one engine; stateless, so one object each."""

    name: ClassVar[str]
    card: ClassVar[str]
    """What it does, in a sentence: explain() and the docs show it."""
    than: ClassVar[str] = "Spark's own"
    """What its predictions are compared with: every window by itself."""
    for_data_windows: ClassVar[bool] = False
    """Whether it runs windows that the data decides, or those that the clock does."""
    aggregates: ClassVar[bool] = True
    """Whether it computes aggregates, and so is one that a plan may name."""
    shares: ClassVar[bool] = True
    """Whether it runs the tree that a strategy built; else every window by itself."""
    fixed_windows: ClassVar[bool] = True
    """Whether the windows that it starts with are those that it ends with."""
    chosen: ClassVar[bool] = True
    """Whether "auto" may take it; else it runs only what asks for it."""

    def refusal(self, plan: SharingPlan, question: Question) -> str | None:
        """Why it cannot run a plan, or None."""
        return None

    def rewrites(self, question: Question) -> tuple[Rewrite, ...]:
        """What makes of any plan one that it runs, in order."""
        return ()

    def rewrite(self, plan: SharingPlan, question: Question) -> SharingPlan:
        """The plan that it runs, proved anew after each rewrite."""
        for rewrite in self.rewrites(question):
            after = rewrite(plan)
            if after is not plan:
                check(after, question.query.all_windows)
            plan = after
        return plan

    @abstractmethod
    def surrogate(self, question: Question) -> CostModel:
        """Its cost edge by edge: what strategies minimise."""

    @abstractmethod
    def seconds(self, physical: PhysicalPlan, question: Question) -> dict[int, float]:
        """How long each node is predicted to take, by number; under FROM_SOURCE the rest."""

    def least(self, question: Question) -> float:
        """Seconds that none of its plans can stay below: planning for it may be idle."""
        return 0.0

    def how(self, node: PhysicalNode, physical: PhysicalPlan, question: Question) -> str:
        """What makes a node: the word that explain() has beside it."""
        return self.name

    def notes(self, physical: PhysicalPlan, question: Question) -> tuple[str, ...]:
        """What else explain() says of how it runs."""
        return ()

    def left_to_engine(self, question: Question) -> tuple[Aggregate, ...]:
        """Aggregates that the engine merges beside this operator, which cannot."""
        return ()

    def __repr__(self) -> str:
        return self.name


LOOKED_AT = 5e-7
"""Seconds to look at a record or a piece in the order of time."""


class DataOperator(Operator):
    """An operator of windows that the data decides.

    Its cost is the rows that each edge looks at, at one price: what an instance is made of only the
    records tell, so predictions tell plans apart and no more.
    """

    for_data_windows = True

    def surrogate(self, question: Question) -> RateCost:
        """Rows that each edge looks at."""
        return RateCost(question.statistics.rate, question.statistics.keys)

    def seconds(self, physical: PhysicalPlan, question: Question) -> dict[int, float]:
        """Every edge looks at the rows of its parent once."""
        rates, found = self.surrogate(question), {FROM_SOURCE: 0.0}
        for parent, node in physical.edges():
            rows = rates.rate if parent is None else rates.rows(parent.shape)
            found[node.number] = LOOKED_AT * rows * question.statistics.span
        return found

"""window: Spark's own window() queries in a union, what there is without sharing."""

from __future__ import annotations

from muntin.cost import CostModel
from muntin.cost.spark import Work
from muntin.model.windows import Window as Periodic
from muntin.physical.lowering import FROM_SOURCE, PhysicalNode, PhysicalPlan
from muntin.physical.operators.base import Rewrite, Works
from muntin.physical.operators.counted import Counted, own_window, sum_works
from muntin.physical.operators.expand import EXPAND
from muntin.physical.question import Question
from muntin.plan import SharingPlan, unshare


class Window(Counted):
    """Every window reads all rows, copies each into its instances, and groups."""

    name = "window"
    card = "Spark's own window() queries in a union: every window reads the source by itself"
    shares = False

    def refusal(self, plan: SharingPlan, question: Question) -> str | None:
        """Spark cannot run what is written in Python."""
        return EXPAND.refusal(plan, question)

    def rewrites(self, question: Question) -> tuple[Rewrite, ...]:
        return (unshare,)

    def surrogate(self, question: Question) -> CostModel:
        """All its plans are one."""
        return EXPAND.surrogate(question)

    def bounds(self, question: Question) -> tuple[Work, ...]:
        """All its plans are one."""
        works = [own_window(each, question) for each in question.query.windows]
        return (sum_works([Work(plan=1), *works]),)

    def work(self, physical: PhysicalPlan, question: Question) -> Works:
        """A query of its own for each window."""
        works = {FROM_SOURCE: Work(plan=1)}
        for node in physical.nodes:
            assert isinstance(node.shape, Periodic), "its plans are of windows alone"
            works[node.number] = own_window(node.shape, question)
        return works

    def how(self, node: PhysicalNode, physical: PhysicalPlan, question: Question) -> str:
        return self.name


WINDOW = Window()

"""Operators of a batch on Spark: their work is counted, node by node, and priced by constants.

A value is one column of a row: what is moved are keys, node, start and partials together. The kinds
of work are those of `muntin.cost.spark`, whose constants `muntin calibrate` measures.
"""

from __future__ import annotations

from abc import abstractmethod
from math import ceil

from muntin.cost.spark import KINDS, Work
from muntin.model.windows import Window
from muntin.physical.lowering import FROM_SOURCE, PhysicalNode, PhysicalPlan
from muntin.physical.operators.base import Operator, Works
from muntin.physical.question import Question


class Counted(Operator):
    """An operator whose work is counted."""

    @abstractmethod
    def work(self, physical: PhysicalPlan, question: Question) -> Works:
        """What the plan makes Spark do, by node."""

    def seconds(self, physical: PhysicalPlan, question: Question) -> dict[int, float]:
        """The work of each node at its price; what has no partials runs beside, by Spark alone."""
        price = question.constants.seconds
        found = {number: price(work) for number, work in self.work(physical, question).items()}
        if self.shares and question.query.direct:
            beside = question.query.windows
            found[FROM_SOURCE] += sum(price(own_window(each, question)) for each in beside)
        return found

    def total_work(self, physical: PhysicalPlan, question: Question) -> Work:
        """The work of all nodes together."""
        works = self.work(physical, question).values()
        return Work(**{kind: sum(getattr(w, kind) for w in works) for kind in KINDS})

    def how(self, node: PhysicalNode, physical: PhysicalPlan, question: Question) -> str:
        """One disjoint root is plain grouping; several, or instances, are copies of rows."""
        if node.parent != FROM_SOURCE:
            return self.name
        return "slices" if alone(physical) else "expand"


LABELLED = 0.5
"""What it costs to make the window of a row, in copies: 0.09 s for 2 million rows."""


def own_window(window: Window, question: Question) -> Work:
    """One window() query of Spark's own: a stage, a read of all rows, and their copies.

    Rows of a tumbling window are not copied, yet each gets the window that it is grouped by.
    """
    known = question.statistics
    copies = known.rows * (LABELLED if window.tumbling else ceil(window.overlap))
    grouped = known.held(window) * question.width
    return Work(0, stage=1, read=known.rows, windowed=copies, grouped=grouped)


def alone(physical: PhysicalPlan) -> bool:
    """Whether each row of the source falls into one piece of one node."""
    return len(physical.roots) == 1 and physical.roots[0].disjoint


def first_level(physical: PhysicalPlan, question: Question) -> Works:
    """The work of the nodes that rows are grouped into, and of reading the rows."""
    rows = question.statistics.rows
    works = {FROM_SOURCE: Work(plan=1, stage=1, read=rows)}
    for root in physical.roots:
        instances = ceil(root.shape.overlap) if isinstance(root.shape, Window) else 1
        copies = 0 if alone(physical) else rows * instances
        held = question.statistics.held(root.shape)
        works[root.number] = Work(plan=0, copied=copies, grouped=held * question.width)
    return works

"""Operators of a batch on Spark: their work is counted, node by node, and priced by constants.

A value is one column of a row: what is moved are keys, node, start and partials together. The kinds
of work are those of `muntin.cost.spark`, whose constants `muntin calibrate` measures.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from math import ceil

from muntin.cost.spark import KINDS, Work
from muntin.model.windows import Window
from muntin.physical.lowering import FROM_SOURCE, PhysicalNode, PhysicalPlan
from muntin.physical.operators.base import Operator, Works
from muntin.physical.question import Question
from muntin.plan.slicing import Slices, begins


class Counted(Operator):
    """An operator whose work is counted."""

    @abstractmethod
    def work(self, physical: PhysicalPlan, question: Question) -> Works:
        """What the plan makes Spark do, by node."""

    @abstractmethod
    def bounds(self, question: Question) -> tuple[Work, ...]:
        """Kinds of plans by the least that one does: each of its plans does one of these, or more.

        So `least` is known before there is a plan, and planning for less can be left out.
        """

    def seconds(self, physical: PhysicalPlan, question: Question) -> dict[int, float]:
        """The work of each node at its price."""
        price = question.constants.seconds
        found = {number: price(work) for number, work in self.work(physical, question).items()}
        found[FROM_SOURCE] += self._beside(question)
        return found

    def least(self, question: Question) -> float:
        """The cheapest of the bounds."""
        cheapest = min(map(question.constants.seconds, self.bounds(question)))
        return cheapest + self._beside(question)

    def _beside(self, question: Question) -> float:
        """Seconds for what has no partials: it runs beside, by Spark alone."""
        if not (self.shares and question.query.direct):
            return 0.0
        price, beside = question.constants.seconds, question.query.windows
        return sum(price(own_window(each, question)) for each in beside)

    def total_work(self, physical: PhysicalPlan, question: Question) -> Work:
        """The work of all nodes together."""
        return sum_works(self.work(physical, question).values())

    def how(self, node: PhysicalNode, physical: PhysicalPlan, question: Question) -> str:
        """One disjoint root is plain grouping; several, or instances, are copies of rows."""
        if node.parent != FROM_SOURCE:
            return self.name
        return "slices" if alone(physical) else "expand"


def sum_works(works: Iterable[Work]) -> Work:
    """The work of all of them."""
    each = tuple(works)
    return Work(**{kind: sum(getattr(work, kind) for work in each) for kind in KINDS})


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


def fewest_pieces(question: Question) -> float:
    """Pieces that every plan has above its windows: some instance begins at each of them."""
    return max(map(question.statistics.held, map(begun, question.query.windows)))


def begun(window: Window) -> Slices:
    """The fewest pieces that a window is made of: one from each begin to the next."""
    return Slices((begins(window),), "instances")


def copied_work(question: Question) -> Work:
    """The work where every window reads the source: a copy of each row for every instance.

    One window that does not overlap itself needs no copies.
    """
    known, windows = question.statistics, question.query.windows
    each = 0 if len(windows) == 1 and windows[0].tumbling else sum(w.overlap for w in windows)
    grouped = sum(map(known.held, windows)) * question.width
    return Work(1, stage=1, read=known.rows, copied=known.rows * each, grouped=grouped)


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

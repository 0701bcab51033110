"""rows: rows sorted by key and time through NumPy, which slices them too.

Where there are about as many slices as rows, as with many keys, grouping by Spark moves every row
twice and shrinks nothing. Here rows go to Python at once, after one shuffle and one sort: NumPy
groups neighbours into the slices of the first level and goes on as the kernel does.
"""

from __future__ import annotations

from dataclasses import replace

from muntin.cost.spark import Work
from muntin.cost.statistics import Statistics
from muntin.cost.surrogates import SCANS
from muntin.model.query import Query
from muntin.model.windows import Window
from muntin.physical.lowering import FROM_SOURCE, PhysicalNode, PhysicalPlan
from muntin.physical.operators.base import Works
from muntin.physical.operators.counted import sum_works
from muntin.physical.operators.kernel import Kernel, idle_cores, least_below, sent_times
from muntin.physical.question import Question, in_python
from muntin.plan import SharingPlan


class Rows(Kernel):
    """The operator for as many slices as rows."""

    name = "rows"
    card = "rows sorted by key and time through NumPy, which slices them and goes on as the kernel"

    def refusal(self, plan: SharingPlan, question: Question) -> str | None:
        """Rows are sliced in one way, in Python, by partials that need no order."""
        own = in_python(question.query)
        if own:
            return f"{own.name} takes records in order, which Spark's grouping brings about"
        roots = [node.shape for node in plan.nodes if node.parent is None]
        overlap = [shape for shape in roots if isinstance(shape, Window) and not shape.tumbling]
        if len(roots) > 1 or overlap:
            return "rows are cut into one set of slices, and this plan begins with more"
        if len(plan.nodes) == 1:
            return "Spark alone computes a plan of one node"
        return question.not_in_python

    def work(self, physical: PhysicalPlan, question: Question) -> Works:
        """All rows are sent, and scanned once more than the kernel scans their slices."""
        known, [root] = question.statistics, physical.roots
        chunk = self.chunk(physical, question.query, known)
        rows = known.rows * idle_cores(physical, question, chunk)
        sent = rows * _sent(question) * sent_times(chunk)
        works = super().work(physical, question)
        works[FROM_SOURCE] = Work(1, stage=1, worker=1, shipped=sent)
        sliced = rows / SCANS * question.partials
        works[root.number] = replace(works[root.number], grouped=0, shipped=0, scanned=sliced)
        return works

    def sent_rows(self, physical: PhysicalPlan, query: Query, known: Statistics) -> float:
        """All rows."""
        return known.rows

    def bounds(self, question: Question) -> tuple[Work, ...]:
        """All rows are sent and sliced."""
        rows = question.statistics.rows
        sliced = rows / SCANS * question.partials
        sent = Work(1, stage=1, worker=1, shipped=rows * _sent(question), scanned=sliced)
        return (sum_works([sent, least_below(question)]),)

    def how(self, node: PhysicalNode, physical: PhysicalPlan, question: Question) -> str:
        """Rows are sliced, all else is the kernel's."""
        if node.parent == FROM_SOURCE:
            return "rows: slice"
        return super().how(node, physical, question)


def _sent(question: Question) -> float:
    """Values that a row takes with it: keys, time and inputs."""
    inputs = len({each for a in question.shared for each in a.arguments})
    return len(question.query.keys) + 1.0 + inputs


ROWS = Rows()

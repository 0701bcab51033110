"""arrays: DuckDB groups rows into the first level, NumPy evaluates the tree below it, in process.

It is the kernel of Spark without workers, chunks and portions: the pieces of the first level come
over once, sorted, and results go back to DuckDB, which finishes them. SQL explodes a piece into
every instance that it feeds; arrays scan it twice, whatever the overlap.
"""

from __future__ import annotations

from muntin.physical.lowering import FROM_SOURCE, PhysicalNode, PhysicalPlan
from muntin.physical.operators.kernel import Kernel
from muntin.physical.question import Question, in_python
from muntin.plan import SharingPlan


class Arrays(Kernel):
    """The operator in process for many results."""

    name = "arrays"
    card = (
        "DuckDB groups the first level, NumPy the rest: two scans and one combine a result, "
        "whatever the overlap"
    )
    than = "without sharing"

    def refusal(self, plan: SharingPlan, question: Question) -> str | None:
        """What NumPy has no merge for, or DuckDB no lift."""
        own = in_python(question.query)
        if own is not None:
            return f"{own.name} is written in Python, which DuckDB cannot lift"
        return question.not_in_python

    def how(self, node: PhysicalNode, physical: PhysicalPlan, question: Question) -> str:
        """The first level is grouped by SQL; the rest is what the kernel does."""
        if node.parent == FROM_SOURCE:
            return "sql"
        return super().how(node, physical, question)


ARRAYS = Arrays()

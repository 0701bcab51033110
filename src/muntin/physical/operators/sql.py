"""sql: the plan as one SQL statement, a table expression for each node; DuckDB runs it in process.

It does expand's work, but each node is a table of its own, which nothing hands on. Its prediction
is by Spark's constants: what counts is which plan is less.
"""

from __future__ import annotations

from muntin.physical.lowering import PhysicalNode, PhysicalPlan
from muntin.physical.operators.expand import Expand
from muntin.physical.question import Question
from muntin.plan import SharingPlan


class Sql(Expand):
    """Plain SQL, for any engine that groups."""

    name = "sql"
    card = "one SQL statement, a table expression for each node, grouped from its parent's rows"
    than = "without sharing"
    hands_on = False

    def refusal(self, plan: SharingPlan, question: Question) -> str | None:
        """What no shared statement computes is said where the text is made, with the dialect."""
        return None

    def how(self, node: PhysicalNode, physical: PhysicalPlan, question: Question) -> str:
        return self.name


SQL = Sql()

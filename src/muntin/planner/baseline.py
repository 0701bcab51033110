"""What there is without us: one window() query of Spark's own for each window.

What explain() compares a plan with; a prediction by the same constants as the plan's.
"""

from __future__ import annotations

from dataclasses import replace

from muntin.physical.lowering import lower
from muntin.physical.operators.expand import EXPAND
from muntin.physical.operators.native import BATCH, NATIVE
from muntin.physical.operators.streamed import BATCHES
from muntin.physical.operators.window import WINDOW
from muntin.physical.question import Question
from muntin.plan import SharingPlan
from muntin.plan.tree import reading_all

COPIED = "each row is copied into its instances"


def unshared_seconds(question: Question, engine: str) -> float | None:
    """Seconds predicted for every window by itself; None where Spark has no such window."""
    query = question.query
    if query.data_windows or question.in_python is not None:
        return None
    nodes = [reading_all(window) for window in query.windows]
    physical = lower(SharingPlan.build(nodes, query.idempotent))
    if engine == "stream":
        copied = replace(question, stranger=COPIED, started_with=())
        others = len(nodes) - 1  # each is a query of its own
        return sum(NATIVE.seconds(physical, copied).values()) + others * BATCHES * BATCH
    operator = WINDOW if engine == "spark" else EXPAND
    return sum(operator.seconds(physical, question).values())

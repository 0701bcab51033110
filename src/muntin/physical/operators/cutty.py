"""cutty: the records of a key in order, all windows in one pass, from slices where any begins."""

from __future__ import annotations

from muntin.model.data_windows import Begins
from muntin.physical.operators.base import DataOperator
from muntin.physical.question import Question
from muntin.plan import SharingPlan


class Cutty(DataOperator):
    """For windows that the data decides, and periodic ones beside them."""

    name = "cutty"
    card = "records of a key in order, all windows in one pass of NumPy"

    def refusal(self, plan: SharingPlan, question: Question) -> str | None:
        """It runs one kind of plan."""
        if [isinstance(n.shape, Begins) for n in plan.nodes if n.parent is None] == [True]:
            return None
        return "it takes all windows from slices that begin where they do"


CUTTY = Cutty()

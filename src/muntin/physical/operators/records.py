"""records: Cutty on a stream; records wait until the watermark has passed them."""

from __future__ import annotations

from muntin.physical.operators.base import DataOperator
from muntin.physical.operators.cutty import begins_refusal
from muntin.physical.question import Question
from muntin.plan import SharingPlan


class Records(DataOperator):
    """For windows that the data decides, and periodic ones beside them, on a stream."""

    name = "records"
    card = (
        "records wait until the watermark has passed them, then all windows of a key in one pass; "
        "state is columnar, for each bucket of keys"
    )

    def refusal(self, plan: SharingPlan, question: Question) -> str | None:
        """It runs one kind of plan."""
        return begins_refusal(plan)


RECORDS = Records()

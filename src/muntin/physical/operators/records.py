"""records: Cutty on a stream; records wait until the watermark has passed them."""

from __future__ import annotations

from muntin.model.history import instant_text
from muntin.physical.lowering import PhysicalPlan
from muntin.physical.operators.cutty import Cutty
from muntin.physical.question import Question

COME_AND_GO = (
    "windows come and go by a control: those above are of the start, and each that is registered "
    "takes the records that the watermark has not passed"
)


class Records(Cutty):
    """For windows that the data decides, and periodic ones beside them, on a stream."""

    name = "records"
    card = (
        "records wait until the watermark has passed them, then all windows of a key in one pass; "
        "state is columnar, for each bucket of keys"
    )

    def notes(self, physical: PhysicalPlan, question: Question) -> tuple[str, ...]:
        """What a stream that starts from history begins with, and whether windows come and go."""
        said = (COME_AND_GO,) if question.controlled else ()
        if question.until is None:
            return said
        return (
            *said,
            f"starts from history: the table's rows until {instant_text(question.until)} are taken "
            "in order before the first ones of the stream; what ended by then is not emitted",
        )


RECORDS = Records()

"""records: Cutty on a stream; records wait until the watermark has passed them."""

from __future__ import annotations

from muntin.physical.operators.cutty import Cutty


class Records(Cutty):
    """For windows that the data decides, and periodic ones beside them, on a stream."""

    name = "records"
    card = (
        "records wait until the watermark has passed them, then all windows of a key in one pass; "
        "state is columnar, for each bucket of keys"
    )


RECORDS = Records()

"""join: pairs of rows that meet in a window, each found once by the times of both.

Nested windows share one state, as in `distinct`.
"""

from __future__ import annotations

from muntin.physical.operators.distinct import Distinct


class Join(Distinct):
    """The operator of mt.join, on batches and on streams."""

    name = "join"
    card = "pairs of rows that meet in a window, each found once by the times of both"


JOIN = Join()

"""native: one stateful aggregation of Spark's own, whose state is a row for each instance and key.

    rows ─ pieces of the first level ─ the tree below ─ partials of instances ─ Spark's aggregation
           in Python, batch by batch, without state                            state, one row each

Where each row has one instance only, or partials cannot be merged in Python, rows are copied into
their instances instead: nothing is shared. Spark evicts a row of state by its end alone, so what
ends at one instant stands in one row, each window in a place of its own:

    end 10:05   │ 1 minute │ 5 minutes │ 1 hour │        one row to read, write and evict, not three

A window joins the first row whose ends include all of its own: a finer slide offers its instants
to the coarser ones. Results do not depend on who sits with whom, only the number of rows does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from muntin.cost import RateCost
from muntin.cost.statistics import ROWS, SECOND
from muntin.kernels.mergers import not_merged
from muntin.model.query import Query
from muntin.model.windows import Window
from muntin.physical.lowering import FROM_SOURCE, PhysicalNode, PhysicalPlan
from muntin.physical.operators.base import Rewrite
from muntin.physical.operators.streamed import (
    BATCHES,
    Streamed,
    batch_span,
    price_evaluation,
    price_grouping,
)
from muntin.physical.question import Question, partials_of
from muntin.plan import refine, slice_roots, unshare

SCAN = 2.5e-7
"""Seconds to read a row where rows are not pre-aggregated."""
COPY = 5e-8
"""Seconds to copy such a row into one instance."""
KEPT = 2e-5
"""Seconds to update one row of Spark's state, and to evict it when its time has come."""
BATCH = 0.4
"""Seconds for one more batch, however few its rows: half of it commits the state."""
STATE = 0.25
"""Of these, for one more aggregation in the same query."""
PYTHON = 0.15
"""Seconds more for one whose rows are pre-aggregated in Python."""
COLUMNS = 60
"""Partials that stand in one row of state: far more would leave Spark's generated code."""


class Native(Streamed):
    """For few keys: equal to the union of window() queries in every batch, mode and metric."""

    name = "native"
    card = "one stateful aggregation of Spark's own; instances that end together share a row"

    def rewrites(self, question: Question) -> tuple[Rewrite, ...]:
        """Rows are grouped into disjoint pieces, or copied into their instances."""
        return (refine, slice_roots) if _shares(question) else (unshare,)

    def seconds(self, physical: PhysicalPlan, question: Question) -> dict[int, float]:
        """Grouping and evaluating in each batch, and each row of state that a batch touches."""
        if _shares(question):
            found = price_grouping(physical, question)
            found[FROM_SOURCE] += BATCHES * PYTHON
            for node in physical.nodes:
                if node.parent != FROM_SOURCE:
                    found[node.number] = price_evaluation(physical, node, question, kept=False)
        else:
            found = {FROM_SOURCE: SCAN * ROWS}
            for node in physical.nodes:
                assert isinstance(node.shape, Window), "rows are copied into windows alone"
                found[node.number] = COPY * ROWS * node.shape.overlap
        found[FROM_SOURCE] += BATCHES * BATCH
        numbers = {node.shape: node.number for node in physical.outputs}
        for window, rows in _touched(question).items():
            found[numbers[window]] += KEPT * rows
        return found

    def how(self, node: PhysicalNode, physical: PhysicalPlan, question: Question) -> str:
        """Copied where nothing is shared."""
        if not _shares(question):
            return f"{self.name}: copies"
        return super().how(node, physical, question)


def _shares(question: Question) -> bool:
    windows = question.started_with or question.query.windows
    return pre_aggregated(question.query, question.stranger, windows)


def pre_aggregated(query: Query, stranger: str | None, windows: Iterable[Window]) -> bool:
    """Whether Spark is given partials of instances, not rows: they must merge in bounded state.

    The windows are those that the state was started with. Where each row falls into one instance
    of one window, there is nothing to share.
    """
    partials = partials_of(query.aggregates)
    if stranger or not_merged(p.merger for p in partials):
        return False
    return all(p.bounded for p in partials) and sum(w.overlap for w in windows) != 1


def places(partials: int) -> int:
    """How many windows of so many partials share a row."""
    return max(COLUMNS // max(partials, 1), 1)  # median alone has none


class Seat(NamedTuple):
    """Where a window's partials stand: which kind of row, and which place in it."""

    row: int
    place: int


def seats(windows: Iterable[Window], most: int) -> dict[Window, Seat]:
    """A seat for every window, at most so many to a row; the order of the windows is of no matter.

    >>> hour, minutes = Window(60, 10), Window(5, 5)
    >>> seats([hour, minutes], most=2)[hour], seats([hour, minutes], most=1)[hour]
    (Seat(row=0, place=1), Seat(row=1, place=0))
    """
    rows: list[list[Window]] = []
    for window in sorted(set(windows), key=lambda w: (w.slide, w.range, w.offset)):
        fitting = (row for row in rows if len(row) < most and _ends_with(window, row[0]))
        row = next(fitting, None)
        if row is None:
            rows.append(row := [])
        row.append(window)
    return {w: Seat(i, j) for i, row in enumerate(rows) for j, w in enumerate(row)}


def _ends_with(window: Window, finer: Window) -> bool:
    """Whether every end of the window's instances is one of the finer's."""
    apart = (window.offset + window.range) - (finer.offset + finer.range)
    return window.slide % finer.slide == 0 and apart % finer.slide == 0


def _touched(question: Question) -> dict[Window, float]:
    """Rows of state that the batches touch: instances that begin in a batch or are still open.

    Those that end together are one row: of a coarser window only what reaches beyond the finer.
    """
    known = question.statistics
    rates = RateCost(known.rate, known.keys)
    seated = seats(question.query.windows, places(question.partials))
    reach = dict.fromkeys((seat.row for seat in seated.values()), 0.0)
    found = {}
    for window in sorted(seated, key=lambda w: (w.slide, w.range)):
        seconds = batch_span(question) + window.range / SECOND
        row = seated[window].row
        found[window] = BATCHES * rates.rows(window) * max(seconds - reach[row], 0)
        reach[row] = max(seconds, reach[row])
    return found


NATIVE = Native()

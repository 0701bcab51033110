"""Operators of a stream: what is predicted for ten million rows in batches of a quarter million.

Both operators of periodic windows group the rows of every batch into the pieces of the first level,
in Python, and evaluate the tree below with the kernels of batch. The constants are of the order
that `muntin bench stream` shows on two cores, which judges the choice.
"""

from __future__ import annotations

from dataclasses import replace

from muntin.cost import CostModel, KernelCost, Statistics
from muntin.cost.spark import SHIPPED
from muntin.cost.statistics import LARGEST, ROWS, SECOND
from muntin.cost.surrogates import GATHER, OPEN, SCANS
from muntin.model.windows import Window
from muntin.physical.lowering import FROM_SOURCE, PhysicalNode, PhysicalPlan, Prefix, Suffix
from muntin.physical.operators.base import Operator
from muntin.physical.operators.kernel import way_of
from muntin.physical.question import Question
from muntin.plan.coverage import delta_window
from muntin.plan.slicing import Slices

READ = 5e-7
"""Seconds to read a row, lift it, and group it in Python."""
GROUPED = 1e-7
"""Seconds to group a row into the pieces of one first-level node."""
MERGED = 5e-7
"""Seconds to merge a piece into what there is of it."""
STEP = 4e-9
"""Seconds to scan a partial, or combine two."""

NODE = 1e-3
"""Seconds for one more node in a batch, however few its pieces: calls of NumPy."""

BATCH_ROWS = 250_000
BATCHES = ROWS / BATCH_ROWS


class Streamed(Operator):
    """A stream's operator that evaluates trees in Python, batch by batch."""

    def surrogate(self, question: Question) -> CostModel:
        """Rows grouped into first-level pieces, and the kernel's scans of these."""
        prices = replace(
            SHIPPED,
            copied=GROUPED,
            grouped=MERGED / question.width,
            shipped=0.0,
            scanned=STEP * SCANS,
        )
        return KernelCost(over_all(question), prices, question.partials, question.width)

    def how(self, node: PhysicalNode, physical: PhysicalPlan, question: Question) -> str:
        """Rows are grouped; what is below is evaluated by the kernels."""
        if node.parent == FROM_SOURCE:
            return "slices" if isinstance(node.shape, Slices) else f"{self.name}: instances"
        return f"{self.name}: {way_of(node, physical)}"


def over_all(question: Question) -> Statistics:
    """The statistics of ten million rows."""
    return replace(question.statistics, rows=ROWS)


def batch_span(question: Question) -> float:
    """Seconds of event time in a batch."""
    return BATCH_ROWS / question.statistics.rate


def price_grouping(physical: PhysicalPlan, question: Question) -> dict[int, float]:
    """Seconds to read all rows, and to group them into the pieces of each first-level node."""
    held = over_all(question).held
    found = {FROM_SOURCE: READ * ROWS}
    for root in physical.roots:
        found[root.number] = GROUPED * ROWS + MERGED * held(root.shape)
    return found


def price_evaluation(
    physical: PhysicalPlan, node: PhysicalNode, question: Question, kept: bool
) -> float:
    """Seconds to evaluate a node in every batch, from the pieces that its instances reach.

    Where pieces are kept, an instance is read whole when it is due; else as far as a batch goes. Of
    a stair only the delta is read, and merged with the narrower instance.
    """
    parent, window = physical.nodes[node.parent].shape, node.shape
    now = _during(question, batch_span(question)).held
    share, merged = 1.0, 0.0
    if isinstance(node.program, Suffix):
        assert isinstance(window, Window), "stairs are windows"
        assert isinstance(parent, Window), "stairs are windows"
        merged = GATHER * now(window)
        window, share = delta_window(window, parent)
        parent = physical.nodes[node.program.foot].shape
    reach = window.range / SECOND if kept and isinstance(window, Window) else 0.0
    pieces = _during(question, batch_span(question) + reach).held(parent)
    combines = 1 + OPEN if isinstance(node.program, Prefix) else 1
    scanned = share * (2 * pieces + combines * now(window)) + merged
    steps = pieces if isinstance(window, Slices) else scanned
    return BATCHES * (NODE + STEP * question.partials * steps)


def _during(question: Question, seconds: float) -> Statistics:
    known = question.statistics
    return replace(known, rows=min(max(known.rate * seconds, 1.0), LARGEST))

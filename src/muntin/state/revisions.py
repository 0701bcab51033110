"""Revisions: windows that have fired and that late rows change, emitted again, corrected.

    settled    every window that ended by then is final: the watermark less the allowed lateness
    fired      a window with an end in (settled, last] had its turn; in every batch in which late
               pieces fall into it, it is emitted once more
    revision   0 when a window is first emitted, then 1, 2, …

A fired window was emitted before if and only if it held a piece before this batch: what it takes
now it would have taken then. So revision 0 needs no memory; what came again is counted in an entry
of the state until it is settled (`state.corrected`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from muntin.kernels.instances import instances
from muntin.kernels.monoids import Array
from muntin.model.windows import Window
from muntin.physical.operators.kernel import Base
from muntin.state.corrected import Again, Corrected, count, revisions_of
from muntin.state.evaluation import opened
from muntin.state.pieces import GROUP, START, by_time, longs
from muntin.state.spec import last_due
from muntin.state.state import State


@dataclass(slots=True)
class Revisions:
    """What a step emits again, base by base; the state counts it when all bases are done."""

    state: State
    last: int
    found: dict[int, Corrected] = field(default_factory=dict)
    _counts: pa.Table | None = None

    def note(self, i: int, base: Base, new: pa.Table) -> None:
        """Find what new pieces of a base, sorted by group and start, change of fired windows.

        To be called before they are merged into the state.
        """
        group, start = longs(new, GROUP).astype(np.int64), longs(new, START)
        each = [self._again(i, window, group, start) for window in base.windows.values()]
        again = {found.window: found for found in each if found is not None}
        if again:
            whose = np.unique(np.concatenate([found.group for found in again.values()]))
            self.found[i] = Corrected(again, whose)

    def tables(self, i: int) -> list[pa.Table]:
        """The runs, new pieces included, that the instances to emit again are made of."""
        again = self.found[i].windows.values()
        low = min(int(each.start.min()) for each in again)
        high = max(int(each.start.max()) + each.window.range for each in again)
        return self.state.runs(i, low, high)

    def save(self) -> None:
        """Count what is emitted again."""
        again = [each for base in self.found.values() for each in base.windows.values()]
        if not any(each.revision.any() for each in again):
            return
        counts = self._known()
        for each in again:
            counts = count(counts, each)
        self.state.put_counts(counts)

    def _known(self) -> pa.Table:
        """The counts of before this step, read once."""
        if self._counts is None:
            self._counts = self.state.counts()
        return self._counts

    def _again(self, i: int, window: Window, group: Array, start: Array) -> Again | None:
        """The fired instances of a window that some of these pieces lie in."""
        header = self.state.header
        low, high = opened(header.bases[i], window, header.settled), last_due(window, self.last)
        inside = (start >= low) & (start < high + window.range)
        if low > high or not inside.any():
            return None
        group, start = group[inside], start[inside]
        found = list(instances(group, start, window, between=(low, high)))
        whose = np.concatenate([group[each.first] for each in found])
        begin = np.concatenate([each.start for each in found])
        fired = self._held(i, window, whose, begin)
        known = revisions_of(self._known(), window, whose, begin)
        return Again(window, whose, begin, np.where(fired, known + 1, 0))

    def _held(self, i: int, window: Window, group: Array, start: Array) -> Array:
        """Which instances held a piece before this batch."""
        low, high = int(start.min()), int(start.max()) + window.range
        tables = [table.select([GROUP, START]) for table in self.state.runs(i, low, high)]
        if not tables:
            return np.zeros(len(group), dtype=np.bool_)
        held = pa.concat_tables(tables).combine_chunks()
        whose, when = longs(held, GROUP), longs(held, START)
        names, place = np.unique(group, return_inverse=True)
        inside = np.isin(whose, names) & (when >= low) & (when < high)
        whose, when = np.searchsorted(names, whose[inside]), when[inside]
        order = by_time(whose, when)
        code = whose[order] * (high - low) + (when[order] - low)
        first = place * (high - low) + (start - low)
        return np.asarray(
            np.searchsorted(code, first) < np.searchsorted(code, first + window.range)
        )

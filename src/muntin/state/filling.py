"""Empty windows of a bucket: emitted for keys that are known, until they have been silent too long.

    known    the end of the newest instance of each window and key that was emitted with rows
    fill     a due instance without rows, if it ends at most `fill_for` after that

A key is known in a window from its first instance with rows on. One that stays silent is forgotten
when its last empty instance has been emitted, so that the state stays bounded. Of the known ends
there is one number for each key and window, in an entry of its own. A stream that starts from
history knows the keys of windows that ended shortly before it begins.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from muntin.kernels.monoids import Array
from muntin.kernels.pieces import Results
from muntin.kernels.portions import whole
from muntin.model.windows import Window
from muntin.state.evaluation import Due
from muntin.state.keys import Keys
from muntin.state.known import FILLED, NEVER
from muntin.state.pieces import START, longs
from muntin.state.spec import needed_until
from muntin.state.state import State

PORTION = 1_000_000
"""Empty instances that are made at a time."""


@dataclass(slots=True)
class Filling:
    """The empty windows of one step: told of all that have rows, it finds the others."""

    state: State
    last: int
    watermark: int
    fill_for: int
    _found: defaultdict[int, list[Results]] = field(default_factory=lambda: defaultdict(list))

    def note(self, found: Results) -> None:
        """Take note of instances with rows."""
        self._found[found.node].append(found)

    def tables(self, keys: Keys) -> list[pa.Table]:
        """The empty instances that are due; the state knows the new ends."""
        ends, tables = dict[Window, Array](), list[pa.Table]()
        before = self.state.known()
        for base, kept in zip(self.state.spec.bases, self.state.header.bases, strict=True):
            due = Due(kept, self.last, self.watermark)
            for node, window in base.windows.items():
                known = before.ends(window, len(keys))
                for group, start in self._fill(node, window, due.between(window), known):
                    tables.append(self._table(keys, node, group, start, before.pieces))
                ends[window] = known
        self.state.put_known(before.with_ends(ends))
        self.state.need_keys(np.maximum.reduce(list(ends.values())) + self.fill_for)
        return tables

    def _fill(
        self, node: int, window: Window, bounds: tuple[int, int], known: Array
    ) -> Iterator[tuple[Array, Array]]:
        """The keys and begins of empty instances, in portions; `known` is renewed.

        After each instance with rows, and after the known end of each key, empty ones follow until
        the next with rows; only those that are due now are left to emit.
        """
        first, last = (begin + window.range for begin in bounds)
        if first > last:
            return
        found, were = self._found.get(node, []), np.flatnonzero(known > NEVER)
        group = np.concatenate([were, *(each.group for each in found)])
        end = np.concatenate([known[were], *(each.start + window.range for each in found)])
        np.maximum.at(known, group, end)
        order = np.lexsort((end, group))
        group, end = group[order], end[order]
        after = np.full(len(end), last + window.slide)
        after[:-1] = np.where(group[1:] == group[:-1], end[1:], after[:-1])
        low = np.maximum(end + window.slide, first)
        high = np.minimum(np.minimum(after - window.slide, end + self.fill_for), last)
        count = np.maximum((high - low) // window.slide + 1, 0)
        total = np.cumsum(count)
        for begin in range(0, int(total[-1]) if len(total) else 0, PORTION):
            turn = np.arange(begin, min(begin + PORTION, int(total[-1])))
            place = np.searchsorted(total, turn, side="right")
            turn -= (total - count)[place]
            yield group[place], low[place] + turn * window.slide - window.range

    def _table(
        self, keys: Keys, node: int, group: Array, start: Array, pieces: pa.Schema
    ) -> pa.Table:
        """Results without partials: what is computed from none is decided at the end."""
        spec, rows = self.state.spec, pa.array(group)
        named = {name: whole(keys.table, name).take(rows) for name in spec.keys}
        named["node"] = pa.array(np.full(len(group), node, dtype=np.int32))
        named[START] = pa.array(start)
        for partial in spec.partials:
            named[partial.name] = pa.nulls(len(group), pieces.field(partial.name).type)
        named[FILLED] = pa.array(np.ones(len(group), dtype=np.bool_))
        return pa.table(named)


def know_history(state: State, pieces: pa.Table, until: int, fill_for: int) -> None:
    """Know the keys of a history, as a stream over its pieces would.

    Of a key and window that is the end of the newest instance with a piece. One that has not ended
    may count as known: all instances from the last that has on hold the same piece.
    """
    found = dict[Window, tuple[Array, Array]]()
    for base in state.spec.bases:
        own = pieces.filter(pa.array(longs(pieces, "node") == base.node))
        ends = {w: needed_until([w], longs(own, START)) for w in base.windows.values()}
        newest = np.maximum.reduce(list(ends.values()))
        fresh = newest + fill_for > until
        group = state.number_keys(own.filter(pa.array(fresh)), newest[fresh] + fill_for)
        found |= {window: (group, end[fresh]) for window, end in ends.items()}
    before, keys = state.known(), len(state.keys())
    known = {window: before.ends(window, keys) for window in found}
    for window, (group, end) in found.items():
        np.maximum.at(known[window], group, end)
    state.put_known(before.with_ends(known))

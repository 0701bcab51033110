"""Fired windows that are emitted again, and how often each of them was.

The counts are a table, a row for each instance of a key that came again: its revision so far. A
window is known by its range, slide and offset, whatever its place in the plan of the moment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from muntin.kernels.monoids import Array
from muntin.model.windows import Window
from muntin.state.pieces import GROUP, START, longs

REVISION = "revision"
COUNTS = pa.schema(
    [
        (GROUP, pa.int32()),
        ("range", pa.int64()),
        ("slide", pa.int64()),
        ("offset", pa.int64()),
        (START, pa.int64()),
        (REVISION, pa.int32()),
    ]
)


@dataclass(frozen=True, slots=True)
class Again:
    """Instances of one window with their revisions, sorted by group and start."""

    window: Window
    group: Array
    start: Array
    revision: Array

    def find(self, group: Array, start: Array) -> tuple[Array, Array]:
        """Where each of some instances stands among these, and whether it is one of them."""
        low, turns = int(self.start.min()), int(np.ptp(self.start)) // self.window.slide + 1
        known = self.group * turns + (self.start - low) // self.window.slide
        place = np.searchsorted(known, group * turns + (start - low) // self.window.slide)
        place = np.minimum(place, len(known) - 1)
        return place, (self.group[place] == group) & (self.start[place] == start)


@dataclass(frozen=True, slots=True)
class Corrected:
    """The fired instances of a base that late pieces fell into, by window; and whose they are."""

    windows: Mapping[Window, Again]
    group: Array

    def between(self, window: Window) -> tuple[int, int]:
        """The begins of the first and the last instance that is emitted again."""
        again = self.windows.get(window)
        return (0, -1) if again is None else (int(again.start.min()), int(again.start.max()))

    def wanted(self, group: Array, start: Array, window: Window) -> Array:
        """Which instances are emitted again."""
        again = self.windows.get(window)
        return np.zeros(len(group), np.bool_) if again is None else again.find(group, start)[1]

    def revisions(self, group: Array, start: Array, window: Window) -> Array:
        """The revision of each of these instances, which are emitted again."""
        again = self.windows[window]
        return np.asarray(again.revision[again.find(group, start)[0]])


def revisions_of(counts: pa.Table, window: Window, group: Array, start: Array) -> Array:
    """How often each of these instances came again, as counted."""
    own = counts.filter(pa.array(_of_window(counts, window)))
    if not own.num_rows:
        return np.zeros(len(group), dtype=np.int64)
    columns = [longs(own, name).astype(np.int64) for name in (GROUP, START, REVISION)]
    order = np.lexsort((columns[1], columns[0]))
    place, there = Again(window, *(column[order] for column in columns)).find(group, start)
    return np.where(there, columns[2][order][place], 0)


def count(counts: pa.Table, again: Again) -> pa.Table:
    """The counts after some instances came again; those that came first are not counted."""
    group, start = longs(counts, GROUP).astype(np.int64), longs(counts, START)
    renewed = _of_window(counts, again.window) & again.find(group, start)[1]
    new = again.revision > 0
    shape = (again.window.range, again.window.slide, again.window.offset)
    columns = [
        again.group[new],
        *(np.full(np.count_nonzero(new), each) for each in shape),
        again.start[new],
        again.revision[new],
    ]
    made = [pa.array(c, field.type) for c, field in zip(columns, COUNTS, strict=True)]
    return pa.concat_tables(
        [counts.filter(pa.array(~renewed)), pa.table(made, schema=COUNTS)]
    ).combine_chunks()


def ends(counts: pa.Table) -> Array:
    """The end of each instance that is counted."""
    return np.asarray(longs(counts, START) + longs(counts, "range"))


def _of_window(counts: pa.Table, window: Window) -> Array:
    shape = {"range": window.range, "slide": window.slide, "offset": window.offset}
    return np.asarray(
        np.logical_and.reduce([longs(counts, name) == each for name, each in shape.items()])
    )

"""Pieces that came too late, with the windows that they missed: what may be written aside.

A piece that is too late for some windows gives a row for each of them: the key, the slice, the
partials of its late rows, and the begins of the first and the last instance that it missed. So the
last result of a window, merged with all pieces that missed it, is what a batch over all rows gives.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from muntin.kernels.grouping import codes_of
from muntin.kernels.monoids import Array
from muntin.kernels.portions import whole
from muntin.model.windows import Window
from muntin.physical.operators.kernel import Base
from muntin.plan.slicing import Slices
from muntin.state.header import KeptBase
from muntin.state.pieces import GROUP, START, longs, merge
from muntin.state.spec import Spec, last_due

MISSED = "missed"
"""The column of results that lists the instances that late rows missed."""
SLICE_END, FIRST, LAST = "slice_end", "missed_first", "missed_last"
"""Columns of such a row: where its slice ends, and the instances that it missed."""


def find_missed(
    spec: Spec, base: Base, kept: KeptBase, pieces: pa.Table, settled: int
) -> Iterator[pa.Table]:
    """Of pieces of a base, those that are too late for each of its windows."""
    if not pieces.num_rows:
        return
    keys = [whole(pieces, name) for name in spec.keys]
    code = codes_of(keys, pieces.num_rows)
    partials = pieces.select([START, *(p.name for p in spec.partials)])
    own = partials.add_column(0, GROUP, pa.array(code, pa.int64()))
    merged = merge([own], spec.partials, spec.wraps)
    codes, place = np.unique(code, return_index=True)
    whose = pa.array(place[np.searchsorted(codes, longs(merged, GROUP))])
    start = longs(merged, START)
    for node, window in base.windows.items():
        first, last = _instances(window, kept.since(window), start, settled)
        late = pa.array(first <= last)
        named = {name: key.take(whose) for name, key in zip(spec.keys, keys, strict=True)}
        named["node"] = pa.array(np.full(len(start), node, dtype=np.int32))
        named[START] = pa.array(start)
        named |= {p.name: whole(merged, p.name) for p in spec.partials}
        named[SLICE_END] = pa.array(_ends(base.slices, start))
        table = pa.table(named | {FIRST: pa.array(first), LAST: pa.array(last)}).filter(late)
        if table.num_rows:
            yield table


def _instances(
    window: Window, since: int | None, start: Array, settled: int
) -> tuple[Array, Array]:
    """The begins of the first and the last settled instance that holds each slice."""
    newest = start - (start - window.offset) % window.slide
    oldest = newest - (window.range - 1 - (start - newest)) // window.slide * window.slide
    if since is not None:
        oldest = np.maximum(oldest, since)
    return oldest, np.minimum(newest, last_due(window, settled))


def _ends(slices: Slices, start: Array) -> Array:
    """Where the slices that begin at these instants end."""
    left = [cut.step - (start - cut.phase) % cut.step for cut in slices.cuts]
    return np.asarray(start + np.minimum.reduce(left))

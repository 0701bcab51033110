"""Pieces that came too late, with the windows that they missed: what may be written aside.

A piece that is too late for some windows gives a row for each of them: the key, the slice, the
partials of its late rows, and the begins of the first and the last instance that it missed. So the
last result of a window, merged with all pieces that missed it, is what a batch over all rows gives.

Where the rows of a batch come beside its pieces, each as a text, a late piece also lists those that
it was made of. Of a slice all rows are late or none is, since windows end where slices do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from muntin.kernels.grouping import codes_of
from muntin.kernels.monoids import Array
from muntin.kernels.portions import whole
from muntin.model.windows import Window
from muntin.physical.operators.kernel import Base
from muntin.plan.slicing import Slices
from muntin.state.header import KeptBase
from muntin.state.pieces import GROUP, START, longs, merge, starts
from muntin.state.spec import Spec, first_end, last_due

MISSED = "missed"
"""The column of results that lists the instances that late rows missed."""
SLICE_END, FIRST, LAST = "slice_end", "missed_first", "missed_last"
"""Columns of such a row: where its slice ends, and the instances that it missed."""
RECORDS, RECORD, TIME = "records", "r", "t"
"""The column that lists rows themselves; and of rows beside pieces, the text and the time."""
TEXTS = pa.list_(pa.string())


def find_missed(
    spec: Spec,
    base: Base,
    kept: KeptBase,
    pieces: pa.Table,
    settled: int,
    records: Sequence[pa.Table] = (),
) -> Iterator[pa.Table]:
    """Of late pieces of a base, those that are too late for each of its windows.

    `records` are the rows of the batch, late ones and others, if they come beside the pieces.
    """
    if not pieces.num_rows:
        return
    late = [_late_records(base, each, settled) for each in records]
    both = (pieces, *late)
    keys = [pa.concat_arrays([whole(each, name) for each in both]) for name in spec.keys]
    codes = codes_of(keys, sum(each.num_rows for each in both))
    code, own_codes = np.split(codes, [pieces.num_rows])
    partials = pieces.select([START, *(p.name for p in spec.partials)])
    own = partials.add_column(0, GROUP, pa.array(code, pa.int64()))
    merged = merge([own], spec.partials, spec.wraps)
    first_of, place = np.unique(code, return_index=True)
    whose = pa.array(place[np.searchsorted(first_of, longs(merged, GROUP))])
    start = longs(merged, START)
    made_of = {RECORDS: _list_records(merged, late, own_codes)} if spec.keeps_records else {}
    for node, window in base.windows.items():
        first, last = _instances(window, kept.since(window), start, settled)
        named = {name: key.take(whose) for name, key in zip(spec.keys, keys, strict=True)}
        named["node"] = pa.array(np.full(len(start), node, dtype=np.int32))
        named[START] = pa.array(start)
        named |= {p.name: whole(merged, p.name) for p in spec.partials}
        named[SLICE_END] = pa.array(_ends(base.slices, start))
        named |= {FIRST: pa.array(first), LAST: pa.array(last), **made_of}
        table = pa.table(named).filter(pa.array(first <= last))
        if table.num_rows:
            yield table


def _late_records(base: Base, records: pa.Table, settled: int) -> pa.Table:
    """The rows that are too late for some window of a base, with the begins of their slices."""
    start = starts(base.slices, longs(records, TIME))
    late = first_end(base.windows.values(), start) <= settled
    return records.append_column(START, pa.array(start)).filter(pa.array(late))


def _list_records(merged: pa.Table, late: Sequence[pa.Table], codes: Array) -> pa.Array:
    """The late rows that each merged piece was made of, in the order of time."""
    texts = [whole(each, RECORD) for each in late]
    if not len(codes):
        return pa.array([[]] * merged.num_rows, TEXTS)
    start, time = (np.concatenate([longs(each, name) for each in late]) for name in (START, TIME))
    both = (longs(merged, GROUP), codes), (longs(merged, START), start)
    pair = codes_of([pa.array(np.concatenate(each)) for each in both], merged.num_rows + len(codes))
    own, given = np.split(pair, [merged.num_rows])
    order = np.argsort(own)
    whose = order[np.searchsorted(own, given, sorter=order)]
    count = np.bincount(whose, minlength=merged.num_rows)
    ends = pa.array(np.concatenate(([0], np.cumsum(count))), pa.int32())
    values = pa.concat_arrays(texts).take(pa.array(np.lexsort((time, whose))))
    return pa.ListArray.from_arrays(ends, values)


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

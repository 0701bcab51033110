"""Pieces of a bucket: (group, start) and partial columns, sorted, each pair once.

New pieces are merged into kept ones by the kernels of batch, older first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from muntin.aggregates.columns import PartialColumn
from muntin.kernels.columns import encode
from muntin.kernels.encoding import Encoded
from muntin.kernels.grouping import Grouping
from muntin.kernels.monoids import Array
from muntin.kernels.portions import whole
from muntin.plan.slicing import Slices

GROUP, START = "group", "start"


def longs(table: pa.Table, name: str) -> Array:
    """A column of integers as an array."""
    return np.asarray(whole(table, name).to_numpy(zero_copy_only=False))


def encode_pieces(table: pa.Table, partials: Sequence[PartialColumn], wraps: bool) -> list[Encoded]:
    """Every partial column as arrays with a monoid."""
    return [
        encode(p.merger, [whole(table, name) for name in (p.name, *p.beside)], wraps, p.code)
        for p in partials
    ]


def starts(slices: Slices, instant: Array) -> Array:
    """Where the slice of each instant begins.

    >>> from muntin.plan.slicing import pairs
    >>> from muntin.model.windows import Window
    >>> starts(pairs(Window(10, 4)), np.array([5, 6, 11])).tolist()
    [4, 6, 10]
    """
    begun = [instant - (instant - cut.phase) % cut.step for cut in slices.cuts]
    return np.asarray(np.maximum.reduce(begun))


def by_time(group: Array, start: Array) -> Array:
    """The order by group and start; quick where long stretches are in order already."""
    low, high = int(start.min(initial=0)), int(start.max(initial=0))
    if (int(group.max(initial=0)) + 1) * (high - low + 1) < 2**62:
        code = group.astype(np.int64) * (high - low + 1) + (start - low)
        return np.asarray(np.argsort(code, kind="stable"))
    return np.lexsort((start, group))


def by_group(group: Array) -> Array:
    """The order by group, in which equal ones stay as they are, in linear time.

    NumPy sorts 16 bits by their digits: the lower ones first, then the others.
    """
    order = np.argsort((group & 0xFFFF).astype(np.uint16), kind="stable")
    if int(group.max(initial=0)) < 2**16:
        return np.asarray(order)
    return np.asarray(order[np.argsort((group[order] >> 16).astype(np.uint16), kind="stable")])


def merge(tables: Sequence[pa.Table], partials: Sequence[PartialColumn], wraps: bool) -> pa.Table:
    """One table of all pieces, those of the same group and start merged, older tables first."""
    table = pa.concat_tables(tables).combine_chunks() if len(tables) > 1 else tables[0]
    group, start = longs(table, GROUP), longs(table, START)
    order = by_time(group, start)
    grouping = Grouping.sorted(order, [group[order], start[order]])
    if len(grouping.first) == len(group):
        return table.take(pa.array(order)) if np.any(order[1:] < order[:-1]) else table
    rows = grouping.rows
    columns = {
        GROUP: pa.array(group[rows], table.schema.field(GROUP).type),
        START: pa.array(start[rows]),
    }
    for partial in partials:
        columns[partial.name] = _merge_column(table, partial, grouping, wraps)
    return pa.table(columns)


def _merge_column(
    table: pa.Table, partial: PartialColumn, grouping: Grouping, wraps: bool
) -> pa.Array:
    [column] = encode_pieces(table, [partial], wraps)
    return column.decode(grouping.merged(column.arrays, column.monoid))

"""Rows and events in the order that trailing windows need, and results back in that of the rows.

Keys become numbers, the same in both tables; group and time order each of them. Where the rows are
the events, that is done once for both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa

from muntin.errors import ColumnError
from muntin.kernels.frame_portions import threads
from muntin.kernels.frames import Line
from muntin.kernels.grouping import codes_of
from muntin.kernels.monoids import Array
from muntin.kernels.ordering import order_codes
from muntin.kernels.portions import whole

_FEW = 2**16
"""Numbers below it NumPy sorts in linear time."""


def put_back(found: Mapping[str, pa.ChunkedArray], turn: Array, count: int) -> pa.Table:
    """What was found for rows at these places, in the order of all rows; null for the others."""
    back = np.zeros(count, dtype=np.int64)
    back[turn] = np.arange(len(turn))
    if len(turn) == count:
        index = pa.array(back)
    else:
        missing = np.ones(count, dtype=np.bool_)
        missing[turn] = False
        index = pa.array(back, mask=missing)
    return pa.table(dict(zip(found, take_all(found.values(), index), strict=True)))


def take_all(columns: Iterable[pa.Array | pa.ChunkedArray], index: pa.Array) -> list[pa.Array]:
    """The values of each column at these places; several columns at a time."""

    def take(column: pa.Array | pa.ChunkedArray) -> pa.Array:
        own = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        return own.take(index)

    with ThreadPoolExecutor(threads()) as pool:
        return list(pool.map(take, columns))


def group_keys(rows: pa.Table, events: pa.Table, keys: int) -> tuple[Array, Array]:
    """A number for each combination of keys, the same in both tables."""
    together = []
    for i in range(keys):
        first, second = whole(rows, f"k{i}"), whole(events, f"k{i}")
        if pa.types.is_null(first.type):  # as in a DataFrame without rows
            first = first.cast(second.type)
        if rows is not events:
            first = pa.concat_arrays([first, _like(second, first, i)])
        if pa.types.is_floating(first.type):
            first = pa.array(first.to_numpy(zero_copy_only=False) + 0.0, mask=_nulls(first))
        together.append(first)
    count = rows.num_rows if rows is events else rows.num_rows + events.num_rows
    codes = codes_of(together, count)
    if codes.max(initial=0) >= _FEW:
        codes = np.unique(codes, return_inverse=True)[1]
    return codes[: rows.num_rows], codes if rows is events else codes[rows.num_rows :]


def _like(second: pa.Array, first: pa.Array, place: int) -> pa.Array:
    """A key of the events in the type that it has in the rows."""
    try:
        return second if second.type == first.type else second.cast(first.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise ColumnError(
            f"key {place + 1} is {first.type} in the rows and {second.type} in the events: cast "
            "one of them"
        ) from None


def _nulls(column: pa.Array) -> Array:
    return np.asarray(column.is_null().to_numpy(zero_copy_only=False))


def sort_lines(group: Array, time: Array, ties: Sequence[Array]) -> tuple[Line, pa.Array]:
    """In the order of group and time, and where each stood."""
    order = np.lexsort((*reversed(ties), time)) if ties else np.argsort(time, kind="stable")
    few = group.max(initial=0) < _FEW
    own = group[order].astype(np.uint16) if few else group[order]  # which NumPy sorts faster
    order = order[np.argsort(own, kind="stable")]
    return Line(group[order].astype(np.int64), time[order]), pa.array(order)


def rank_values(table: pa.Table, name: str) -> Array:
    """Numbers in the order of the values, nulls first."""
    column = whole(table, name)
    codes = np.unique(order_codes(column), return_inverse=True)[1].reshape(-1)
    return np.where(_nulls(column), -1, codes)


def instants(table: pa.Table) -> Array:
    return np.asarray(whole(table, "t").fill_null(0).to_numpy(zero_copy_only=False))

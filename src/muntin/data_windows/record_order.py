"""Records of many keys in order: by key, time, and among equal times by columns, as Spark sorts.

Most records of a key have a time of their own: only those that share it are compared further. Nulls
come first, NaN last, and -0.0 is 0.0; structs are compared field by field.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from muntin.kernels.monoids import Array
from muntin.kernels.ordering import order_codes
from muntin.state.pieces import GROUP, by_time, longs
from muntin.state.store import whole

TIME = "t"


def in_order(table: pa.Table, columns: Sequence[str]) -> pa.Table:
    """The records sorted.

    >>> table = pa.table({"group": [1, 0, 0], "t": [5, 7, 7], "o0": [None, "b", None]})
    >>> in_order(table, ["o0"]).to_pydict()
    {'group': [0, 0, 1], 't': [7, 7, 5], 'o0': [None, 'b', None]}
    """
    group, time = longs(table, GROUP), longs(table, TIME)
    order = by_time(group, time)
    group, time = group[order], time[order]
    same = (group[1:] == group[:-1]) & (time[1:] == time[:-1])
    if columns and same.any():
        tied = np.flatnonzero(np.append(same, False) | np.insert(same, 0, False))
        number = np.cumsum(~np.insert(same, 0, False))[tied]
        order[tied] = order[tied][_compared(table.take(pa.array(order[tied])), columns, number)]
    return table.take(pa.array(order)) if np.any(order[1:] < order[:-1]) else table


def _compared(table: pa.Table, columns: Sequence[str], number: Array) -> Array:
    """The order by number and columns."""
    keys = [key for name in columns for key in _keys(whole(table, name))]
    return np.lexsort((*reversed(keys), number))


def _keys(column: pa.Array) -> Iterator[Array]:
    valid = np.asarray(column.is_valid().to_numpy(zero_copy_only=False))
    yield valid
    if pa.types.is_struct(column.type):
        for part in column.flatten():
            yield from _keys(part)
    elif not pa.types.is_null(column.type):
        yield np.where(valid, order_codes(column), 0)

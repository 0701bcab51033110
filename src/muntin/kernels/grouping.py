"""Group rows and merge what falls together: the same encodings as the sliding kernels, unsorted in.

time   one stable sort of group codes and one pass a column      space  the rows at hand

Rows are numbered by group, brought into the order of their groups, and merged: by `reduceat` where
each array has a ufunc, else by halving: neighbours of a group are combined in pairs, older first,
until one is left. How values merge is Spark's, by `muntin.kernels.columns`: NaN is the largest, and
overflow an error, or a wrap with ANSI mode off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from muntin.kernels.monoids import Array, Arrays, Monoid, Ufuncs

if TYPE_CHECKING:
    import pyarrow as pa  # not needed to plan

_WORD = 2**62


def codes_of(columns: Sequence[pa.Array], length: int) -> Array:
    """A number for each row, the same where all columns are; null is a value.

    >>> import pyarrow as pa
    >>> codes_of([pa.array(["a", None, "a"]), pa.array([1, 1, 1])], 3).tolist()
    [0, 1, 0]
    """
    codes, distinct = np.zeros(length, dtype=np.int64), 1
    for column in columns:
        if column.type.num_fields:  # which Arrow does not compare: by their texts
            column = _texts(column)
        encoded = column.dictionary_encode(null_encoding="encode")
        size = max(len(encoded.dictionary), 1)
        if distinct * size >= _WORD:
            seen, codes = np.unique(codes, return_inverse=True)
            distinct = len(seen)
        codes = codes * size + encoded.indices.to_numpy(zero_copy_only=False)
        distinct *= size
    return codes


def changes_of(column: pa.Array) -> Array:
    """Where a value differs from the one before it; null is a value, and NaN is one.

    >>> import pyarrow as pa
    >>> changes_of(pa.array([1, 1, None, None, 2])).tolist()
    [False, True, False, True]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(column.type) or pa.types.is_null(column.type) or column.type.num_fields:
        codes = codes_of([column], len(column))
        return np.asarray(codes[1:] != codes[:-1])
    older, newer = column.slice(0, max(len(column) - 1, 0)), column.slice(1)
    changed = pc.not_equal(older, newer)
    if column.null_count:
        changed = pc.coalesce(changed, pc.xor(older.is_null(), newer.is_null()))
    return np.asarray(changed.to_numpy(zero_copy_only=False))


def _texts(column: pa.Array) -> pa.Array:
    import pyarrow as pa

    return pa.array([repr(value) for value in column.to_pylist()])


@dataclass(frozen=True, slots=True)
class Grouping:
    """Rows in the order of their groups, and where each group begins."""

    order: Array
    first: Array

    @staticmethod
    def of(codes: Array) -> Grouping:
        """Group by codes; the groups come in the order of the codes.

        >>> grouping = Grouping.of(np.array([7, 3, 7]))
        >>> grouping.rows.tolist(), grouping.merged((np.array([1, 2, 4]),), Ufuncs((np.add,), (0,)))
        ([1, 0], (array([2, 5]),))
        """
        if len(codes) and codes.min() >= 0 and codes.max() < 2**16:
            codes = codes.astype(np.uint16)  # these NumPy sorts in linear time
        order = np.argsort(codes, kind="stable")
        return Grouping.sorted(order, [codes[order]])

    @staticmethod
    def sorted(order: Array, columns: Sequence[Array]) -> Grouping:
        """Groups of an order that brings equal rows together, given the ordered columns."""
        changes = np.zeros(max(len(order) - 1, 0), dtype=np.bool_)
        for column in columns:
            changes |= column[1:] != column[:-1]
        begin = [0] if len(order) else []
        return Grouping(order, np.concatenate((begin, np.flatnonzero(changes) + 1)).astype(int))

    @property
    def rows(self) -> Array:
        """One row of each group: the oldest."""
        return np.asarray(self.order[self.first])

    def merged(self, arrays: Arrays, monoid: Monoid) -> Arrays:
        """The partial of each group."""
        ordered = tuple(a[self.order] for a in arrays)
        if not len(self.first):
            return ordered
        if isinstance(monoid, Ufuncs):
            with np.errstate(invalid="ignore", over="ignore"):
                return tuple(
                    f.reduceat(a, self.first) for f, a in zip(monoid.ufuncs, ordered, strict=True)
                )
        return _halved(ordered, self.first, monoid)


def _halved(arrays: Arrays, first: Array, monoid: Monoid) -> Arrays:
    """Combine neighbours in pairs until every group is one row."""
    length = np.diff(first, append=len(arrays[0]))
    while length.max(initial=1) > 1:
        place = np.arange(len(arrays[0])) - np.repeat(first, length)
        older = np.flatnonzero(place % 2 == 0)
        paired = place[older] + 1 < np.repeat(length, (length + 1) // 2)
        with_newer = older[paired]
        both = monoid.combine(
            tuple(a[with_newer] for a in arrays), tuple(a[with_newer + 1] for a in arrays)
        )
        kept = tuple(a[older] for a in arrays)
        for target, value in zip(kept, both, strict=True):
            target[paired] = value
        arrays, length = kept, (length + 1) // 2
        first = np.concatenate(([0], np.cumsum(length)[:-1]))
    return arrays

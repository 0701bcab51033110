"""Sets of distinct values in Python: lists of values in, lists of distinct ones out.

Values are numbered, a set is the numbers of its values, and a union is one of Python's. As in
Spark, NaN is one value, and so are 0.0 and -0.0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.kernels.boxes import box_all, boxed, unbox
from muntin.kernels.encoding import Encoded
from muntin.kernels.monoids import Array, Arrays


def lift_values(values: pa.Array) -> pa.Array:
    """The set of each value: a list of it, or of nothing where it is null.

    >>> lift_values(pa.array(["a", None])).to_pylist()
    [['a'], []]
    """
    known = values.is_valid().to_numpy(zero_copy_only=False)
    return _lists(np.append(0, np.cumsum(known)), values.drop_null())


def _lists(offsets: Array, values: pa.Array) -> pa.Array:
    kind = pa.list_(pa.field("element", values.type, nullable=False))
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values, type=kind)


def encode_sets(column: pa.Array) -> Encoded:
    """Sets as boxes, and back to lists of values in the order in which they were first met.

    >>> lists = pa.array([[3, 1], [], [1, 2]], pa.list_(pa.int64()))
    >>> sets = encode_sets(lists)
    >>> sets.decode(sets.monoid.reduce(tuple(a[None] for a in sets.arrays))).to_pylist()
    [[3, 1, 2]]
    """
    known = _one_zero(column.flatten()).dictionary_encode()
    codes = known.indices.to_numpy(zero_copy_only=False).tolist()
    length = pc.list_value_length(column).fill_null(0).to_numpy(zero_copy_only=False)
    singles = [frozenset((code,)) for code in range(len(known.dictionary))]
    stops = np.cumsum(length)
    bounds = zip((stops - length).tolist(), stops.tolist(), strict=True)
    sets = [
        singles[codes[first]] if stop - first == 1 else frozenset(codes[first:stop])
        for first, stop in bounds
    ]
    nothing: frozenset[int] = frozenset()
    return Encoded((box_all(sets),), boxed(_union, nothing), _decoder(known.dictionary))


def _union(older: frozenset[int], newer: frozenset[int]) -> frozenset[int]:
    return older | newer


def _one_zero(values: pa.Array) -> pa.Array:
    """Floats with one zero and one NaN."""
    if not pa.types.is_floating(values.type):
        return values
    plain = values.to_numpy(zero_copy_only=False) + values.type.to_pandas_dtype()(0)
    plain[np.isnan(plain)] = np.nan
    return pa.array(plain, values.type)


def _decoder(values: pa.Array) -> Callable[[Arrays], pa.Array]:
    def decode(merged: Arrays) -> pa.Array:
        sets: list[Any] = [sorted(each) for each in unbox(merged[0])]
        offsets = np.cumsum([0, *map(len, sets)])
        codes = np.array([code for each in sets for code in each], dtype=np.int64)
        return _lists(offsets, values.take(pa.array(codes)))

    return decode

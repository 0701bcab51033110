"""Arrow columns as integers that sort the same way: the common ground of min, max and min_by.

Floats sort by their bits, with NaN above infinity and -0.0 equal to 0.0, as Spark has it; whatever
has no integer form (text, binary, decimals) by its rank among the distinct values at hand.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.kernels.monoids import Array


def integers(column: pa.Array) -> Array | None:
    """The column's own integers (ints, booleans, dates, timestamps), nulls as 0; None if none."""
    kind = column.type
    if pa.types.is_boolean(kind):
        column = column.fill_null(False)
    elif pa.types.is_temporal(kind) and kind.bit_width in (32, 64):
        column = column.view(pa.int64() if kind.bit_width == 64 else pa.int32())
    elif not pa.types.is_integer(kind):
        return None
    filled: Array = column.fill_null(pa.scalar(0).cast(column.type)).to_numpy(zero_copy_only=False)
    return filled.astype(np.int64)


def order_codes(column: pa.Array) -> Array:
    """Integers in the order of the values; the code of a null is arbitrary.

    >>> order_codes(pa.array(["pear", "apple", None, "pear"])).tolist()[:2]
    [1, 0]
    >>> nan, low, high = order_codes(pa.array([float("nan"), -1.0, float("inf")]))
    >>> bool(low < high < nan)
    True
    """
    own = integers(column)
    if own is not None:
        return own
    if pa.types.is_floating(column.type):
        return _float_codes(column.fill_null(0.0).to_numpy(zero_copy_only=False))
    codes, _ = ranks(column)
    return codes


def _float_codes(values: Array) -> Array:
    plain = values.astype(np.float64) + 0.0
    plain[np.isnan(plain)] = np.nan
    bits = plain.view(np.int64)
    return np.where(bits < 0, bits ^ np.int64(0x7FFF_FFFF_FFFF_FFFF), bits)


def ranks(column: pa.Array) -> tuple[Array, pa.Array]:
    """The rank of each value among the distinct ones, and these in order."""
    encoded = column.dictionary_encode()
    order = pc.sort_indices(encoded.dictionary)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order.to_numpy()] = np.arange(len(order))
    positions = encoded.indices.fill_null(0).to_numpy(zero_copy_only=False)
    codes = rank[positions] if len(order) else np.zeros(len(column), dtype=np.int64)
    return codes, encoded.dictionary.take(order)

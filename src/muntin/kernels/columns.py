"""Partial columns as arrays with a monoid, and back: one encoding for each way of merging.

Null is the partial of no value: it becomes the identity, and a second array tells which results
have any value at all. Nothing here loops over rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from muntin.aggregates.algebra import Function
from muntin.kernels.central import comoments, four_moments, moments
from muntin.kernels.custom import custom
from muntin.kernels.encoding import Encoded, valid_of
from muntin.kernels.limbs import bigint_limbs, decimal_limbs, limbs, lost
from muntin.kernels.monoids import Array, Arrays, Scanned, Ufuncs
from muntin.kernels.ordering import integers, order_codes, ranks

_SMALLEST, _LARGEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


def encode(
    merger: str, columns: list[pa.Array], wraps: bool = False, code: Function | None = None
) -> Encoded:
    """A partial column, followed by those beside it, for one way of merging.

    Sums of integers that exceed 64 bits are an error, or wrap around where `wraps` says so, as
    Spark does with ANSI mode off; those of decimals that exceed 38 digits then are null.
    """
    if wraps and merger == "sum" and pa.types.is_integer(columns[0].type):
        return _nullable(columns[0], _plain_integers(columns[0]), np.add, 0)
    if wraps and merger == "sum" and pa.types.is_decimal(columns[0].type):
        return limbs(columns[0], decimal_limbs(columns[0]), nulls=True)
    if code is not None:
        return custom(columns[0], code)
    return ENCODERS[merger](*columns)


def _plain_integers(column: pa.Array) -> Array:
    own = integers(column)
    assert own is not None, f"{column.type} is an integer type"
    return own


def _nullable(column: pa.Array, values: Array, ufunc: np.ufunc, nothing: Any) -> Encoded:
    """One array of values, and one of whether there is any where some are null."""
    if column.null_count == 0:

        def decode_all(arrays: Arrays) -> pa.Array:
            return pa.array(arrays[0]).cast(column.type)

        return Encoded((values,), Ufuncs((ufunc,), (nothing,)), decode_all)
    valid = valid_of(column)
    filled = np.where(valid, values, np.asarray(nothing, dtype=values.dtype))

    def decode(arrays: Arrays) -> pa.Array:
        merged, some = arrays
        return pa.array(merged, mask=~some).cast(column.type)

    return Encoded((filled, valid), Ufuncs((ufunc, np.logical_or), (nothing, False)), decode)


def _sum(column: pa.Array) -> Encoded:
    kind = column.type
    if pa.types.is_decimal(kind):
        return limbs(column, decimal_limbs(column))
    if pa.types.is_floating(kind):
        values = column.fill_null(0.0).to_numpy(zero_copy_only=False)
        return _nullable(column, values, np.add, 0.0)
    values = _plain_integers(column)
    bound = max(-int(values.min(initial=0)), int(values.max(initial=0))) * max(len(values), 1)
    if bound > _LARGEST:
        return limbs(column, bigint_limbs(values))
    return _nullable(column, values, np.add, 0)


def _extreme(column: pa.Array, smallest: bool) -> Encoded:
    if pa.types.is_floating(column.type):
        values = column.fill_null(0.0).to_numpy(zero_copy_only=False)
        # NaN is the largest: maximum keeps it, fmin passes it over.
        return _nullable(
            column, values, *((np.fmin, np.nan) if smallest else (np.maximum, -np.inf))
        )
    ufunc, nothing = (np.minimum, _LARGEST) if smallest else (np.maximum, _SMALLEST)
    own = integers(column)
    if own is not None:
        return _decoding(_nullable(column, own, ufunc, nothing), _retyped(column.type))
    codes, sorted_values = ranks(column)
    return _decoding(_nullable(column, codes, ufunc, nothing), sorted_values.take)


def _decoding(encoded: Encoded, back: Callable[[pa.Array], pa.Array]) -> Encoded:
    """The same merge, with another way back from its integers."""

    def decode(arrays: Arrays) -> pa.Array:
        missing = ~arrays[1] if len(arrays) > 1 else None
        merged = arrays[0] if missing is None else np.where(missing, 0, arrays[0])
        return back(pa.array(merged, mask=missing))

    return Encoded(encoded.arrays, encoded.monoid, decode)


def _retyped(kind: pa.DataType) -> Callable[[pa.Array], pa.Array]:
    """From 64-bit integers back to smaller ones, booleans, dates or timestamps."""

    def back(merged: pa.Array) -> pa.Array:
        if pa.types.is_temporal(kind):
            return merged.cast(pa.int64() if kind.bit_width == 64 else pa.int32()).view(kind)
        return merged.cast(kind)

    return back


def _extreme_by(value: pa.Array, order: pa.Array, smallest: bool) -> Encoded:
    """(order, row, any): the row whose order is best; among ties the older one."""
    codes, valid = order_codes(order), valid_of(order)

    def combine(older: Arrays, newer: Arrays) -> Arrays:
        better = newer[0] < older[0] if smallest else newer[0] > older[0]
        take = newer[2] & (better | ~older[2])
        return (
            np.where(take, newer[0], older[0]),
            np.where(take, newer[1], older[1]),
            older[2] | newer[2],
        )

    def decode(arrays: Arrays) -> pa.Array:
        _, row, some = arrays
        return value.take(pa.array(np.where(some, row, 0), mask=~some))

    monoid = Scanned(combine, (0, 0, False))
    return Encoded((codes, np.arange(len(codes)), valid), monoid, decode)


def _logical(column: pa.Array, ufunc: np.ufunc, nothing: bool) -> Encoded:
    values = column.fill_null(nothing).to_numpy(zero_copy_only=False)
    return _nullable(column, values, ufunc, nothing)


def _bitwise(column: pa.Array, ufunc: np.ufunc, nothing: int) -> Encoded:
    values = column.fill_null(0).to_numpy(zero_copy_only=False)
    return _nullable(column, values, ufunc, nothing)


def _product(column: pa.Array) -> Encoded:
    values = column.fill_null(1.0).to_numpy(zero_copy_only=False)
    return _nullable(column, values, np.multiply, 1.0)


def _central(column: pa.Array, combine: Callable[[Arrays, Arrays], Arrays]) -> Encoded:
    """A struct of doubles, n first, of which an n of 0 is nothing."""
    arrays = tuple(f.to_numpy(zero_copy_only=False) for f in column.flatten())

    def decode(merged: Arrays) -> pa.Array:
        return pa.StructArray.from_arrays([pa.array(a) for a in merged], fields=list(column.type))

    return Encoded(arrays, Scanned(combine, (0.0,) * len(arrays)), decode)


ENCODERS: dict[str, Callable[..., Encoded]] = {
    "sum": _sum,
    "lost": lost,
    "min": lambda column: _extreme(column, smallest=True),
    "max": lambda column: _extreme(column, smallest=False),
    "min_by": lambda value, order: _extreme_by(value, order, smallest=True),
    "max_by": lambda value, order: _extreme_by(value, order, smallest=False),
    "bool_and": lambda column: _logical(column, np.logical_and, True),
    "bool_or": lambda column: _logical(column, np.logical_or, False),
    "bit_and": lambda column: _bitwise(column, np.bitwise_and, -1),
    "bit_or": lambda column: _bitwise(column, np.bitwise_or, 0),
    "bit_xor": lambda column: _bitwise(column, np.bitwise_xor, 0),
    "product": lambda column: _product(column),
    "moments": lambda column: _central(column, moments),
    "four_moments": lambda column: _central(column, four_moments),
    "comoments": lambda column: _central(column, comoments),
}
"""How each merger encodes its columns; what is not here is merged by the engine itself."""

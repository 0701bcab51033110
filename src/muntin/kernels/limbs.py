"""Sums that may exceed 64 bits: 32-bit limbs are added in 64-bit arrays and carried at the end.

A decimal is four limbs, a bigint two, the lowest first; the highest is signed. What exceeds its
type is an error, or, for decimals where ANSI mode is off, null: then `lost` keeps apart a sum that
was too large from one that had no value.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from muntin.kernels.encoding import Encoded, valid_of
from muntin.kernels.monoids import Array, Arrays, Ufuncs


def decimal_limbs(column: pa.Array) -> list[Array]:
    """128-bit two's complement as four limbs."""
    offset = column.offset * 4
    words = np.frombuffer(column.buffers()[1], dtype=np.uint32)[offset : offset + len(column) * 4]
    parts = words.reshape(-1, 4).astype(np.int64)
    top = parts[:, 3]
    return [*parts[:, :3].T, np.where(top >= 2**31, top - 2**32, top)]


def bigint_limbs(values: Array) -> list[Array]:
    """64-bit integers as two limbs."""
    return [values & 0xFFFF_FFFF, values >> 32]


def limbs(column: pa.Array, parts: list[Array], nulls: bool = False) -> Encoded:
    """The sum of a column that was taken apart; with `nulls` too large a decimal is null."""
    valid = valid_of(column)
    arrays = (*(np.where(valid, part, 0) for part in parts), valid)

    def decode(merged: Arrays) -> pa.Array:
        return _decoded(_carried(merged[:-1]), ~merged[-1], column.type, nulls)

    return Encoded(arrays, _adding(len(parts)), decode)


def lost(flags: pa.Array, totals: pa.Array) -> Encoded:
    """Whether a sum of decimals was lost: that of a piece, or that of the pieces together."""
    added = limbs(totals, decimal_limbs(totals)).arrays[:-1]
    known = flags.fill_null(False).to_numpy(zero_copy_only=False)

    def decode(merged: Arrays) -> pa.Array:
        return pa.array(merged[-1] | _too_wide(_carried(merged[:-1])))

    return Encoded((*added, known), _adding(len(added)), decode)


def _adding(count: int) -> Ufuncs:
    """Limbs are added; after them stands what is true of any."""
    return Ufuncs((*(np.add,) * count, np.logical_or), (*(0,) * count, False))


def _carried(parts: Arrays) -> list[Array]:
    carried = list(parts)
    for i in range(len(carried) - 1):
        carried[i + 1] = carried[i + 1] + (carried[i] >> 32)
        carried[i] = carried[i] & 0xFFFF_FFFF
    return carried


def _decoded(parts: list[Array], missing: Array, kind: pa.DataType, nulls: bool) -> pa.Array:
    if len(parts) == 2:
        low, high = parts
        if np.any((high >= 2**31) | (high < -(2**31))):
            raise OverflowError(
                "[ARITHMETIC_OVERFLOW] a sum of integers exceeds bigint: cast the column to "
                "decimal(38, 0), or turn ANSI mode off to let it wrap around"
            )
        return pa.array((high << 32) + low, mask=missing).cast(kind)
    wide = _too_wide(parts)
    if not nulls and wide.any():
        raise OverflowError(
            "[NUMERIC_VALUE_OUT_OF_RANGE] a sum of decimals exceeds 38 digits: cast the column to "
            "a smaller decimal, or turn ANSI mode off to get null"
        )
    words = np.stack([part.astype(np.uint32) for part in parts], axis=1)
    bits = pa.array(~(missing | wide)).buffers()[1]
    return pa.Array.from_buffers(kind, len(missing), [bits, pa.py_buffer(words.tobytes())])


def _too_wide(parts: list[Array]) -> Array:
    """Which decimals exceed 38 digits."""
    wide: Array = np.abs(parts[3]) >= 10**38 >> 96  # few come near: only these are looked at
    for i in np.flatnonzero(wide):
        value = sum(int(part[i]) << 32 * place for place, part in enumerate(parts))
        wide[i] = abs(value) >= 10**38
    return wide

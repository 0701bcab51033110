"""What every encoding of a partial column comes to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from muntin.kernels.monoids import Array, Arrays, Monoid


@dataclass(frozen=True, slots=True)
class Encoded:
    """A partial column as arrays, the monoid that merges it, and the way back.

    `keep` is the way back to partials that are merged again, where `decode` gives no such ones.
    """

    arrays: Arrays
    monoid: Monoid
    decode: Callable[[Arrays], pa.Array]
    keep: Callable[[Arrays], pa.Array] | None = None


def valid_of(column: pa.Array) -> Array:
    """Which values are not null."""
    return np.asarray(column.is_valid().to_numpy(zero_copy_only=False))

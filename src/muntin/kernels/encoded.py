"""What every encoding of a partial column comes to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from muntin.kernels.monoids import Arrays, Monoid


@dataclass(frozen=True, slots=True)
class Encoded:
    """A partial column as arrays, the monoid that merges it, and the way back."""

    arrays: Arrays
    monoid: Monoid
    decode: Callable[[Arrays], pa.Array]

"""A column of bytes that all have one length, from one array."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.kernels.monoids import Array


def fixed_bytes(head: bytes, rows: Array, known: Array) -> pa.Array:
    """A column of bytes: the head, then a row of a matrix of bytes; null where it is not known.

    >>> rows = np.array([[65, 66], [67, 68]], dtype=np.uint8)
    >>> fixed_bytes(b"-", rows, np.array([True, False])).to_pylist()
    [b'-AB', None]
    """
    begins = np.tile(np.frombuffer(head, dtype=np.uint8), (len(rows), 1))
    both = np.hstack((begins, rows))
    fixed = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(both.shape[1]), len(both), [None, pa.py_buffer(both.tobytes())]
    )
    found = fixed.cast(pa.binary())
    return found if known.all() else pc.if_else(pa.array(known), found, pa.scalar(None, found.type))

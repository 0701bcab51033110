"""HyperLogLog in Python: how many distinct values, from sketches that Spark's functions read.

order  none      needs  a 64-bit hash of each value      space  2^lg_k bytes, fewer for few values
error  one standard error of 1.04/√(2^lg_k); some 3/32 of 2^lg_k values are counted exactly

A value is a coupon: the low 26 bits of its hash are its address, and how many zeros lead the rest
is its rank. A sketch of few values is the set of their coupons. One of many holds, for each of the
2^lg_k low addresses, the largest rank (Flajolet et al., 2007). Bytes are those of Apache
DataSketches (list, set and HLL_8), so that `hll_sketch_estimate` reads them; the hash is another,
so they are never merged with sketches that Spark has made.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from muntin.kernels.boxes import box_all, boxed, unbox
from muntin.kernels.byte_columns import fixed_bytes
from muntin.kernels.encoding import Encoded
from muntin.kernels.monoids import Array, Arrays

Sketch = frozenset[int] | Array
"""Coupons, or the largest rank at each address."""

ADDRESS_BITS = 26
_LIST, _SET, _HLL = 0, 1, 2
_EMPTY, _COMPACT, _OUT_OF_ORDER = 4, 8, 16
_SERIAL_VERSION, _FAMILY, _HLL_8 = 1, 7, 2 << 2
_SHORTEST_SET = 5
_MOST_LISTED = 8


@dataclass(frozen=True, slots=True)
class DistinctSketch:
    """Sketches of 2^lg_k addresses.

    >>> sketches = DistinctSketch(12)
    >>> both = sketches.combine(frozenset({7, 9}), frozenset({9}))
    >>> sorted(sketches.read(sketches.write(both)))
    [7, 9]
    """

    lg_k: int

    def combine(self, older: Sketch, newer: Sketch) -> Sketch:
        """The sketch of the values of both."""
        if isinstance(older, frozenset) and isinstance(newer, frozenset):
            both = older | newer
            return both if len(both) <= self.most_coupons else self._ranks(both)
        one, other = (self._ranks(s) if isinstance(s, frozenset) else s for s in (older, newer))
        return np.maximum(one, other)

    @property
    def most_coupons(self) -> int:
        """How many coupons a sketch holds before it holds ranks, as DataSketches has it."""
        return _MOST_LISTED - 1 if self.lg_k < 8 else 3 * 2 ** (self.lg_k - 3) // 4

    def _ranks(self, coupons: frozenset[int]) -> Array:
        ranks = np.zeros(2**self.lg_k, dtype=np.uint8)
        given = np.fromiter(coupons, dtype=np.uint32, count=len(coupons))
        np.maximum.at(ranks, given & (len(ranks) - 1), (given >> ADDRESS_BITS).astype(np.uint8))
        return ranks

    def write(self, sketch: Sketch) -> bytes:
        """The bytes of a sketch."""
        if isinstance(sketch, frozenset):
            return self._write_coupons(sketch)
        inverse = np.ldexp(1.0, -sketch.astype(np.int32))
        high = sketch >= 32
        sums = np.array([0.0, inverse[~high].sum(), inverse[high].sum()], dtype="<f8")
        counts = np.array([np.count_nonzero(sketch == 0), 0], dtype="<i4")
        head = self._head(10, 0, _COMPACT | _OUT_OF_ORDER, 0, _HLL)
        return head + sums.tobytes() + counts.tobytes() + sketch.tobytes()

    def _write_coupons(self, coupons: frozenset[int]) -> bytes:
        count = len(coupons)
        body = np.sort(np.fromiter(coupons, dtype="<u4", count=count)).tobytes()
        if count < _MOST_LISTED:
            return self._head(2, 3, _COMPACT | (0 if count else _EMPTY), count, _LIST) + body
        length = max(_SHORTEST_SET, ((4 * count + 2) // 3 - 1).bit_length())  # three quarters full
        head = self._head(3, length, _COMPACT, 0, _SET)
        return head + np.array([count], dtype="<i4").tobytes() + body

    def _head(self, ints: int, length: int, flags: int, count: int, mode: int) -> bytes:
        numbers = ints, _SERIAL_VERSION, _FAMILY, self.lg_k, length, flags, count, mode | _HLL_8
        return bytes(numbers)

    def read(self, written: bytes) -> Sketch:
        """The sketch of bytes that `write` gave."""
        mode = written[7] & 3
        if mode == _HLL:
            return np.frombuffer(written, dtype=np.uint8, offset=40)
        offset = 8 if mode == _LIST else 12
        return frozenset(np.frombuffer(written, dtype="<u4", offset=offset).tolist())

    def lift(self, hashes: pa.Array) -> pa.Array:
        """The sketch of each value, given its hash; null where there is none."""
        known = hashes.is_valid().to_numpy(zero_copy_only=False)
        coupons = coupons_of(hashes.fill_null(0).to_numpy(zero_copy_only=False))
        head = self._head(2, 3, _COMPACT, 1, _LIST)
        return fixed_bytes(head, coupons.astype("<u4").view(np.uint8).reshape(-1, 4), known)

    def encode(self, column: pa.Array) -> Encoded:
        """Sketches as boxes, each null the empty one."""
        nothing: frozenset[int] = frozenset()
        sketches = [nothing if b is None else self.read(b) for b in column.to_pylist()]
        return Encoded((box_all(sketches),), boxed(self.combine, nothing), partial(_decode, self))


def _decode(sketches: DistinctSketch, merged: Arrays) -> pa.Array:
    return pa.array(map(sketches.write, unbox(merged[0])), pa.binary())


def coupons_of(hashes: Array) -> Array:
    """The coupons of 64-bit hashes.

    >>> [(c >> 26, c & 2**26 - 1) for c in coupons_of(np.array([5, (1 << 61) | 6])).tolist()]
    [(39, 5), (3, 6)]
    """
    given = hashes.astype(np.int64).view(np.uint64)
    rest = (given >> np.uint64(ADDRESS_BITS)).astype(np.float64)  # 38 bits: exact as a float
    rank = 38 - np.frexp(rest)[1] + 1
    address = given & np.uint64(2**ADDRESS_BITS - 1)
    return (rank.astype(np.uint64) << np.uint64(ADDRESS_BITS)) | address

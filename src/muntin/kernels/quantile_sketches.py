"""KLL in Python: about the value at a rank, from sketches that Spark's functions read.

order  none      needs  numbers      space  some 3·k values, however many were seen
error  1.3 % of the rank at k = 200; up to k values all are kept, and it is exact

Up to k values a sketch is these. Beyond, it has levels: a value of level h stands for 2^h. A level
that is too full is sorted, and of every two neighbours one moves up a level (Karnin, Lang and
Liberty, 2016). Which one, the first or the second, must be as good as random: it is decided by a
checksum of the values, so that a step that is repeated gives the same sketch. Bytes are those of
Apache DataSketches, so that `kll_sketch_get_quantile` reads them. NaN is passed over.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from zlib import crc32

import numpy as np
import pyarrow as pa

from muntin.kernels.boxes import box_all, boxed, unbox
from muntin.kernels.byte_columns import fixed_bytes
from muntin.kernels.encoding import Encoded
from muntin.kernels.monoids import Array, Arrays

KINDS = {"bigint": "<i8", "double": "<f8", "float": "<f4"}
"""How values are written, by the name of Spark's function."""

_FAMILY, _NARROWEST = 15, 8
_EMPTY, _SINGLE = 1, 4

Value = int | float


@dataclass(frozen=True, slots=True)
class Levels:
    """A sketch of more than k values: its levels in order, the least and the largest value."""

    levels: tuple[Array, ...]
    least: Value
    largest: Value

    @property
    def count(self) -> int:
        """How many values were seen."""
        return sum(len(level) << height for height, level in enumerate(self.levels))


Sketch = tuple[Value, ...] | Levels
"""The values, while they are few; or levels of them."""


@dataclass(frozen=True, slots=True)
class QuantileSketch:
    """Sketches of values of a kind, whose top level holds up to k of them.

    >>> sketches = QuantileSketch("bigint", 200)
    >>> sketches.read(sketches.write(sketches.combine((3, 1), (2,))))
    (3, 1, 2)
    """

    kind: str
    k: int

    def combine(self, older: Sketch, newer: Sketch) -> Sketch:
        """The sketch of the values of both."""
        if isinstance(older, tuple) and isinstance(newer, tuple):
            both = older + newer
            return both if len(both) <= self.k else self._compress([self._array(both)], both)
        if older == () or newer == ():
            return newer if older == () else older
        sides = [self._levels(older), self._levels(newer)]
        pairs = zip_longest(*sides, fillvalue=self._array(()))
        merged = [np.sort(np.concatenate(both)) for both in pairs]  # who reads them relies on it
        return self._compress(merged, (*_extremes(older), *_extremes(newer)))

    def _array(self, values: tuple[Value, ...]) -> Array:
        return np.array(values, dtype=KINDS[self.kind])

    def _levels(self, sketch: Sketch) -> tuple[Array, ...]:
        return (self._array(sketch),) if isinstance(sketch, tuple) else sketch.levels

    def _compress(self, levels: list[Array], among: tuple[Value, ...]) -> Levels:
        """Levels that fit; the extremes are among these values."""
        while sum(map(len, levels)) > self.capacity(len(levels)):
            high = len(levels)
            full = next(h for h in range(high) if len(levels[h]) > self._room(high - h - 1))
            if full == high - 1:
                levels.append(self._array(()))
            level = np.sort(levels[full])
            odd = len(level) % 2
            first = odd + (crc32(level.tobytes()) & 1)
            levels[full] = level[:odd]
            levels[full + 1] = np.sort(np.concatenate((levels[full + 1], level[first::2])))
        return Levels(tuple(levels), min(among), max(among))

    def _room(self, depth: int) -> int:
        """How many values a level holds that has so many above it: k·(2/3)^depth, rounded."""
        thirds: int = 3**depth
        return max(_NARROWEST, ((self.k << depth + 1) // thirds + 1) // 2)

    def capacity(self, levels: int) -> int:
        """How many values so many levels hold."""
        return sum(map(self._room, range(levels)))

    def write(self, sketch: Sketch) -> bytes:
        """The bytes of a sketch."""
        if isinstance(sketch, tuple) and len(sketch) < 2:
            return self._head(bool(sketch)) + self._array(sketch).tobytes()
        levels = self._levels(sketch)
        kept, count = sum(map(len, levels)), sum(len(v) << h for h, v in enumerate(levels))
        before = np.cumsum([0, *map(len, levels[:-1])]) + self.capacity(len(levels)) - kept
        head = bytes((5, 1, _FAMILY, 0)) + self._k + bytes((_NARROWEST, 0))
        numbers = count.to_bytes(8, "little") + self._k + bytes((len(levels), 0))
        items = np.concatenate((self._array(_extremes(sketch)), *levels))
        return head + numbers + before.astype("<i4").tobytes() + items.tobytes()

    @property
    def _k(self) -> bytes:
        return self.k.to_bytes(2, "little")

    def _head(self, single: bool) -> bytes:
        """What stands before one value, or before none."""
        version, flags = (2, _SINGLE) if single else (1, _EMPTY)
        return bytes((2, version, _FAMILY, flags)) + self._k + bytes((_NARROWEST, 0))

    def read(self, written: bytes) -> Sketch:
        """The sketch of bytes that `write` gave."""
        kind = np.dtype(KINDS[self.kind])
        if written[0] == 2:
            return tuple(np.frombuffer(written, kind, offset=8).tolist())
        high = written[18]
        before = np.frombuffer(written, "<i4", high, offset=20)
        items = np.frombuffer(written, kind, offset=20 + 4 * high)
        least, largest = items[:2].tolist()
        levels = np.split(items[2:], (before - before[0])[1:])
        if high == 1:
            return tuple(levels[0].tolist())
        return Levels(tuple(levels), least, largest)

    def lift(self, values: pa.Array) -> pa.Array:
        """The sketch of each value; null where there is none, or NaN."""
        known = values.is_valid().to_numpy(zero_copy_only=False)
        plain = values.fill_null(0).to_numpy(zero_copy_only=False).astype(KINDS[self.kind])
        known = known & (plain == plain)
        rows = plain.view(np.uint8).reshape(len(plain), plain.dtype.itemsize)
        return fixed_bytes(self._head(single=True), rows, known)

    def encode(self, column: pa.Array) -> Encoded:
        """Sketches as boxes, each null the empty one."""
        sketches = [() if b is None else self.read(b) for b in column.to_pylist()]
        return Encoded((box_all(sketches),), boxed(self.combine, ()), partial(_decode, self))


def _extremes(sketch: Sketch) -> tuple[Value, Value]:
    if isinstance(sketch, tuple):
        return min(sketch), max(sketch)
    return sketch.least, sketch.largest


def _decode(sketches: QuantileSketch, merged: Arrays) -> pa.Array:
    return pa.array(map(sketches.write, unbox(merged[0])), pa.binary())

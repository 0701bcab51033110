"""Labels of buckets: the grouping keys that spread buckets evenly over Spark's partitions.

Spark places the group of an int by its Murmur3 hash. Consecutive numbers collide: of four buckets
two may share a partition while another idles. So bucket i of B is labelled with the least number
whose hash falls on place i + c modulo B: as many partitions as buckets, or a divisor of that, get
equal shares. The label of bucket 0 is 0 for every B, so a state with another number of buckets is
always met, and refused.
"""

from __future__ import annotations

_MASK = 0xFFFF_FFFF
_SEED = 42


def labels(buckets: int) -> tuple[int, ...]:
    """The label of every bucket.

    >>> labels(4)
    (0, 12, 6, 2)
    >>> sorted(murmur3(label) % 4 for label in labels(4))
    [0, 1, 2, 3]
    """
    base = murmur3(0) % buckets
    found: dict[int, int] = {}
    number = 0
    while len(found) < buckets:
        found.setdefault((murmur3(number) - base) % buckets, number)
        number += 1
    return tuple(found[i] for i in range(buckets))


def murmur3(number: int) -> int:
    """Spark's hash of an int (Murmur3, 32 bits, seed 42).

    >>> murmur3(1)
    -559580957
    """
    k = number * 0xCC9E2D51 & _MASK
    k = _turned(k, 15) * 0x1B873593 & _MASK
    h = _turned(_SEED ^ k, 13) * 5 + 0xE6546B64 & _MASK
    h ^= 4
    h = (h ^ h >> 16) * 0x85EBCA6B & _MASK
    h = (h ^ h >> 13) * 0xC2B2AE35 & _MASK
    h ^= h >> 16
    return h - 2**32 if h >= 2**31 else h


def _turned(word: int, by: int) -> int:
    return (word << by | word >> 32 - by) & _MASK

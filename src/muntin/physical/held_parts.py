"""Into how many parts rows are shuffled, so that a worker can hold one and put it in order.

A worker sorts the rows of a part by one number each; Spark compares all columns, which takes
several times as long, but it needs no memory for all of them. So Spark sorts where it is not known
how many rows there are, or where one key and chunk of time may have too many.
"""

from __future__ import annotations

from math import ceil

from muntin.cost.statistics import SECOND, Statistics

MOST_HELD = 2_000_000.0
"""Rows that a worker holds: some 100 MB."""
UNEVEN = 4.0
"""How many times as many rows as the mean a key may have."""


def held_parts(rows: float, known: Statistics, chunk: int | None, parts: int) -> int | None:
    """How many parts so many rows are shuffled into, at least `parts`; None where Spark sorts.

    `chunk` is how long the chunks of time are that keys are cut into, None where keys stay whole.

    >>> known = Statistics(rows=1e7, keys=100, rate=100)
    >>> held_parts(1e7, known, None, 4), held_parts(1e5, known, None, 4)
    (5, 4)
    >>> held_parts(1e7, Statistics(rows=1e7, keys=2, rate=100), None, 4)  # a key is too large
    >>> held_parts(1e7, Statistics(rows=1e7, keys=2, rate=100), 3_600_000_000, 4)
    5
    >>> held_parts(1e7, Statistics(rows=1e7, keys=100, rate=100, unknown=("rows",)), None, 4)
    """
    if "rows" in known.unknown:
        return None
    keys = 1.0 if "keys" in known.unknown else known.keys
    cut = chunk is not None and "rate" not in known.unknown
    chunks = max(known.span * SECOND / chunk, 1.0) if cut and chunk else 1.0
    if UNEVEN * rows / (keys * chunks) > MOST_HELD:
        return None
    return max(parts, ceil(rows / MOST_HELD))

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
FEWEST = 250_000.0
"""Rows that are worth a part of their own."""
UNEVEN = 4.0
"""How many times as many rows as the mean a key may have."""


def held_parts(rows: float, known: Statistics, chunk: int | None, parts: int) -> int | None:
    """How many parts so many rows are shuffled into; None where Spark sorts.

    1 leaves it to Spark, which joins small parts: one worker could hold them all. More rows have as
    many parts as Spark's shuffles have, `parts`, if these are neither too large nor too small.
    `chunk` is how long the chunks of time are that keys are cut into, None where keys stay whole.

    >>> known = Statistics(rows=1e7, keys=100, rate=100)
    >>> [held_parts(rows, known, None, 200) for rows in (1e5, 1e7, 1e9)]
    [1, 40, None]
    >>> held_parts(1e7, known, None, 4)
    5
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
    if rows * min(UNEVEN / (keys * chunks), 1.0) > MOST_HELD:
        return None
    if rows <= MOST_HELD:
        return 1
    return max(ceil(rows / MOST_HELD), min(parts, ceil(rows / FEWEST)))

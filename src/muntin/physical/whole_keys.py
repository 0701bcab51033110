"""When keys are cut into chunks of time for workers, and when they stay whole.

Chunks give several tasks something to do where keys are few, and bound what one task holds. They
have a price: Spark looks at every row to see into which chunks it goes, and what instances of two
chunks are made of goes into both. So keys stay whole where they are enough to share the work, that
is where none has more of it than a task of its own is worth, and where a worker could hold the
largest key there may be.
"""

from __future__ import annotations

from muntin.cost.statistics import Statistics
from muntin.physical.held_parts import MOST_HELD

WORTH = 1_000_000.0
"""Rows and results that are worth a task of their own."""
LARGEST = 4 * MOST_HELD
"""Rows that one key may have at most."""


def stay_whole(known: Statistics, work: float, alone: float) -> bool:
    """Whether keys stay whole, given the rows and results of all keys.

    `alone` is how many rows go to workers if all are of one key: what the largest may have.

    >>> known = Statistics(rows=1e7, keys=100, rate=100)
    >>> stay_whole(known, 5e6, 1e5), stay_whole(known, 5e8, 1e5), stay_whole(known, 5e6, 1e8)
    (True, False, False)
    >>> stay_whole(Statistics(rows=1e7, keys=100, rate=100, unknown=("keys",)), 5e6, 1e5)
    False
    """
    return not known.unknown and work <= WORTH * known.keys and alone <= LARGEST

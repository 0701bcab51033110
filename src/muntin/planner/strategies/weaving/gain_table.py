"""A symmetric table of gains, with the largest of each row at hand.

time  O(n) to change a gain or a row, O(n) to find the largest      space  O(n²)

A heap would keep every outdated bound of a merged tree until it comes up; n largest values, one for
each row, are found in one pass and never outdated. Among equals the first pair in order is taken,
as by a search through the whole table.
"""

from __future__ import annotations

import numpy as np

from muntin.cost.arrays import Floats, Ints


class GainTable:
    """
    >>> table = GainTable(3)
    >>> table.set_row(0, np.array([1, 2]), np.array([5.0, 7.0])); table.largest()
    (0, 2, 7.0)
    >>> table.lower(0, 2, 4.0); table.largest()
    (0, 1, 5.0)
    >>> table.drop(1); table.largest()
    (0, 2, 4.0)
    """

    def __init__(self, size: int) -> None:
        self._gains = np.full((size, size), -np.inf)
        self._best = np.full(size, -np.inf)
        self._where = np.zeros(size, dtype=np.int64)

    @staticmethod
    def of(gains: Floats) -> GainTable:
        """A table of these gains; those below the diagonal are taken from above it.

        >>> GainTable.of(np.array([[0.0, 3.0], [0.0, 0.0]])).largest()
        (0, 1, 3.0)
        """
        table = GainTable(len(gains))
        above = np.triu_indices(len(gains), k=1)
        table._gains[above] = table._gains.T[above] = gains[above]
        table._search(np.arange(len(gains)))
        return table

    def largest(self) -> tuple[int, int, float]:
        """The pair of the largest gain, and the gain."""
        i = int(self._best.argmax())
        return i, int(self._where[i]), float(self._best[i])

    def lower(self, i: int, j: int, gain: float) -> None:
        """Put a smaller value in the place of one."""
        self._gains[i, j] = self._gains[j, i] = gain
        self._search(np.array([i, j]))

    def set_row(self, i: int, others: Ints, gains: Floats) -> None:
        """Gains of i with each of the others."""
        column = np.full(len(self._best), -np.inf)
        column[others] = gains
        self._replace(i, column)

    def drop(self, i: int) -> None:
        """No gain with i any more."""
        self._replace(i, np.full(len(self._best), -np.inf))

    def _replace(self, i: int, column: Floats) -> None:
        self._gains[i] = self._gains[:, i] = column
        lost = self._where == i
        lost[i] = True
        first = (column > self._best) | ((column == self._best) & (i < self._where))
        better = first & ~lost
        self._best[better], self._where[better] = column[better], i
        self._search(np.flatnonzero(lost))

    def _search(self, rows: Ints) -> None:
        self._where[rows] = self._gains[rows].argmax(axis=1)
        self._best[rows] = self._gains[rows, self._where[rows]]

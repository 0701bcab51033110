"""Ranks within any run of numbers: how many are below a bound, and which is the k-th smallest.

order  numbers in order, runs in any order      needs  numbers in [0, 2ᵇ)
time   b passes over the numbers, then b steps a run      space  b arrays of counts

A wavelet matrix (Claude, Navarro and Ordóñez, 2015). Each level splits all numbers by one binary
digit, the highest first: zeros go to the front, ones behind them, both in order. So numbers that
share their highest digits stay together, and a run stays a run in each half: `zeros` counts, for
each position, the zeros before it, which is where the run's zeros begin and end at the next level.
Exact percentiles and distinct counts of frames come down to these two questions ("framed holistic
aggregates", as in Wesley and Xu, VLDB 2016).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from muntin.kernels.monoids import Array


@dataclass(frozen=True, slots=True)
class Wavelet:
    """The levels, the highest digit first."""

    zeros: tuple[Array, ...]

    @staticmethod
    def of(numbers: Array, most: int) -> Wavelet:
        """Numbers from 0 to `most`."""
        levels, current = [], numbers.astype(np.int64)
        for digit in range(max(int(most).bit_length(), 1) - 1, -1, -1):
            ones = (current >> digit & 1).astype(np.bool_)
            counted = np.zeros(len(current) + 1, dtype=np.int64)
            np.cumsum(~ones, out=counted[1:])
            levels.append(counted)
            current = np.concatenate((current[~ones], current[ones]))
        return Wavelet(tuple(levels))

    def count_below(self, low: Array, high: Array, bound: Array) -> Array:
        """How many of the numbers low … high − 1 are less than the bound of each run.

        >>> tree = Wavelet.of(np.array([3, 1, 4, 1, 5]), 5)
        >>> tree.count_below(np.array([0, 1]), np.array([5, 3]), np.array([4, 2])).tolist()
        [3, 1]
        """
        below, length = np.zeros(len(low), dtype=np.int64), high - low
        for level, zeros in enumerate(self.zeros):
            first, stop = zeros[low], zeros[high]
            one = (bound >> (len(self.zeros) - 1 - level) & 1).astype(np.bool_)
            below += np.where(one, stop - first, 0)
            low = np.where(one, zeros[-1] + low - first, first)
            high = np.where(one, zeros[-1] + high - stop, stop)
        return np.asarray(np.where(bound >> len(self.zeros) > 0, length, below))

    def smallest(self, low: Array, high: Array, place: Array) -> Array:
        """The number that has this place, from 0, among the sorted numbers low … high − 1.

        >>> tree = Wavelet.of(np.array([3, 1, 4, 1, 5]), 5)
        >>> tree.smallest(np.array([0, 0]), np.array([5, 5]), np.array([1, 4])).tolist()
        [1, 5]
        """
        found = np.zeros(len(low), dtype=np.int64)
        for level, zeros in enumerate(self.zeros):
            first, stop = zeros[low], zeros[high]
            inside = stop - first
            one = place >= inside
            place = np.where(one, place - inside, place)
            found += np.where(one, 1 << (len(self.zeros) - 1 - level), 0)
            low = np.where(one, zeros[-1] + low - first, first)
            high = np.where(one, zeros[-1] + high - stop, stop)
        return found

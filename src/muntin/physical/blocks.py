"""Blocks of kept slices: how long they are, and which of them due windows have in common.

A stream keeps its slices in runs, one for each block of time. The instances that a step emits, all
that begin in [first, last], hold the core [last, first + range). Of it these blocks are whole:

    first   last                              first + range   last + range
      │ slices │ low … flip - 1 │ flip … high - 1 │   slices     │

Stairs have such a stretch for each delta: from where the instances of a stair have begun to where
those of the next one begin. Two stacks meet at the flip, which moves on when all blocks before it
have left. A ladder puts FAN_OUT blocks into a rung, FAN_OUT of these into the next, and so on
(`rung_counts`).
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TypeVar

import numpy as np

from muntin.kernels.monoids import Array

FAN_OUT = 16
"""Blocks of one length that make one of the next."""
RUNS = 16
"""A block is this part of the widest window: what a step may keep longer than needed."""
SLICES = 256
"""A block has at most about this many slices: what a step rewrites, and reads one by one."""
FEWEST, LONGEST = 16, 4
"""A block with fewer slices is made longer, up to this part of the widest window: each run that a
step touches is a call of the state store, however little it holds."""

Instant = TypeVar("Instant", int, Array)


def block_length(widest: int, edges: Fraction) -> int:
    """How long the blocks of slices are, with so many edges in a unit of time.

    >>> [block_length(widest, Fraction(1)) for widest in (5, 60, 3600, 36_000)]
    [1, 15, 225, 256]
    """
    block = min(widest // RUNS, ceil(SLICES / edges))
    return max(block, min(widest // LONGEST, ceil(FEWEST / edges)), 1)


def has_core(since: int, before: int, block: int) -> bool:
    """Whether a stretch that all instances hold is long enough to be worth it."""
    return before - since >= 3 * block


def core_of(
    length: int, since: Instant, before: Instant, block: int
) -> tuple[Instant, Instant, Instant]:
    """The blocks low, flip and high of a stretch, in one step or in many; `length` is its longest.

    >>> core_of(60, 50, 110, block=10)
    (5, 8, 11)
    """
    low, high = -(-since // block), before // block
    steps = length // block - 2
    return low, (high // steps * steps if steps > 0 else low), high


def rung_counts(low: Array, high: Array) -> list[Array]:
    """How many rungs of each level, the lowest first, the blocks low … high - 1 are made of.

    >>> [each.tolist() for each in rung_counts(np.array([15, 0]), np.array([34, 256]))]
    [[3, 0], [1, 0], [0, 1]]
    """
    found = []
    while True:
        up, down = -(-low // FAN_OUT), high // FAN_OUT
        whole = up < down
        outside = (up * FAN_OUT - low) + (high - down * FAN_OUT)
        found.append(np.where(whole, outside, np.maximum(high - low, 0)))
        if not whole.any():
            return found
        low, high = np.where(whole, up, 0), np.where(whole, down, 0)

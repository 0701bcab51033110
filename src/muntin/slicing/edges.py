"""How many edges (cuts) there are in a unit of time, exactly.

The density of a union of residue classes. Where their common period is short it is marked out in a
bit set; otherwise it is found by inclusion and exclusion over the classes (F1, section 4 of the
multi-query paper): a set of classes contributes ±1/lcm if they are compatible, nothing if not.
Incompatible and contained classes are dropped on the way, so that 2ⁿ terms are not visited when
the slides are related.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import gcd, lcm

import numpy as np

from muntin.slicing.cuts import Cut, Slices

BIT_SET_LIMIT = 4_000_000
"""Longest period, in the common unit of the cuts, that is marked out bit by bit."""


@lru_cache(maxsize=65_536)
def edge_rate(slices: Slices) -> Fraction:
    """Edges per unit of time.

    >>> from muntin.slicing.cuts import shared_pairs
    >>> from muntin.windows import Window
    >>> edge_rate(shared_pairs([Window(12, 9), Window(10, 6)]))
    Fraction(4, 9)
    """
    base = slices.cuts[0].phase
    unit = gcd(*(n for c in slices.cuts for n in (c.step, c.phase - base)))
    cuts = [Cut(c.step // unit, (c.phase - base) // unit % (c.step // unit)) for c in slices.cuts]
    period = lcm(*(c.step for c in cuts))
    count = by_bit_set if period <= BIT_SET_LIMIT else by_inclusion_exclusion
    return count(cuts) / unit


def by_bit_set(cuts: Sequence[Cut]) -> Fraction:
    """Mark every cut of one common period and count the marks."""
    period = lcm(*(c.step for c in cuts))
    marks = np.zeros(period, dtype=np.bool_)
    for cut in cuts:
        marks[cut.phase :: cut.step] = True
    return Fraction(int(np.count_nonzero(marks)), period)


def by_inclusion_exclusion(cuts: Sequence[Cut]) -> Fraction:
    """|A ∪ B ∪ …| = |A| + |(B ∪ …)| - |A ∩ (B ∪ …)|, with every intersection a residue class."""
    if not cuts:
        return Fraction(0)
    first, rest = cuts[0], cuts[1:]
    common = {both for cut in rest if (both := _intersection(first, cut)) is not None}
    kept = [c for c in common if not any(o != c and o.contains(c) for o in common)]
    return Fraction(1, first.step) + by_inclusion_exclusion(rest) - by_inclusion_exclusion(kept)


def _intersection(left: Cut, right: Cut) -> Cut | None:
    """The instants in both classes, by the Chinese remainder theorem; None if there are none."""
    common = gcd(left.step, right.step)
    difference = right.phase - left.phase
    if difference % common:
        return None
    modulus = right.step // common
    turns = difference // common * pow(left.step // common, -1, modulus) % modulus
    step = left.step * modulus
    return Cut(step, (left.phase + turns * left.step) % step)

"""Ω as it is counted: each window is charged at its own edges, with its true numbers of partials.

An instance does not always have r·E partials: W(14, 8) in pairs has 3, not 3.5, and on shared
slices the number changes from instance to instance. One walk over the composite slide, vectorised,
gives them all (`instance_partials`). With f_i the part of the edges at which window i is answered:

    Panes                   Σ f_i·(P_i - 1)
    FlatFAT                 ⌈log₂ P_max⌉ + Σ f_i·(C(P_i) - 1), and nothing for P_max: the root
                            C(P) is how many nodes cover P consecutive leaves of the circle of
                            P_max on average; where the circle closes, a cover is two
    FlatFIT                 min(1 + 2a, a + log₂ P_max) with a = Σ f_i; fitted to counts, not
                            derived: one query costs 3, many share shortcuts and cost 1 each
    SlickDeque (Inv)        2·(number of different P over all instances): exact
    SlickDeque (Non-Inv)    2 - 2/P_max + a + E[H(P_max) - H(shortest range answered at the edge)]
                            an entry of age x is in the deque with probability 1/x, so the mean
                            length is H(P_max), of which a traversal passes those beyond the
                            shortest range asked; windows are taken to be answered independently
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import gcd, lcm, log2

import numpy as np
import numpy.typing as npt

from muntin.cost.omega import Load, omega_name

COMPOSITE_LIMIT = 2_000_000
"""Longest composite slide, in the common unit of all edges, that is walked; else r·E is taken."""

Counts = npt.NDArray[np.int64]


def instance_partials(load: Load) -> list[Counts]:
    """For each window, the number of partials of every instance in one composite slide.

    >>> from muntin.cost.omega import load_of
    >>> from muntin.model.windows import Window
    >>> [counts.tolist() for counts in instance_partials(load_of([Window(12, 9), Window(10, 6)]))]
    [[6, 5], [5, 4, 4]]
    """
    cuts = load.slices.cuts
    base = cuts[0].phase
    unit = gcd(*(n for c in cuts for n in (c.step, c.phase - base)))
    period = lcm(*(c.step for c in cuts), *(w.slide for w in load.windows)) // unit
    if period > COMPOSITE_LIMIT:
        return [np.array([max(1, round(p))]) for p in load.partials]
    marks = np.zeros(period, dtype=np.int64)
    for cut in cuts:
        step = cut.step // unit
        marks[(cut.phase - base) // unit % step :: step] = 1
    before = np.concatenate(([0], np.cumsum(marks)))  # edges before an instant of the period
    found = []
    for w in load.windows:
        starts = np.arange((w.offset - base) // unit % (w.slide // unit), period, w.slide // unit)
        turns, ends = np.divmod(starts - (-w.range // unit), period)  # an open slice counts too
        found.append(turns * before[-1] + before[ends] - before[starts])
    return found


def _panes(load: Load, counts: list[Counts]) -> float:
    return sum(float(f) * float(np.mean(p) - 1) for f, p in zip(load.answered, counts, strict=True))


def _flatfat(load: Load, counts: list[Counts]) -> float:
    longest = max(int(p.max()) for p in counts)
    total = float((longest - 1).bit_length())
    for f, partials in zip(load.answered, counts, strict=True):
        sizes, times = np.unique(partials, return_counts=True)
        merges = [0.0 if n == longest else mean_cover(int(n), longest) - 1 for n in sizes]
        total += float(f) * float(np.average(merges, weights=times))
    return total


@cache
def mean_cover(leaves: int, circle: int) -> float:
    """C(P): nodes of a binary tree that cover so many leaves of a circle, over all their begins.

    >>> mean_cover(2, 8)  # one node from even leaves, two from odd ones
    1.5
    """
    begins = range(0, circle, -(-circle // 1024))  # enough to tell the mean of a long circle
    return sum(_cover(begin, leaves, circle) for begin in begins) / len(begins)


def _cover(first: int, leaves: int, circle: int) -> int:
    """A suffix of one subtree and a prefix of the next: one node for each binary digit."""
    end = first + leaves
    if end > circle:
        return _cover(first, circle - first, circle) + _cover(0, end - circle, circle)
    height = (first ^ end).bit_length() - 1
    middle = end >> height << height
    return (middle - first).bit_count() + (end - middle).bit_count()


def _flatfit(load: Load, counts: list[Counts]) -> float:
    answers = float(sum(load.answered))
    return min(1 + 2 * answers, answers + log2(max(int(p.max()) for p in counts)))


def _slick_deque_inv(load: Load, counts: list[Counts]) -> float:
    return 2.0 * len(np.unique(np.concatenate(counts)))


def _slick_deque_non_inv(load: Load, counts: list[Counts]) -> float:
    longest = max(int(p.max()) for p in counts)
    expected, no_shorter = 0.0, 1.0
    for partials, f in sorted(
        (float(np.mean(p)), float(f)) for p, f in zip(counts, load.answered, strict=True)
    ):
        expected += no_shorter * f * (harmonic(longest) - harmonic(round(partials)))
        no_shorter *= 1 - f
    return 2 - 2 / longest + float(sum(load.answered)) + expected


def harmonic(n: int) -> float:
    """H_n = 1 + 1/2 + … + 1/n.

    >>> round(harmonic(4) * 12, 9)
    25.0
    """
    if n < 1000:
        return sum(1 / i for i in range(n, 0, -1))
    return float(np.log(n) + np.euler_gamma + 1 / (2 * n) - 1 / (12 * n * n))


COUNTED: dict[str, Callable[[Load, list[Counts]], float]] = {
    "panes": _panes,
    "flatfat": _flatfat,
    "flatfit": _flatfit,
    "slick-deque-inv": _slick_deque_inv,
    "slick-deque-non-inv": _slick_deque_non_inv,
}


def counted_omega(technique: str, load: Load, *, invertible: bool = False) -> float:
    """The better estimate of Ω, close to what the techniques do.

    >>> from muntin.cost.omega import load_of
    >>> from muntin.model.windows import Window
    >>> counted_omega("slick-deque", load_of([Window(12, 9), Window(10, 6)]), invertible=True)
    6.0
    """
    return COUNTED[omega_name(technique, invertible)](load, instance_partials(load))

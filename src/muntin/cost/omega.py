"""Ω: how many final-aggregation operations a technique does per edge (Equations 3–7, Table 3).

A load is Q windows answered from shared slices. With E edges in a unit of time, a window of range r
and slide s has P = r·E partials an instance on average (⌈r·E⌉ if it reads an open slice), and is
answered at f = 1/(s·E) of the edges.

    paper's Ω               Panes                   Σ f_i·P_i = Σ r_i/s_i                       (3)
                            FlatFAT                 Σ ⌊log₂(P_i - 1)⌋ + (P_i - 1)/2^⌊log₂ P_i⌋  (4)
                            FlatFIT                 3·Q                                         (5)
                            SlickDeque (Inv)        2·(number of different P_i)                 (6)
                            SlickDeque (Non-Inv)    2 - 2/P_max + Q + Σ 1/i! for i = 1 … P_max  (7)

`paper_omega` is the paper's own, with one correction: Equation 4 has no value at one partial, where
an answer is a leaf and costs nothing. Its slips are kept, because its figures rest on them: Σ1/i!
stays below e - 1, while the mean length of the deque is the harmonic number H_P, and every window
is charged at every edge, though it is answered only at its own. `counted_omega` puts them right:
each window is charged at its own edges, with its true numbers of partials. `muntin experiment
omega` compares both with counts.

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

Ω exists for these five only: TwoStacks, DABA and Panes (Inv) serve one query, and the paper has
no estimate for B-Int. Section 4.1 of the multi-query paper.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil, factorial, floor, gcd, lcm, log2
from operator import mul

import numpy as np
import numpy.typing as npt

from muntin.errors import StrategyError, did_you_mean, is_one_of
from muntin.model.windows import Window
from muntin.plan.coverage import EdgeKind
from muntin.plan.slicing import Slices, edge_rate, mean_slices_at, shared_pairs

COMPOSITE_LIMIT = 2_000_000
"""Longest composite slide, in the common unit of all edges, that is walked; else r·E is taken."""

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Load:
    """Windows that are answered together from the same slices, each read in its way.

    >>> load = load_of([Window(6, 2), Window(8, 4)])
    >>> [int(p) for p in load.partials], [str(f) for f in load.answered]
    ([3, 4], ['1', '1/2'])
    """

    windows: tuple[Window, ...]
    slices: Slices
    kinds: tuple[EdgeKind, ...] = ()
    """None given: all whole."""
    most: Fraction | None = None
    """Slices with records in a unit of time, where these are fewer than the edges."""

    @property
    def edges(self) -> Fraction:
        """E: partials in a unit of time."""
        return edge_rate(self.slices) if self.most is None else self.most

    @property
    def partials(self) -> tuple[Fraction, ...]:
        """P_i: range over the mean length of a slice."""
        kinds = self.kinds or (EdgeKind.WHOLE,) * len(self.windows)
        pairs = zip(self.windows, kinds, strict=True)
        return tuple(mean_slices_at(self.edges, window, kind) for window, kind in pairs)

    @property
    def answered(self) -> tuple[Fraction, ...]:
        """At what part of the edges each window is answered."""
        return tuple(1 / (w.slide * self.edges) for w in self.windows)


def load_of(windows: Sequence[Window]) -> Load:
    """The windows on the coarsest slices that serve them all."""
    return Load(tuple(windows), shared_pairs(windows))


def _flatfat(partials: Fraction) -> float:
    if partials <= 1:
        return 0.0
    levels = max(floor(log2(partials - 1)), 0)  # below two partials the logarithm is negative
    below = 1 << floor(log2(partials))
    return levels + float((partials - 1) / below)


def _slick_deque_non_inv(load: Load) -> float:
    longest = max(*load.partials, Fraction(1))  # fewer than one where most slices are empty
    terms = min(ceil(longest), 20)  # 1/20! is below the last digit of a float
    length = sum(1 / factorial(i) for i in range(1, terms + 1))
    return 2 - 2 / float(longest) + len(load.windows) + length


PAPER: dict[str, Callable[[Load], float]] = {
    "panes": lambda load: float(sum(map(mul, load.answered, load.partials))),
    "flatfat": lambda load: sum(map(_flatfat, load.partials)),
    "flatfit": lambda load: 3.0 * len(load.windows),
    "slick-deque-inv": lambda load: 2.0 * len(set(load.partials)),
    "slick-deque-non-inv": _slick_deque_non_inv,
}
"""Table 3, by technique; SlickDeque once for each kind of aggregate."""


def paper_omega(technique: str, load: Load, *, invertible: bool = False) -> float:
    """The paper's estimate of Ω; `invertible` says which SlickDeque a plain "slick-deque" means.

    >>> load = load_of([Window(8, 1), Window(4, 1)])
    >>> [paper_omega(name, load) for name in ("panes", "flatfat", "flatfit")]
    [12.0, 4.625, 6.0]
    >>> paper_omega("slick-deque", load, invertible=True)
    4.0
    """
    return PAPER[omega_name(technique, invertible)](load)


def omega_name(technique: str, invertible: bool) -> str:
    """Which row of Table 3 a technique has, or an error if it has none."""
    if technique == "slick-deque":
        return "slick-deque-inv" if invertible else "slick-deque-non-inv"
    if technique in ("two-stacks", "daba", "panes-inv"):
        raise StrategyError(
            f"technique {technique!r} serves one query, so it has no Ω: "
            "use panes, flatfat, flatfit or slick-deque"
        )
    if not is_one_of(technique, PAPER):
        raise StrategyError(f"technique {technique!r} has no Ω: {did_you_mean(technique, PAPER)}")
    return technique


def instance_partials(load: Load) -> list[Counts]:
    """For each window, the number of partials of every instance in one composite slide.

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


def _count_panes(load: Load, counts: list[Counts]) -> float:
    return sum(float(f) * float(np.mean(p) - 1) for f, p in zip(load.answered, counts, strict=True))


def _count_flatfat(load: Load, counts: list[Counts]) -> float:
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


def _count_flatfit(load: Load, counts: list[Counts]) -> float:
    answers = float(sum(load.answered))
    return min(1 + 2 * answers, answers + log2(max(int(p.max()) for p in counts)))


def _count_slick_deque_non_inv(load: Load, counts: list[Counts]) -> float:
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
    "panes": _count_panes,
    "flatfat": _count_flatfat,
    "flatfit": _count_flatfit,
    "slick-deque-inv": lambda _, counts: 2.0 * len(np.unique(np.concatenate(counts))),
    "slick-deque-non-inv": _count_slick_deque_non_inv,
}


def counted_omega(technique: str, load: Load, *, invertible: bool = False) -> float:
    """The better estimate of Ω, close to what the techniques do.

    >>> counted_omega("slick-deque", load_of([Window(12, 9), Window(10, 6)]), invertible=True)
    6.0
    """
    return COUNTED[omega_name(technique, invertible)](load, instance_partials(load))

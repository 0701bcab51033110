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
is charged at every edge, though it is answered only at its own. `counted_omega` in
`muntin.cost.omega_counted` puts them right; `muntin experiment omega` compares both with counts.

Ω exists for these five only: TwoStacks, DABA and Panes (Inv) serve one query, and the paper has
no estimate for B-Int. Section 4.1 of the multi-query paper.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, factorial, floor, log2

from muntin.cost.partials import partials_at
from muntin.errors import StrategyError, did_you_mean, is_one_of
from muntin.model.windows import Window
from muntin.plan.coverage import EdgeKind
from muntin.plan.slicing import Slices, edge_rate, shared_pairs


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
        return tuple(partials_at(self.edges, window, kind) for window, kind in pairs)

    @property
    def answered(self) -> tuple[Fraction, ...]:
        """At what part of the edges each window is answered."""
        return tuple(1 / (w.slide * self.edges) for w in self.windows)


def load_of(windows: Sequence[Window]) -> Load:
    """The windows on the coarsest slices that serve them all."""
    return Load(tuple(windows), shared_pairs(windows))


def _panes(load: Load) -> float:
    return float(sum(f * p for f, p in zip(load.answered, load.partials, strict=True)))


def _flatfat(load: Load) -> float:
    return sum(_flatfat_query(p) for p in load.partials)


def _flatfat_query(partials: Fraction) -> float:
    if partials <= 1:
        return 0.0
    levels = max(floor(log2(partials - 1)), 0)  # below two partials the logarithm is negative
    below = 1 << floor(log2(partials))
    return levels + float((partials - 1) / below)


def _flatfit(load: Load) -> float:
    return 3.0 * len(load.windows)


def _slick_deque_inv(load: Load) -> float:
    return 2.0 * len(set(load.partials))


def _slick_deque_non_inv(load: Load) -> float:
    longest = max(*load.partials, Fraction(1))  # fewer than one where most slices are empty
    terms = min(ceil(longest), 20)  # 1/20! is below the last digit of a float
    length = sum(1 / factorial(i) for i in range(1, terms + 1))
    return 2 - 2 / float(longest) + len(load.windows) + length


PAPER: dict[str, Callable[[Load], float]] = {
    "panes": _panes,
    "flatfat": _flatfat,
    "flatfit": _flatfit,
    "slick-deque-inv": _slick_deque_inv,
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

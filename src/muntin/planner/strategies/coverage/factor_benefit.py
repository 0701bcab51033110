"""When a tumbling factor window pays, and which one pays most (section 4.4, Algorithms 3 and 4).

needs  the paper's cost and `partitioned by`: target and factor window are tumbling
time   O(K) for K children

    R, n_j    the period (`PaperCost.period`) and the recurrence counts of Equation 1, fixed by the
              user's windows
    m_j, k_j  R/r_j and r_j/s_j
    λ         Σ n_j/m_j  (Equation 4)
    r_W       the target's range; the source is a tumbling window of range 1/η, since an instance of
              length r reads η·r events from it

What the text has wrong or leaves out, each with its counterexample in the tests:

* Algorithm 4 ignores slides. d is the gcd of the children's ranges, slides and distances of
  offsets: {W(4, 2), W(6, 3)} have ranges with gcd 2, but W(2, 2) does not partition W(6, 3).
* Algorithm 3 divides by zero at m_1 = 1: the answer is no (λ = 1 in Equation 7).
* Its shortcuts take r_f ≥ 2·r_W for granted, which r_W = 1/η need not give.
* Theorem 9 divides by λ - r'_f/r_W, which may be negative: {12, 24}, r_W = 1, 6 against 4. Without
  the division its test is λ·r_f ≥ λ·r'_f: the larger range always wins, and so Algorithm 4 needs
  to look at the largest candidate, d, alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd

from muntin.cost import PaperCost
from muntin.model.windows import Window
from muntin.plan.coverage import Source


def overlap_sum(cost: PaperCost, children: Sequence[Window]) -> Fraction:
    """λ of Equation 4."""
    terms = (cost.recurrence(w) * Fraction(w.range, cost.period) for w in children)
    return sum(terms, Fraction(0))


def helps(
    cost: PaperCost, factor: Window, target: Source | Window, children: Sequence[Window]
) -> bool:
    """Algorithm 3: whether a tumbling factor window pays under a tumbling target.

    >>> day = (Window(24, 24),)
    >>> helps(PaperCost(day), Window(6, 6), Source(), day)
    False
    """
    r_W = 1 / Fraction(cost.rate) if isinstance(target, Source) else Fraction(target.range)
    ratio = factor.range / r_W
    if len(children) >= 2 and ratio >= 2:
        return True
    if len(children) == 1:
        k_1 = Fraction(children[0].range, children[0].slide)
        m_1 = Fraction(cost.period, children[0].range)
        if k_1 == 1 or m_1 == 1:
            return False
        if k_1 >= 3 and m_1 >= 3 and ratio >= 2:
            return True
    lambda_ = overlap_sum(cost, children)
    return ratio * (lambda_ - 1) >= lambda_


def best_tumbling_factor(
    cost: PaperCost, target: Source | Window, children: Sequence[Window]
) -> Window | None:
    """Algorithm 4: the best factor window under `partitioned by`, or None if none pays.

    >>> pair = (Window(20, 20), Window(30, 30))
    >>> print(best_tumbling_factor(PaperCost(pair), Source(), pair))
    W(10, 10)
    >>> pair = (Window(4, 2), Window(6, 3))
    >>> print(best_tumbling_factor(PaperCost(pair, rate=10), Source(), pair))
    W(1, 1)
    """
    if isinstance(target, Window) and not target.tumbling:
        return None
    first = children[0]
    lengths = (n for w in children for n in (w.range, w.slide, w.offset - first.offset))
    d = gcd(*lengths)
    factor = Window(d, d, first.offset % d)
    if factor == target or factor in cost.windows:
        return None
    return factor if helps(cost, factor, target, children) else None

"""How many edges (cuts) there are in a unit of time, exactly.

The density of a union of residue classes, three ways that agree:

    by_bit_set              mark one common period and count: fast where the period is short
    by_inclusion_exclusion  F1 (Equation 2 of the multi-query paper) for any classes: a set of
                            classes contributes ±1/lcm if they are compatible, nothing if not
    by_residues             F1 without its 2ⁿ terms, where the slides are related

`by_residues` takes a number b that divides some steps and is coprime to the others, and looks at
each instant modulo b. The classes that b divides hit a few residues j; elsewhere only the others,
the free ones, cut, and as densely as ever (t ↦ b·t only permutes their common period):

    E = (1/b)·Σ E_j over the residues that are hit + (1 - hit/b)·E(free)

Each E_j has steps shorter by b, in which most classes soon contain each other. Parts with coprime
steps are independent, so the uncut parts of time multiply; equal sub-problems are remembered. The
numbers b come from the gcds of the steps, so nothing is ever factored into primes.

The problem has no short way for dozens of classes with unrelated steps and offsets. Costs must not
wait for it: `edge_rate` then takes `by_sampling`, an estimate that is within 1 % or so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from math import gcd, lcm

import numpy as np

from muntin.slicing.cuts import Cut, Slices, cut_everywhere

BIT_SET_LIMIT = 1_000_000
"""Longest period, in the common unit of the cuts, that is marked out bit by bit."""
EXACT_LIMIT = 1_500
"""Most steps (a second or less) that `edge_rate` solves before it takes an estimate."""
REMEMBERED = 200_000
"""Most sub-problems that are kept."""
FEW = 4
"""Up to so many classes, the terms of F1 are written out: that is quicker than to split them."""
SAMPLES = 30_000
"""Instants that `by_sampling` looks at in all, and at most a thirtieth of them in each class."""


@lru_cache(maxsize=65_536)
def edge_rate(slices: Slices, limit: int = EXACT_LIMIT) -> Fraction:
    """Edges per unit of time; an estimate only where exactness takes more than `limit` steps.

    >>> from muntin.slicing.cuts import shared_pairs
    >>> from muntin.windows import Window
    >>> edge_rate(shared_pairs([Window(12, 9), Window(10, 6)]))
    Fraction(4, 9)
    """
    cuts, unit = _in_common_unit(slices.cuts)
    period = lcm(*(c.step for c in cuts))
    if period <= BIT_SET_LIMIT:
        return by_bit_set(cuts) / unit
    try:
        return by_residues(cuts, limit) / unit
    except TooManyTerms:
        return by_sampling(cuts) / unit


def weavability(sets: Sequence[Slices]) -> Fraction:
    """Common edges over all edges: how well these sets of cuts weave (section 3.1.1).

    An edge is common if two sets or more have it. Those that one set alone has are what is lost
    when it is left out.

    >>> from muntin.slicing.cuts import pairs
    >>> from muntin.windows import Window
    >>> str(weavability([pairs(Window(12, 9)), pairs(Window(10, 6))]))  # 12 and 18, of 8
    '1/4'
    """
    everything = _union(sets)
    alone = sum(
        (everything - _union([*sets[:i], *sets[i + 1 :]]) for i in range(len(sets))), Fraction(0)
    )
    return 1 - alone / everything


def _union(sets: Sequence[Slices]) -> Fraction:
    cuts = [cut for slices in sets for cut in slices.cuts]
    return edge_rate(cut_everywhere(cuts)) if cuts else Fraction(0)


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


class TooManyTerms(Exception):  # noqa: N818  (a signal between these functions, no error)
    """More sub-problems than allowed."""


def by_residues(cuts: Sequence[Cut], limit: int | None = None) -> Fraction:
    """F1 where terms that cancel are never written; TooManyTerms beyond `limit` of them."""
    return _Splitting(limit).rate(cuts)


_known: dict[tuple[Cut, ...], Fraction] = {}


def forget() -> None:
    """Drop what was remembered, so that a time can be taken from scratch."""
    _known.clear()
    edge_rate.cache_clear()
    _coprime_base.cache_clear()


class _Splitting:
    """One run of `by_residues`: what it has solved is remembered by all runs."""

    def __init__(self, limit: int | None) -> None:
        self.left = limit
        if len(_known) > REMEMBERED:
            _known.clear()

    def rate(self, cuts: Sequence[Cut]) -> Fraction:
        if not cuts:
            return Fraction(0)
        scaled, unit = _in_common_unit(cut_everywhere(cuts).cuts)
        key = tuple(scaled)
        if key not in _known:
            _known[key] = self._solve(key)
        return _known[key] / unit

    def _solve(self, cuts: tuple[Cut, ...]) -> Fraction:
        if len(cuts) <= FEW:
            return by_inclusion_exclusion(cuts)
        if self.left is not None:
            self.left -= 1 + len(cuts) ** 2 // 1000
            if self.left < 0:
                raise TooManyTerms
        base = _coprime_base(frozenset(c.step for c in cuts))
        parts = _independent(cuts, base)
        if len(parts) == 1:
            return self._by_one_number(cuts, base)
        uncut = Fraction(1)
        for part in parts:
            uncut *= 1 - self.rate(part)
        return 1 - uncut

    def _by_one_number(self, cuts: Sequence[Cut], base: Iterable[int]) -> Fraction:
        """Split by the number that the fewest steps share, the largest of them."""
        b = min(base, key=lambda n: (sum(c.step % n == 0 for c in cuts), -n))
        free = [c for c in cuts if c.step % b]
        hit: dict[int, list[Cut]] = {}
        for cut in cuts:
            if cut.step % b == 0:
                residue, step = cut.phase % b, cut.step // b
                hit.setdefault(residue, []).append(Cut(step, (cut.phase - residue) // b % step))
        total = (b - len(hit)) * self.rate(free)
        for residue, shorter in hit.items():
            seen = [Cut(c.step, (c.phase - residue) * pow(b, -1, c.step) % c.step) for c in free]
            total += self.rate([*shorter, *seen])
        return total / b


def by_sampling(cuts: Sequence[Cut]) -> Fraction:
    """Σ 1/step · (part of the class that no earlier class has), each part from random instants."""
    random = np.random.default_rng(0)
    steps = np.array([c.step for c in cuts], dtype=np.int64)
    phases = np.array([c.phase for c in cuts], dtype=np.int64)
    total, each = 0.0, max(16, SAMPLES // max(30, len(cuts)))
    for i, cut in enumerate(cuts):
        instants = cut.phase + cut.step * random.integers(0, 2**61 // cut.step, each)
        cut_before = ((instants[:, None] - phases[:i]) % steps[:i] == 0).any(axis=1)
        total += (1 - float(cut_before.mean())) / cut.step
    return Fraction(total).limit_denominator(10**15)


def _independent(cuts: Sequence[Cut], base: Iterable[int]) -> list[list[Cut]]:
    """The cuts in parts whose steps share no divisor."""
    parts: list[list[Cut]] = [[cut] for cut in cuts]
    for b in base:
        touched = [part for part in parts if any(c.step % b == 0 for c in part)]
        if len(touched) > 1:
            parts = [part for part in parts if part not in touched]
            parts.append([cut for part in touched for cut in part])
    return parts


@lru_cache(maxsize=REMEMBERED)
def _coprime_base(numbers: frozenset[int]) -> tuple[int, ...]:
    """Pairwise coprime numbers of which every given number is a product of powers.

    Sub-problems for different residues have the same steps, so most answers are known.

    >>> sorted(_coprime_base(frozenset([12, 18, 35])))
    [2, 3, 35]
    """
    base: list[int] = []
    waiting = sorted(numbers)
    while waiting:
        n = waiting.pop()
        for b in base:
            common = gcd(n, b)
            if common > 1:
                base.remove(b)
                waiting += [common, b // common, n // common]
                break
        else:
            if n > 1:
                base.append(n)
    return tuple(base)


def _in_common_unit(cuts: Sequence[Cut]) -> tuple[list[Cut], int]:
    """The cuts moved to begin at zero and divided by the largest length that divides them all."""
    base = cuts[0].phase
    unit = gcd(*(n for c in cuts for n in (c.step, c.phase - base)))
    steps = [(c.step // unit, (c.phase - base) // unit) for c in cuts]
    return [Cut(step, phase % step) for step, phase in steps], unit


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

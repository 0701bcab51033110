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
wait for it: `edge_rate` then takes `by_pairs`, bounds that are tight where few edges are common, or
`by_sampling`, an estimate that is within 1 % or so. How long is waited is counted in steps of work,
about a microsecond each, and depends on the cuts alone: not on the machine, nor on what was
computed before. So the same windows always have the same rate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from math import gcd, lcm

import numpy as np

from muntin.plan.slicing.cuts import Slices, coarsest, cut_everywhere

BIT_SET_LIMIT = 1_000_000
"""Longest period, in the common unit of the cuts, that is marked out bit by bit."""
EXACT_LIMIT = 10_000
"""Most steps that `edge_rate` takes before it takes an estimate."""
TIGHT = 0.002
"""Bounds on a rate that are so near each other are as good as an estimate by sampling."""
FEW = 4
"""Up to so many classes, the terms of F1 are written out: that is quicker than to split them."""
SAMPLES = 30_000
"""Instants that `by_sampling` looks at, more of them in classes with more cuts."""
DIGITS = 1_024
"""Binary digits of a numerator and a denominator, beyond which a rate is rounded."""

Class = tuple[int, int]
"""A residue class as (step, phase), unchecked."""


def edge_rate(slices: Slices, limit: int = EXACT_LIMIT) -> Fraction:
    """Edges per unit of time; an estimate only where exactness takes more than `limit` steps.

    >>> from muntin.plan.slicing.cuts import shared_pairs
    >>> from muntin.model.windows import Window
    >>> edge_rate(shared_pairs([Window(12, 9), Window(10, 6)]))
    Fraction(4, 9)
    """
    return _count(slices, limit)[0]


def edge_work(slices: Slices, limit: int = EXACT_LIMIT) -> int:
    """How many steps `edge_rate` takes for these slices, the first time they are asked for.

    >>> from muntin.plan.slicing.cuts import pairs
    >>> from muntin.model.windows import Window
    >>> edge_work(pairs(Window(12, 9)))
    10
    """
    return _count(slices, limit)[1]


@lru_cache(maxsize=65_536)
def _count(slices: Slices, limit: int) -> tuple[Fraction, int]:
    """The rate, and the steps that it takes."""
    classes, unit = _in_common_unit(slices.cuts)
    if len(classes) <= 2:
        return by_inclusion_exclusion(classes) / unit, 10
    period = 1
    for step, _ in classes:
        period = lcm(period, step)
        if period > BIT_SET_LIMIT:
            break
    else:
        return by_bit_set(classes) / unit, 20 + len(classes) + period // 5_000
    run = _Splitting(limit)
    try:
        rate = round_rate(run.rate(classes)) / unit
    except TooManyTerms:
        rate, more = _estimate(classes)
        return rate / unit, 20 + min(run.steps, limit) + more
    return rate, 20 + run.steps


def _estimate(classes: Sequence[Class]) -> tuple[Fraction, int]:
    """A rate that is nearly right, and the steps that it takes."""
    count = len(classes)
    least, most = by_pairs(classes)
    if most - least <= TIGHT * least:
        return Fraction((least + most) / 2), 15 * count + count**2 // 30
    sampling = 500 + 20 * count + count * (SAMPLES + 4 * count) // 2_000
    return by_sampling(classes), 15 * count + count**2 // 30 + sampling


def round_rate(rate: Fraction) -> Fraction:
    """The rate, to 128 binary digits if it has more than `DIGITS`: sums over it stay quick.

    >>> round_rate(Fraction(1, 3))
    Fraction(1, 3)
    """
    if rate.denominator.bit_length() <= DIGITS:
        return rate
    shift = 128 + rate.denominator.bit_length() - rate.numerator.bit_length()
    return Fraction((rate.numerator << shift) // rate.denominator, 1 << shift)


def weavability(sets: Sequence[Slices]) -> Fraction:
    """Common edges over all edges: how well these sets of cuts weave (section 3.1.1).

    An edge is common if two sets or more have it. Those that one set alone has are what is lost
    when it is left out.

    >>> from muntin.plan.slicing.cuts import pairs
    >>> from muntin.model.windows import Window
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


def by_bit_set(cuts: Sequence[Class]) -> Fraction:
    """Mark every cut of one common period and count the marks."""
    period = lcm(*(step for step, _ in cuts))
    marks = np.zeros(period, dtype=np.bool_)
    for step, phase in cuts:
        marks[phase::step] = True
    return Fraction(int(np.count_nonzero(marks)), period)


def by_inclusion_exclusion(cuts: Sequence[Class]) -> Fraction:
    """|A ∪ B ∪ …| = |A| + |(B ∪ …)| - |A ∩ (B ∪ …)|, with every intersection a residue class."""
    if not cuts:
        return Fraction(0)
    first, rest = cuts[0], cuts[1:]
    if not rest:
        return Fraction(1, first[0])
    common = coarsest(both for cut in rest if (both := _intersection(first, cut)) is not None)
    return Fraction(1, first[0]) + by_inclusion_exclusion(rest) - by_inclusion_exclusion(common)


class TooManyTerms(Exception):  # noqa: N818  (a signal between these functions, no error)
    """More steps than allowed."""


def by_residues(cuts: Sequence[Class], limit: int | None = None) -> Fraction:
    """F1 where terms that cancel are never written; TooManyTerms beyond `limit` steps."""
    return _Splitting(limit).rate(cuts)


def forget() -> None:
    """Drop what was remembered, so that a time can be taken from scratch."""
    _count.cache_clear()
    _coprime_base.cache_clear()


class _Splitting:
    """One run of `by_residues`, with its own memory: its steps depend on nothing else."""

    def __init__(self, limit: int | None) -> None:
        self.limit, self.steps = limit, 0
        self._known: dict[tuple[Class, ...], Fraction] = {}

    def rate(self, classes: Sequence[Class]) -> Fraction:
        if not classes:
            return Fraction(0)
        self._spend(2 + len(classes))
        scaled, unit = _in_common_unit(coarsest(classes))
        key = tuple(scaled)
        if key not in self._known:
            self._known[key] = self._solve(key)
        return self._known[key] / unit

    def _spend(self, steps: int) -> None:
        self.steps += steps
        if self.limit is not None and self.steps > self.limit:
            raise TooManyTerms

    def _solve(self, classes: tuple[Class, ...]) -> Fraction:
        if len(classes) <= FEW:
            self._spend(5 << len(classes))
            return by_inclusion_exclusion(classes)
        steps = frozenset(step for step, _ in classes)
        self._spend(10 + len(classes) + len(steps) ** 2 // 8)
        base = _coprime_base(steps)
        self._spend(len(base) * len(classes) // 4)
        parts = _independent(classes, base)
        if len(parts) == 1:
            return self._by_one_number(classes, base)
        uncut = Fraction(1)
        for part in parts:
            uncut = round_rate(uncut * (1 - self.rate(part)))
        return 1 - uncut

    def _by_one_number(self, classes: Sequence[Class], base: Iterable[int]) -> Fraction:
        """Split by the number that the fewest steps share, the largest of them."""
        b = min(base, key=lambda n: (sum(step % n == 0 for step, _ in classes), -n))
        free = [(step, phase) for step, phase in classes if step % b]
        hit: dict[int, list[Class]] = {}
        for step, phase in classes:
            if step % b == 0:
                shorter = step // b
                hit.setdefault(phase % b, []).append((shorter, phase // b % shorter))
        inverses = [(step, phase, pow(b, -1, step)) for step, phase in free]
        total = (b - len(hit)) * self.rate(free)
        for residue, within in hit.items():
            seen = [(step, (phase - residue) * inverse % step) for step, phase, inverse in inverses]
            total += self.rate([*within, *seen])
        return total / b


def by_pairs(cuts: Sequence[Class]) -> tuple[float, float]:
    """Bounds from the edges that two classes have in common.

    Σ 1/step less all common edges is too little (Bonferroni); less those of each class with one
    earlier class, the one with which it has most in common, too much (Hunter, 1976).

    >>> [round(bound, 4) for bound in by_pairs([(4, 0), (6, 0), (9, 0)])]     # 14/36 is right
    [0.3611, 0.3889]
    """
    steps = np.array([step for step, _ in cuts], dtype=np.int64)
    phases = np.array([phase for _, phase in cuts], dtype=np.int64)
    every = float((1 / steps).sum())
    least = most = every
    for i in range(1, len(steps)):
        shared = np.gcd(steps[:i], steps[i])
        meets = (phases[:i] - phases[i]) % shared == 0
        common = np.where(meets, shared / steps[:i] / steps[i], 0.0)
        least -= float(common.sum())
        most -= float(common.max())
    return max(least, float(1 / steps.min())), most


def by_sampling(cuts: Sequence[Class]) -> Fraction:
    """Σ 1/step · (part of the class that no earlier class has), each part from random instants."""
    random = np.random.default_rng(0)
    ordered = sorted(cuts)
    steps = np.array([step for step, _ in ordered], dtype=np.int64)
    phases = np.array([phase for _, phase in ordered], dtype=np.int64)
    each = np.maximum(4, np.ceil(SAMPLES / steps / (1 / steps).sum())).astype(np.int64)
    total = 0.0
    for i, (step, phase) in enumerate(ordered):
        instants = phase + step * random.integers(0, max(2**61 // step, 1), int(each[i]))
        cut_before = ((instants[:, None] - phases[:i]) % steps[:i] == 0).any(axis=1)
        total += (1 - float(cut_before.mean())) / step
    return Fraction(total)


def _independent(classes: Sequence[Class], base: Iterable[int]) -> list[list[Class]]:
    """The classes in parts whose steps share no divisor."""
    home: dict[int, list[Class]] = {step: [] for step, _ in classes}
    for one in classes:
        home[one[0]].append(one)
    parts: dict[int, list[Class]] = {id(part): part for part in home.values()}
    for b in base:
        touched = {id(home[step]): home[step] for step in home if step % b == 0}
        if len(touched) > 1:
            merged = [one for part in touched.values() for one in part]
            for key in touched:
                del parts[key]
            parts[id(merged)] = merged
            home.update((step, merged) for step, _ in merged)
    return list(parts.values())


@lru_cache(maxsize=4_096)
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


def _in_common_unit(cuts: Sequence[Class]) -> tuple[list[Class], int]:
    """The cuts moved to begin at zero and divided by the largest length that divides them all."""
    base = cuts[0][1]
    unit = gcd(*(step for step, _ in cuts), *(phase - base for _, phase in cuts))
    if unit == 1:
        return [(step, (phase - base) % step) for step, phase in cuts], unit
    return [(step // unit, (phase - base) // unit % (step // unit)) for step, phase in cuts], unit


def _intersection(left: Class, right: Class) -> Class | None:
    """The instants in both classes, by the Chinese remainder theorem; None if there are none."""
    common = gcd(left[0], right[0])
    difference = right[1] - left[1]
    if difference % common:
        return None
    modulus = right[0] // common
    turns = difference // common * pow(left[0] // common, -1, modulus) % modulus
    step = left[0] * modulus
    return step, (left[1] + turns * left[0]) % step

"""Candidates for one factor window between a target and its children (section 4.2.1, Figure 9).

    target ─▶ factor ─▶ every child          the target is a window, or the source

Eligible slides divide the gcd of the children's slides and of the distances of their offsets, and
are multiples of the target's slide. Eligible ranges depend on how an edge takes its pieces:

    covering set, overlap allowed    r_f ≡ r_j (mod s_f) for all children. (The paper asks for
                                     r_f mod s_f = 0, which is neither needed nor enough: W(14, 8)
                                     is covered by W(6, 4).) For one s_f the cost is concave in r_f,
                                     so only the two ends of the eligible ranges can be best.
    covering set, disjoint           tumbling windows only (Theorem 4): r_f = s_f
    fewest pieces, overlap allowed   the ranges at which some child needs one piece less; in between
                                     a longer factor window costs more and serves no better
    fewest pieces, disjoint          multiples of s_f that divide every child's range

Lengths are counted in the common unit of all windows, in which they have few divisors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import gcd, isqrt

from muntin.model.windows import Window
from muntin.plan.coverage import Source
from muntin.planner.strategies.coverage.divisors import divisors_between, trials
from muntin.planner.strategies.problem import UNLIMITED, Budget

MANY = 2048
"""Beyond so many slides in a range only divisions by 2ⁱ·3ʲ are tried, not by every number."""

Triple = tuple[int, int, int]
"""Range, slide and offset of a candidate."""


def candidates(
    target: Source | Window,
    children: Sequence[Window],
    asked: frozenset[Window],
    unit: int,
    idempotent: bool,
    fewest: bool,
    budget: Budget = UNLIMITED,
) -> list[Triple]:
    """Range, slide and offset of every window that may pay; the caller checks the edges.

    >>> twenty, thirty = Window(20, 20), Window(30, 30)
    >>> pair = [twenty, thirty]
    >>> candidates(Source(), pair, frozenset(pair), 1, idempotent=False, fewest=False)
    [(1, 1, 0), (2, 2, 0), (5, 5, 0), (10, 10, 0)]
    """
    shortest = 0 if isinstance(target, Source) else target.range
    step = unit if isinstance(target, Source) else target.slide
    first = children[0]
    common = gcd(*(n for w in children for n in (w.slide, w.offset - first.offset)))
    taken = {(w.range, w.slide, w.offset) for w in asked}
    budget.spend(trials(common))
    found: list[Triple] = []
    for slide in divisors_between(step, common):
        lengths = _ranges(slide, shortest, children, idempotent, fewest, budget)
        free = [r for r in lengths if (r, slide, first.offset % slide) not in taken]
        if idempotent and not fewest and len(free) > 2:
            free = [free[0], free[-1]]
        found += [(r, slide, first.offset % slide) for r in free]
    return found


def _ranges(
    slide: int,
    shortest: int,
    children: Sequence[Window],
    idempotent: bool,
    fewest: bool,
    budget: Budget,
) -> Sequence[int]:
    """Eligible ranges for one slide, shortest first."""
    budget.spend(5 + len(children) // 4)
    rest = children[0].range % slide
    if any(w.range % slide != rest for w in children) or (rest and not idempotent):
        return ()
    limit = min(w.range for w in children)
    if not idempotent:
        whole = gcd(*(w.range for w in children))
        lengths = divisors_between(slide, whole) if fewest else [slide]
    elif fewest:
        sizes = {w.range // slide for w in children}
        budget.spend(sum(len(fewer_pieces(size)) for size in sizes) // 3)
        steps = {a for size in sizes for a in fewer_pieces(size)}
        low = -(-max(shortest - rest, slide) // slide)
        lengths = [a * slide + rest for a in sorted(steps | {low})]
    else:
        low = -(-max(shortest - rest, slide) // slide)
        # The ends, and as many more as windows that are asked for could take from them.
        every = range(low * slide + rest, limit + 1, slide)
        spare = len(children) + 2
        lengths = sorted({*every[:spare], *every[-spare:]})
    return [r for r in lengths if shortest <= r <= limit]


@lru_cache(maxsize=4096)
def fewer_pieces(steps: int) -> tuple[int, ...]:
    """Lengths a, in slides, at which a range of `steps` slides needs one piece less: ⌈steps/k⌉.

    >>> fewer_pieces(10)
    (1, 2, 3, 4, 5, 10)
    """
    root = isqrt(steps)
    if steps <= MANY:
        small = range(1, min(root + 1, steps) + 1)
        lengths = {*small, *(-(-steps // k) for k in small)}
    else:
        lengths = {-(-steps // k) for k in _smooth(steps)}
    return tuple(sorted(lengths))


def _smooth(limit: int) -> Iterator[int]:
    """The numbers 2ⁱ·3ʲ up to the limit, and the limit."""
    power = 1
    while power <= limit:
        number = power
        while number <= limit:
            yield number
            number *= 3
        power *= 2
    yield limit

"""What the windows of one tree cost on its slices, in closed form, for searches over trees.

A search asks for the cost of thousands of trees, and for bounds on thousands more. The final cost
E·Ω needs a few figures of a tree's windows only (`Members`), and never falls when edges are added:

    Panes, cost "rate", cost "paper"     E·Σ r/s
    FlatFIT                              3·E·Q
    FlatFAT                              E·Σ f(r·E), f of Equation 4
    SlickDeque (Inv)                     2·E·(number of different ranges): P = r·E differs as r does
    SlickDeque (Non-Inv)                 E·(2 - 2/P_max + Q + Σ 1/i!)
    cost "seconds"                       rows(E)·(a·Q + b·Σ r/s), and the results

A window that reads an open slice has ⌈r·E⌉ partials instead of r·E (`plan.slicing.mean_slices`).
Several aggregates cost the sum, many keys no more than the records fill (`PerAggregate`).
So a lower bound on the edges of a merged tree gives a lower bound on its cost (`bound`), for all
partners of a tree at once. Equation 4 falls a little where P becomes a power of two; its bound also
takes the most that the edges can be, and looks whether such a P lies between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import factorial

import numpy as np

from muntin.cost.arrays import Floats, slice_rows
from muntin.cost.members import Final, Members
from muntin.cost.statistics import SECOND, Statistics, occupied
from muntin.cost.weave import WeaveCost
from muntin.model.windows import Window
from muntin.plan.slicing import Slices


@dataclass(frozen=True, slots=True)
class Linear:
    """Rows of the slices times the instances that each row feeds."""

    rows: Callable[[Floats], Floats]

    def cost(self, edges: float, members: Members, slices: Slices) -> float:
        rows, more = self._rows(edges), 0.0
        for window in members.open:  # as if edges were ⌈r·E⌉/r
            read = self._rows(_opened(edges, window) / window.range)
            more += (read - rows) * window.overlap
        return rows * members.overlap + more

    def _rows(self, edges: float) -> float:
        return float(self.rows(np.array([edges]))[0])

    def bound(self, low: Floats, high: Floats, one: Members, others: Sequence[Members]) -> Floats:
        return self.rows(low) * _overlaps(one, others)


@dataclass(frozen=True, slots=True)
class FlatFit:
    """3·E·Q."""

    scale: float

    def cost(self, edges: float, members: Members, slices: Slices) -> float:
        return 3 * self.scale * edges * members.count

    def bound(self, low: Floats, high: Floats, one: Members, others: Sequence[Members]) -> Floats:
        return 3 * self.scale * low * _counts(one, others)


@dataclass(frozen=True, slots=True)
class FlatFat:
    """E·Σ f(r·E)."""

    scale: float

    def cost(self, edges: float, members: Members, slices: Slices) -> float:
        merges = float(_looked_up(np.multiply(edges, members.ranges)) @ members.times)
        if members.open:
            exact = np.array([edges * w.range for w in members.open])
            read = np.array([_opened(edges, w) for w in members.open])
            merges += float((_looked_up(read) - _looked_up(exact)).sum())
        return self.scale * edges * merges

    def bound(self, low: Floats, high: Floats, one: Members, others: Sequence[Members]) -> Floats:
        own = _least(low[:, None] * one.ranges, high[:, None] * one.ranges) @ one.times
        sizes = np.array([len(m.ranges) for m in others])
        theirs_ranges = np.concatenate([m.ranges for m in others])
        few, many = (np.repeat(each, sizes) * theirs_ranges for each in (low, high))
        if any(m.open for m in (one, *others)):  # ⌈P⌉ may be the next power of two
            own = _least(low[:, None] * one.ranges, np.inf) @ one.times
            many = np.full(len(few), np.inf)
        merges = _least(few, many) * np.concatenate([m.times for m in others])
        theirs = np.bincount(np.repeat(np.arange(len(others)), sizes), merges, len(others))
        return self.scale * low * (own + theirs)


@dataclass(frozen=True, slots=True)
class SlickInv:
    """2·E for each different range."""

    scale: float

    def cost(self, edges: float, members: Members, slices: Slices) -> float:
        whole = members.whole
        exact = set(_snapped(np.multiply(edges, whole, dtype=np.float64)).tolist())
        read = {_opened(edges, w) for w in members.open} - exact
        return 2 * self.scale * edges * (len(whole) + len(read))

    def bound(self, low: Floats, high: Floats, one: Members, others: Sequence[Members]) -> Floats:
        mine, theirs = one.whole, [m.whole for m in others]  # open ones may share one number
        new = ~np.isin(np.concatenate(theirs), mine)
        owners = np.repeat(np.arange(len(others)), [len(ranges) for ranges in theirs])
        different = len(mine) + np.bincount(owners, new, len(others))
        return 2 * self.scale * low * np.maximum(different, 1)


@dataclass(frozen=True, slots=True)
class SlickNonInv:
    """E·(2 - 2/P_max + Q + Σ 1/i!)."""

    scale: float

    def cost(self, edges: float, members: Members, slices: Slices) -> float:
        read = max((_opened(edges, w) for w in members.open), default=0.0)
        longest = _snapped(np.array([max(edges * members.ranges[-1], read)]))
        return self.scale * edges * (float(_deque(longest)[0]) + members.count)

    def bound(self, low: Floats, high: Floats, one: Members, others: Sequence[Members]) -> Floats:
        longest = np.maximum(one.ranges[-1], np.array([m.ranges[-1] for m in others]))
        return self.scale * low * (_deque(_snapped(low * longest)) + _counts(one, others))


@dataclass(frozen=True, slots=True)
class PerAggregate:
    """Σ over the aggregates, on the edges that end a slice with records of a key.

    These never fall when edges are added, so the bounds hold for them too.
    """

    model: WeaveCost
    parts: tuple[tuple[int, Final], ...]

    def cost(self, edges: float, members: Members, slices: Slices) -> float:
        filled = self.model.filled(edges)
        return sum(times * form.cost(filled, members, slices) for times, form in self.parts)

    def bound(self, low: Floats, high: Floats, one: Members, others: Sequence[Members]) -> Floats:
        low, high = self._fill(low), self._fill(high)
        bound = np.zeros(len(others))
        for times, form in self.parts:
            bound += times * form.bound(low, high, one, others)
        return bound

    def _fill(self, edges: Floats) -> Floats:
        rate = self.model.rate / self.model.unit_of_time
        return np.minimum(edges, np.maximum(rate, edges) / self.model.keys)


@dataclass(frozen=True, slots=True)
class PerRow:
    """Seconds for a row of the slices, and for a row of the results.

    rows(E)·(always + each·Q + moved·Σ r/s) + result·Σ held(w)

    Q windows scan the rows (the kernel: `each`), or take each row into r/s instances (expand:
    `moved`); `always` is what the slices themselves cost for a row.
    """

    statistics: Statistics
    each: float
    moved: float
    result: float = 0.0
    always: float = 0.0

    def cost(self, edges: float, members: Members, slices: Slices) -> float:
        known = self.statistics
        rows = occupied(known.keys * max(known.span * SECOND * edges, 1.0), known.rows)
        price = self.always + self.each * members.count + self.moved * members.overlap
        return rows * price + self._results(members)

    def bound(self, low: Floats, high: Floats, one: Members, others: Sequence[Members]) -> Floats:
        price = self.always + self.each * _counts(one, others)
        price = price + self.moved * _overlaps(one, others)
        bound = slice_rows(self.statistics, low) * price
        if self.result:
            bound += self._results(one) + np.array([self._results(m) for m in others])
        return bound

    def _results(self, members: Members) -> float:
        if not self.result:
            return 0.0
        return self.result * sum(map(self.statistics.held, members.windows))


def _counts(one: Members, others: Sequence[Members]) -> Floats:
    return one.count + np.array([m.count for m in others], dtype=np.float64)


def _overlaps(one: Members, others: Sequence[Members]) -> Floats:
    return one.overlap + np.array([m.overlap for m in others], dtype=np.float64)


def _snapped(partials: Floats) -> Floats:
    """Whole numbers of partials are whole: r·E in floats may miss them by the last digit."""
    whole = np.round(partials)
    return np.where(np.abs(partials - whole) <= 1e-9 * whole, whole, partials)


def _opened(edges: float, window: Window) -> float:
    """⌈r·E⌉."""
    return float(np.ceil(_snapped(np.array([edges * window.range])))[0])


def _looked_up(partials: Floats) -> Floats:
    """f of Equation 4; nothing at one partial, as in `muntin.cost.omega`."""
    p = np.maximum(_snapped(partials), 1.0)
    below = np.floor(np.log2(p))
    with np.errstate(divide="ignore"):
        levels = np.maximum(np.floor(np.log2(p - 1)), 0.0)
    return np.where(p <= 1, 0.0, levels + (p - 1) / 2.0**below)


def _least(partials: Floats, most: Floats | float) -> Floats:
    """The least that f is from `partials` to `most`: it falls only to its value at 2^k."""
    p = np.maximum(_snapped(partials), 1.0)
    below = np.floor(np.log2(p))
    at_next = below + 1 - 2.0 ** -(below + 1)
    falls = np.asarray(most) * (1 + 1e-9) >= 2.0 ** (below + 1)
    return np.where(falls, np.minimum(_looked_up(p), at_next), _looked_up(p))


_SUMS: Floats = np.cumsum([1 / factorial(i) for i in range(1, 21)])


def _deque(longest: Floats) -> Floats:
    longest = np.maximum(longest, 1.0)
    terms = np.minimum(np.ceil(longest), 20).astype(np.int64)
    return 2 - 2 / longest + _SUMS[terms - 1]

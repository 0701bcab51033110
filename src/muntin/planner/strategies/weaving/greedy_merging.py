"""Weaving: merge the two trees whose merge saves most, until none saves anything.

needs  a `Final` (cost of a tree's windows)      space  O(n²) for n trees to begin with
time   O(n) for each look and O(n·c) for each merge in vectors, and few edge rates: n is the number
       of different cuts, c how many trees had their best partner in the two that are merged

Section 2.4 of the bound paper. Written out, a merge asks for the edges of every pair of trees. Here

* windows with equal cuts begin as one tree: merging them saves λ, the most that any merge can save
  where Ω adds up and never falls, so the algorithm would merge them first. (SlickDeque's Ω does
  not add up, FlatFAT's may fall, and a merge may save more; equal cuts are still merged first.)
* gains are cached (`gain_table`); a merge changes those of one row only.
* a gain is first only bounded. A merged tree has at least max(E_i, E_j) edges, and at least
  E_i + E_j - Σ |a ∩ b| over the cuts a, b of both; the sums of a merged tree are the sums of its
  parts. An edge rate is computed when its bound is the largest of all, so that the merge taken is
  the one that the written-out algorithm takes. For two single cuts the second bound is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from muntin.cost.arrays import Floats
from muntin.cost.members import Final, Members
from muntin.plan.slicing import Cut, Slices, edge_rate
from muntin.plan.slicing.cuts import cut_everywhere
from muntin.plan.slicing.edges import edge_work
from muntin.planner.strategies.problem import UNLIMITED, Budget
from muntin.planner.strategies.weaving.gain_table import GainTable

EdgeRate = Callable[[Slices], float]
PATIENCE = 300
"""Steps for one exact edge rate while weaving; only unrelated slides need more."""
ROW = 60
"""Steps to bound the gains of one tree, beside those for each other tree."""


def planning_rate(slices: Slices) -> float:
    """Edges in a unit of the windows' numbers, estimated sooner than in a final cost."""
    return float(edge_rate(slices, PATIENCE))


@dataclass(frozen=True, slots=True, eq=False)
class Strand:
    """A tree that can be woven: its slices, its windows, and the strands it was made of."""

    slices: Slices
    members: Members
    numbers: frozenset[int]

    def merge(self, other: Strand) -> Strand:
        slices = Slices(_all_cuts(self.slices.cuts, other.slices.cuts), "shared pairs")
        return Strand(slices, self.members.join(other.members), self.numbers | other.numbers)


def _all_cuts(mine: tuple[Cut, ...], theirs: tuple[Cut, ...]) -> tuple[Cut, ...]:
    """The cuts of both without those within others: `cut_everywhere` for cuts of two trees."""
    if len(mine) * len(theirs) < 100:
        return cut_everywhere((*mine, *theirs)).cuts
    (steps, phases), (steps2, phases2) = (
        np.array([(c.step, c.phase) for c in cuts], dtype=np.int64).T for cuts in (mine, theirs)
    )
    apart = phases[:, None] - phases2
    of_mine = (steps2 % steps[:, None] == 0) & (apart % steps[:, None] == 0)
    of_theirs = (steps[:, None] % steps2 == 0) & (apart % steps2 == 0) & ~of_mine
    kept = [c for c, within in zip(mine, of_theirs.any(axis=1), strict=True) if not within]
    kept += [c for c, within in zip(theirs, of_mine.any(axis=0), strict=True) if not within]
    return tuple(sorted(kept))


class Loom:
    """One run of the algorithm over strands that are given; `merged` are slices on the way."""

    def __init__(
        self,
        strands: Sequence[Strand],
        slicing: float,
        final: Final,
        rate: EdgeRate = planning_rate,
        budget: Budget = UNLIMITED,
    ) -> None:
        cuts = sum(len(s.slices.cuts) for s in strands)
        budget.spend(100 * len(strands) + cuts**2 // 16)
        budget.require(len(strands) * (ROW + len(strands) // 8))
        self._budget, self.merged = budget, list[Slices]()
        self._strands, self._alive = list(strands), list(range(len(strands)))
        self._slicing, self._final, self._rate = slicing, final, rate
        self._edges = np.array([rate(s.slices) for s in strands])
        self._costs = np.array(
            [final.cost(e, s.members, s.slices) for e, s in zip(self._edges, strands, strict=True)]
        )
        self._common = common_edges([s.slices.cuts for s in strands])
        self._single = np.array([len(s.slices.cuts) == 1 for s in strands])
        self._exact = np.zeros((len(strands), len(strands)), dtype=np.bool_)
        self._gains = GainTable.of(self._all_bounds())

    def weave(self) -> list[Strand]:
        """The trees when no merge saves anything."""
        while True:
            i, j, gain = self._gains.largest()
            if not self._saves(gain):
                return [self._strands[i] for i in self._alive]
            self._look_at(i, j)

    def _saves(self, gain: float) -> bool:
        """Whether a gain is more than rounding."""
        return gain > 1e-12 * self._slicing

    def _look_at(self, i: int, j: int) -> None:
        """Compute the gain that is largest by its bound; merge if it is exact already."""
        one, other = self._strands[i], self._strands[j]
        self._budget.spend(80 + len(self._strands) // 50)
        both = one.merge(other)
        mine, theirs = len(one.slices.cuts), len(other.slices.cuts)
        self._budget.spend(mine + theirs + mine * theirs // 40)
        known = self._edges[i] + self._edges[j] - self._common[i, j]
        single = bool(self._single[i] and self._single[j])
        if not single:
            self._budget.spend(edge_work(both.slices, PATIENCE))
        edges = float(known) if single else self._rate(both.slices)
        cost = self._final.cost(edges, both.members, both.slices)
        if not self._exact[i, j]:
            gain = self._slicing + self._costs[i] + self._costs[j] - cost
            self._gains.lower(i, j, gain)
            self._exact[i, j] = self._exact[j, i] = True
            if gain < self._gains.largest()[2] or not self._saves(gain):
                return
        self._strands[i] = both
        self._alive.remove(j)
        self.merged.append(both.slices)
        self._edges[i], self._costs[i] = edges, cost
        self._single[i] = False  # even if one cut is left: sums over pairs count what it contains
        self._common[i] += self._common[j]
        self._common[:, i] += self._common[:, j]
        self._gains.drop(j)
        self._bound_row(i)

    def _all_bounds(self) -> Floats:
        """The bounds of every two trees, above the diagonal."""
        count = len(self._strands)
        bounds = np.full((count, count), -np.inf)
        for i in range(count - 1):
            bounds[i, i + 1 :] = self._bounds(i, self._alive[i + 1 :])
        return bounds

    def _bound_row(self, i: int) -> None:
        """The bounds of one tree with each other tree."""
        others = [j for j in self._alive if j != i]
        if others:
            self._gains.set_row(i, np.array(others), self._bounds(i, others))
            self._exact[i] = self._exact[:, i] = False

    def _bounds(self, i: int, others: list[int]) -> Floats:
        """Upper bounds on what merging tree i with each of the others saves."""
        self._budget.spend(ROW + len(others) // 4)
        one, members = self._strands[i].members, [self._strands[j].members for j in others]
        mine, theirs = self._edges[i], self._edges[others]
        edges = np.maximum(np.maximum(mine, theirs), mine + theirs - self._common[i, others])
        most = (mine + theirs) * (1 + 1e-12)
        least = self._final.bound(edges * (1 - 1e-12), most, one, members)
        bounds: Floats = self._slicing + self._costs[i] + self._costs[others] - least
        return bounds


def common_edges(sets: Sequence[Sequence[Cut]]) -> Floats:
    """For each two sets of cuts, how many edges their classes share, pair by pair.

    >>> shared = common_edges([[Cut(2, 0)], [Cut(3, 0), Cut(4, 1)]])
    >>> float(shared[0, 1] * 12)
    2.0
    """
    flat = [(i, cut) for i, cuts in enumerate(sets) for cut in cuts]
    owners = np.array([i for i, _ in flat])
    steps = np.array([cut.step for _, cut in flat], dtype=np.int64)
    phases = np.array([cut.phase for _, cut in flat], dtype=np.int64)
    found = np.zeros((len(sets), len(sets)))
    for owner, cut in flat:
        shared = np.gcd(steps, cut.step)
        meets = (phases - cut.phase) % shared == 0
        density = np.where(meets, shared / steps / cut.step, 0.0)
        found[owner] += np.bincount(owners, density, len(sets))
    return found

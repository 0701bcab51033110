"""Choose a subset of candidates so that the cheapest tree over them is cheap: a local search.

needs  static edge costs      time  O(candidates · chosen) a step, vectorised
space  the matrix of all edge costs

Finding the best set of factor windows is a directed Steiner tree problem, NP-hard (section 4.3 of
the factor-windows paper). But for a given set the best tree is easy: every window in it takes its
cheapest parent in it, as coverage has no cycles. So a set A is judged by

    total(A) = Σ over v in A of best(v),      best(v) = min over p in A ∪ {source} of cost[p, v]

and one step looks at every way to change it by one window, all at once. With second(v) the best
value without v's parent, and saved(f) = Σ over v in A of max(0, best(v) - cost[f, v]):

    add f         saves  saved(f) - best(f)
    drop g        saves  best(g) - Σ over children v of g of (second(v) - best(v))
    swap g for f  saves  both, with second in place of best for the children of g

When no step saves anything, two windows that pay only together are tried, and then to do without
each chosen factor window: forbid it, descend, allow it again, descend.

Invariant: the asked windows, nodes 0 … asked - 1, are always in A. Each accepted change lowers the
total, so the search ends; a budget of matrix cells bounds the work for very many windows, and
counts cells rather than seconds so that the same problem always gets the same plan.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from muntin.cost.arrays import Floats, Ints

GAIN = 1e-9
"""Changes that save less than this part of the total are rounding."""
STEP = 30_000
"""A step costs at least as much time as this many cells."""
CROWD = 24
"""Above so many factor windows that are better dropped, a quarter of them is dropped at once."""


class Moves(NamedTuple):
    """What each change would save: factor windows are numbered from 0, chosen ones by place."""

    add: Floats
    drop: Floats
    swap: Floats
    total: float


@dataclass(slots=True)
class SteinerSearch:
    """One search over nodes 0 … N-1; `source[v]` is the cost of v from the source.

    >>> inf = float("inf")                  # 20 and 30 minutes asked for, 10 minutes a candidate
    >>> cost = np.array([[inf, inf, inf], [inf, inf, inf], [12.0, 12.0, inf]])
    >>> search = SteinerSearch(cost, source=np.array([60.0, 60.0, 60.0]), asked=2)
    >>> search.descend(), search.chosen.tolist(), search.total
    (None, [0, 1, 2], 84.0)
    """

    cost: Floats
    source: Floats
    asked: int
    budget: float = 1e9
    chosen: Ints = field(init=False)
    forbidden: int = field(init=False, default=-1)

    def __post_init__(self) -> None:
        self.chosen = np.arange(self.asked)

    @property
    def total(self) -> float:
        """The cost of the cheapest tree over the chosen nodes."""
        edges = self.cost[np.ix_(self.chosen, self.chosen)].min(axis=0)
        return float(np.minimum(edges, self.source[self.chosen]).sum())

    def start(self, nodes: Iterable[int]) -> None:
        """Begin from the asked windows and these."""
        self.chosen = np.unique(np.concatenate([np.arange(self.asked), [*nodes]]).astype(np.int64))

    def descend(self) -> None:
        """Take the step that saves most as long as one saves and the budget lasts."""
        while self.budget > 0 and self._step():
            pass

    def improve(self) -> None:
        """Descend, try pairs, and try to do without each chosen factor window."""
        self.descend()
        while self.budget > 0 and (self._add_two() or self._do_without_one()):
            self.descend()

    def moves(self) -> Moves:
        """Every change by one window."""
        asked, chosen = self.asked, self.chosen
        factors = chosen[asked:]
        self.budget -= STEP + 4 * len(chosen) * len(self.source)
        best, second, parent = self._two_best()
        offered = self.cost[asked:, chosen]
        saved = np.maximum(best[chosen] - offered, 0.0)
        add = saved.sum(axis=1)
        drop = best[factors] - self._by_parent((second - best)[None, chosen], parent)[0]
        more = self._by_parent(np.maximum(second[chosen] - offered, 0.0) - saved, parent)
        more -= saved[:, asked:]
        without = parent[asked:, None] == np.arange(asked, len(chosen))
        own = np.where(without, second[asked:, None], best[asked:, None])
        swap = drop + add[:, None] + more - own
        add -= best[asked:]
        for taken in (factors - asked, [self.forbidden - asked] if self.forbidden >= 0 else []):
            add[taken] = swap[taken] = -np.inf
        return Moves(add, drop, swap, float(best[chosen].sum()))

    def _two_best(self) -> tuple[Floats, Floats, Ints]:
        """For every node its best and second best value, and the place of its parent in A."""
        edges = np.vstack([self.cost[self.chosen], self.source])
        nodes = np.arange(len(self.source))
        parent = edges.argmin(axis=0)
        best = edges[parent, nodes]
        edges[parent, nodes] = np.inf
        # The source is never lost; its own second best is not needed, and would be infinite.
        second = np.where(parent == len(self.chosen), best, edges.min(axis=0))
        return best, second, parent

    def _by_parent(self, values: Floats, parent: Ints) -> Floats:
        """Sums of the chosen nodes' columns over the children of each chosen factor window."""
        place = parent[self.chosen]
        order = np.argsort(place, kind="stable")
        firsts = np.flatnonzero(np.diff(place[order], prepend=-1))
        sums = np.zeros((len(values), len(self.chosen) + 1))
        sums[:, place[order][firsts]] = np.add.reduceat(values[:, order], firsts, axis=1)
        return sums[:, self.asked : -1]

    def _step(self) -> bool:
        add, drop, swap, total = self.moves()
        if len(add) == 0:
            return False
        asked, chosen = self.asked, self.chosen
        poor = np.flatnonzero(drop > GAIN * total)
        if len(poor) > CROWD:
            worst = poor[np.argsort(-drop[poor], kind="stable")[: len(poor) // 4]]
            self.chosen = np.delete(chosen, asked + worst)
            return True
        gains = [add.max(), drop.max(initial=-np.inf), swap.max(initial=-np.inf)]
        if max(gains) <= GAIN * total:
            return False
        match int(np.argmax(gains)):
            case 0:
                self.chosen = self._with(chosen, int(add.argmax()))
            case 1:
                self.chosen = np.delete(chosen, asked + int(drop.argmax()))
            case _:
                new, old = np.unravel_index(int(swap.argmax()), swap.shape)
                self.chosen = self._with(np.delete(chosen, asked + int(old)), int(new))
        return True

    def _with(self, chosen: Ints, factor: int) -> Ints:
        return np.sort(np.append(chosen, self.asked + factor))

    def _add_two(self) -> bool:
        """Two factor windows that pay only together, the first among those that lose least."""
        kept = self.chosen
        first, _, _, total = self.moves()
        for factor in np.argsort(-first, kind="stable")[:CROWD]:
            self.chosen = self._with(kept, int(factor))
            add = self.moves().add
            if first[factor] + add.max() > GAIN * total:
                self.chosen = self._with(self.chosen, int(add.argmax()))
                return True
            if self.budget <= 0:
                break
        self.chosen = kept
        return False

    def _do_without_one(self) -> bool:
        """A chosen factor window without which the search ends cheaper."""
        kept, before = self.chosen, self.total
        for factor in kept[self.asked :].tolist():
            self.forbidden, self.chosen = factor, kept[kept != factor]
            self.descend()
            self.forbidden = -1
            self.descend()
            if self.total < before * (1 - GAIN):
                return True
            if self.budget <= 0:
                break
        self.chosen = kept
        return False

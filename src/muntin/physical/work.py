"""The work of a plan by each operator: what it makes Spark do, counted (muntin.cost.spark).

    window   every window reads all rows, copies each into its instances and groups
    expand   the first level groups the source; each level explodes partials and groups again
    kernel   the same first level; its groups go to Python once, and only results come back

A value is one column of a row: what is moved are keys, node, start and partials together.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from muntin.aggregates.columns import columns_of
from muntin.cost.spark import Work
from muntin.cost.statistics import SECOND, Statistics
from muntin.coverage import Pieces
from muntin.kernels.tree import Branch
from muntin.physical.forest import disjoint, forest
from muntin.plan import Shape, SharingPlan
from muntin.query import Query
from muntin.windows import Window

HALO = 1.25
"""A quarter of the pieces go to two chunks of time."""
CHUNK_RANGES = 4
"""A chunk is this many times the widest range."""


def partial_count(query: Query) -> int:
    """How many partial columns the aggregates that are shared have; one where none is."""
    shared = [a for a in query.aggregates if not a.function.holistic]
    return max(len(columns_of(shared, lambda _: None).partials), 1)


@dataclass(frozen=True, slots=True)
class Counter:
    """Counts the work of a query's plans over data with these statistics, on so many cores."""

    query: Query
    statistics: Statistics
    cores: int = 2

    @property
    def partials(self) -> int:
        """How many partial columns there are."""
        return partial_count(self.query)

    @property
    def width(self) -> int:
        """Values in a row of partials: the keys, node, start, and the partials."""
        return len(self.query.keys) + 2 + self.partials

    def window(self) -> Work:
        """Spark's own queries in a union."""
        rows, windows = self.statistics.rows, self.query.windows
        copies = sum(rows * ceil(w.overlap) for w in windows if not w.tumbling)
        held = sum(self.statistics.held(w) for w in windows)
        return Work(
            stage=len(windows),
            read=rows * len(windows),
            windowed=copies,
            grouped=held * self.width,
        )

    def expand(self, plan: SharingPlan) -> Work:
        """Level by level; windows that are finished are handed on by every level below them."""
        first, below = self._first(plan), [n for n in plan.edges() if n[1].parent is not None]
        exploded = sum(self._fed(parent, n.shape, n.pieces) for parent, n in below)
        entered = sum(self.statistics.held(parent) for parent, _ in below)
        finished = regrouped = 0.0
        for depth, level in enumerate(plan.levels()):
            exploded += finished
            entered += finished
            if depth:
                regrouped += finished + sum(self.statistics.held(n.shape) for n in level)
            finished += sum(self.statistics.held(n.shape) for n in level if not n.hidden)
        return Work(
            stage=len(plan.levels()),
            level=len(plan.levels()) - 1,
            read=first.read,
            copied=first.copied,
            grouped=first.grouped + regrouped * self.width,
            entered=entered,
            exploded=exploded * self.width,
        )

    def kernel(self, plan: SharingPlan) -> Work:
        """One scan of its pieces for each window, one combine and one row for each result."""
        if len(plan.levels()) == 1 and not any(a.function.in_python for a in self.query.aggregates):
            return self.expand(plan)  # nothing is left for Python to do
        first, grown = self._first(plan), forest(plan) or {}
        widest = max((b.widest for branches in grown.values() for b in branches), default=1)
        chunks = max(self.statistics.span * SECOND / (CHUNK_RANGES * widest), 1.0)
        lanes = min(self.cores, self.statistics.keys * chunks * len(grown))
        idle = self.cores / max(lanes, 1.0)
        scanned = returned = 0.0
        for number, branches in grown.items():
            held = self.statistics.held(plan.nodes[number].shape)
            scanned += self._scanned(branches, held)
            returned += self._returned(branches) + (0 if plan.nodes[number].hidden else held)
        return Work(
            stage=2,
            worker=1,
            read=first.read,
            copied=first.copied,
            grouped=first.grouped,
            shipped=first.grouped * HALO * idle,
            scanned=scanned * self.partials * idle,
            returned=returned * self.width * idle,
        )

    def _first(self, plan: SharingPlan) -> Work:
        roots, rows = plan.children(None), self.statistics.rows
        alone = len(roots) == 1 and disjoint(roots[0])
        copies = sum(ceil(n.shape.overlap) if isinstance(n.shape, Window) else 1 for n in roots)
        held = sum(self.statistics.held(n.shape) for n in roots)
        return Work(read=rows, copied=0.0 if alone else rows * copies, grouped=held * self.width)

    def _fed(self, parent: Shape, child: Shape, pieces: Pieces) -> float:
        """How many pieces are exploded: the parent's rows times the instances that each feeds."""
        held = self.statistics.held(parent)
        if not isinstance(child, Window):
            return held
        if isinstance(parent, Window):
            return held * pieces.count * parent.slide / child.slide
        return held * child.overlap

    def _scanned(self, branches: tuple[Branch, ...], held: float) -> float:
        own = {b: self.statistics.held(b.window) for b in branches if b.branches}
        return held * len(branches) + sum(self._scanned(b.branches, n) for b, n in own.items())

    def _returned(self, branches: tuple[Branch, ...]) -> float:
        own = sum(self.statistics.held(b.window) for b in branches if b.asked)
        return own + sum(self._returned(b.branches) for b in branches)

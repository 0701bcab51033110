"""Seconds, edge by edge: what strategies minimise for the operator that will run the plan.

An operator's exact work is known only for a whole plan (`muntin.physical`). A search needs the cost
of each edge by itself: the part of that work that depends on who feeds whom, priced with the
constants of the machine (`muntin.cost.spark`). `held` is how many rows a node has.

    edge                 expand, and SQL                           kernel
    source → slices      copied·rows + grouped·held                the same + shipped·held·HALO
    source → window      copied·rows·(r/s) + grouped·held          the same + shipped·held·HALO
    parent → slices      (entered + exploded)·held(parent)         scanned·held(parent)
                         + grouped·held(child)
    slices → window      entered·held(parent) + exploded·fed       scanned·(2·held(parent)
                         + grouped·held(child)                     + held(child))
    window → window      the same                                  the same; from a parent that
                                                                   overlaps itself GATHER times
                                                                   that, or as much for each of
                                                                   pieces·held(child)

Expand moves every piece into each instance that it feeds (`fed` pieces in all), so it pays for
overlap. The kernel scans a parent's pieces twice, by blocks as long as the child, and combines two
values a result, whatever the overlap (van Herk, 1992): its best trees are ladders, where each
window stands on the coarsest pieces that serve it. From few pieces that overlap it gathers instead.
Grouped, exploded and shipped count values (`width` in a row), scanned counts partial columns.
Results that come back from Python are the same for every plan, and left out.

Expand takes slices whole: a plan that reads open slices is priced as it runs, closed. The kernel
adds `opened` to such an edge; the fragments of open slices are priced as it runs, refined.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from muntin.cost.spark import SHIPPED, Constants
from muntin.cost.statistics import Statistics
from muntin.model.windows import Window
from muntin.plan import Shape
from muntin.plan.coverage import EdgeKind, EdgePieces, Source
from muntin.plan.slicing import Slices

HALO = 1.25
"""A quarter of the pieces go to two chunks of time."""
GATHER = 4.5
"""How many times as long a step takes along the chains of a parent that overlaps itself."""
OPEN = 2
"""Steps that the running partial of an open slice costs: a fragment, and a result that reads it."""
SCANS = 3
"""`Constants.scanned` pays for a piece: two scans and one combine. Here each is counted."""

Number = TypeVar("Number", float, NDArray[np.float64])
"""One edge, or a matrix of edges: the formulas are the same."""


@dataclass(frozen=True, slots=True)
class Seconds:
    """What both models rest on; `partials` columns, in rows of `width` values."""

    statistics: Statistics
    constants: Constants = SHIPPED
    partials: int = 1
    width: int = 3
    name: str = "seconds"
    unit: str = "s"
    fewest: bool = True

    @property
    def level(self) -> float:
        """Levels cost what is on them."""
        return 0.0

    @property
    def copy(self) -> float:
        """A copy of every record."""
        return self.constants.copied * self.statistics.rows


@dataclass(frozen=True, slots=True)
class ExpandCost(Seconds):
    """Rows moved from level to level by Spark, or by another engine's SQL.

    >>> from muntin.plan.coverage import SOURCE, every
    >>> unit = Constants(copied=1, grouped=1, entered=1, exploded=1)
    >>> model = ExpandCost(Statistics(rows=6000, rate=100), unit, width=1)        # of one minute
    >>> minute, hour = Window("1 minute", "1 minute"), Window("1 hour", "1 minute")
    >>> round(model.edge(SOURCE, minute, every(minute.range)))                    # 6,000 + 2
    6002
    >>> round(model.edge(minute, hour, every(60)))                                # 2 + 2·60 + 61
    183
    """

    @property
    def level(self) -> float:
        """A grouping more, for all rows that there are."""
        return self.constants.stage + self.constants.level

    @property
    def kept(self) -> float:
        """A row that a node holds."""
        return self.constants.grouped * self.width

    @property
    def first(self) -> float:
        """A row that a node holds which reads the source."""
        return self.kept

    @property
    def moved(self) -> float:
        """A piece that is moved into one instance."""
        return self.constants.exploded * self.width

    def edge(self, parent: Shape, child: Slices | Window, pieces: EdgePieces) -> float:
        """Records or pieces moved, and rows grouped."""
        held = self.statistics.held
        copies = child.overlap if isinstance(child, Window) else 1.0
        match parent, child:
            case Source(), _:
                return self.copy * copies + self.first * held(child)
            case Window(), Window():
                feeds = pieces.count * parent.slide / child.slide
                return self.combined(held(parent), feeds, held(child))
            case _:
                return self.combined(held(parent), copies, held(child))

    def combined(self, parent: Number, feeds: Number, child: Number) -> Number:
        """So many rows from so many of the parent, each of which feeds so many instances."""
        return parent * (self.constants.entered + self.moved * feeds) + self.kept * child


@dataclass(frozen=True, slots=True)
class KernelCost(Seconds):
    """EdgePieces scanned in Python, after one grouping of the source by Spark.

    >>> from muntin.plan.coverage import every
    >>> model = KernelCost(Statistics(rows=6000, rate=100), Constants(scanned=3))   # of one minute
    >>> minute, hour = Window("1 minute", "1 minute"), Window("1 hour", "1 minute")
    >>> round(model.edge(minute, hour, every(60)))                                  # 2·2 + 61
    65
    """

    @property
    def first(self) -> float:
        """A row that a node holds which reads the source: grouped, and handed to Python."""
        return (self.constants.grouped + self.constants.shipped * HALO) * self.width

    @property
    def step(self) -> float:
        """A partial of every column scanned, or combined."""
        return self.constants.scanned / SCANS * self.partials

    def edge(self, parent: Shape, child: Slices | Window, pieces: EdgePieces) -> float:
        """Rows grouped, or pieces scanned and results combined."""
        held = self.statistics.held
        match parent, child:
            case Source(), Window():
                return self.copy * child.overlap + self.first * held(child)
            case Source(), _:
                return self.copy + self.first * held(child)
            case _, Slices():
                return self.step * held(parent)
            case Window(), Window() if not parent.tumbling:
                return self.gathered(held(parent), float(pieces.count), held(child))
            case _:
                scanned = self.scanned(held(parent), held(child))
                if pieces.kind is EdgeKind.PREFIX and isinstance(parent, Slices):
                    return scanned + self.step * opened(parent, held(parent), held(child))
                return scanned

    def scanned(self, parent: Number, child: Number) -> Number:
        """Two scans of the pieces, one combine a result."""
        return self.step * (2.0 * parent + child)

    def gathered(self, parent: Number, pieces: Number, child: Number) -> Number:
        """The scans of chains, or every piece of every result looked up."""
        steps: Number = np.minimum(2.0 * parent + child, pieces * child)
        return self.step * GATHER * steps


def opened(slices: Slices, parent: float, child: float) -> float:
    """Steps more for so many results that read an open slice, of so many pieces of the parent.

    Slices that other windows begin are scanned once more, by the slides of the window.
    """
    return OPEN * child + (parent if len(slices.cuts) > 1 else 0.0)

"""The window coverage graph: which windows can be computed from which others.

An edge (parent, child) stands wherever the child is covered by the parent (idempotent aggregates)
or partitioned by it (all others), section 2.3 of the factor-windows paper; the virtual root of its
augmented graph (section 4.1) is the source, from which every window can be computed.

Candidate parents are looked up by vectorised arithmetic on all pairs at once, so that a thousand
windows take milliseconds; the edges that survive get their pieces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import rustworkx as rx

from muntin.model.windows import Window
from muntin.plan.coverage import SOURCE, Pieces, Source, covering_pieces, every, fewest_pieces


@dataclass(frozen=True, slots=True)
class Coverage:
    """How a child is computed from a parent."""

    parent: Source | Window
    child: Window
    pieces: Pieces


class CoverageGraph:
    """The augmented WCG over a set of windows.

    >>> graph = CoverageGraph([Window(10, 10), Window(20, 20), Window(30, 30)], idempotent=True)
    >>> [str(edge.parent) for edge in graph.parents(Window(30, 30))]
    ['source', 'W(10, 10)']
    """

    def __init__(self, windows: Sequence[Window], idempotent: bool, fewest: bool = True) -> None:
        self.windows = tuple(windows)
        self.idempotent = idempotent
        self._pieces = fewest_pieces if fewest else covering_pieces
        self.graph: rx.PyDiGraph[Source | Window, Pieces] = rx.PyDiGraph(multigraph=False)
        root = self.graph.add_node(SOURCE)
        self._index = {w: self.graph.add_node(w) for w in self.windows}
        for window, index in self._index.items():
            self.graph.add_edge(root, index, every(window.range))
        for child, parent in _aligned_pairs(self.windows):
            pieces = self.pieces(child, parent)
            if pieces is not None:
                self.graph.add_edge(self._index[parent], self._index[child], pieces)

    def pieces(self, child: Window, parent: Window) -> Pieces | None:
        """The pieces of the parent that make the child, or None if there is no such edge."""
        return self._pieces(child, parent, disjoint=not self.idempotent)

    def parents(self, child: Window) -> list[Coverage]:
        """Everything that the child can be computed from, the source first."""
        index = self._index[child]
        edges = sorted(self.graph.in_edges(index))
        return [Coverage(self.graph[source], child, pieces) for source, _, pieces in edges]

    def children(self, parent: Source | Window) -> list[Window]:
        """The windows that can be computed from the parent, in the order they were given."""
        index = 0 if isinstance(parent, Source) else self._index[parent]
        children = [self.graph[i] for i in sorted(self.graph.successor_indices(index))]
        return [w for w in children if isinstance(w, Window)]


def _aligned_pairs(windows: Sequence[Window]) -> list[tuple[Window, Window]]:
    """All (child, parent) pairs that satisfy Theorem 1, except a window with itself."""
    ranges = np.array([w.range for w in windows], dtype=np.int64)
    slides = np.array([w.slide for w in windows], dtype=np.int64)
    offsets = np.array([w.offset for w in windows], dtype=np.int64)
    gap = ranges[:, None] - ranges[None, :]
    covered = (
        (gap >= 0)
        & (gap % slides == 0)
        & (slides[:, None] % slides == 0)
        & ((offsets[:, None] - offsets) % slides == 0)
    )
    np.fill_diagonal(covered, False)
    return [(windows[child], windows[parent]) for child, parent in np.argwhere(covered).tolist()]

"""The cost of every edge between two lists of windows, as one matrix.

time  O(parents · children), vectorised      needs  lengths below 2⁶³

The matrix says what `coverage` says pair by pair: which windows can be computed from which, and
from how many pieces (Theorems 1, 3 and 4, or the fewest pieces); infinity where there is no edge.
A window is never its own parent.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from muntin.cost import CostModel
from muntin.cost.arrays import Floats, Ints, WindowArrays, edge_matrix
from muntin.model.windows import Window

BLOCK = 512
"""Windows whose edges are weighed at once: bounds the size of the matrix."""


def piece_counts(
    parents: WindowArrays, children: WindowArrays, disjoint: bool, fewest: bool
) -> Ints:
    """How many pieces of each parent (row) make each child (column); 0 for no edge.

    >>> table = WindowArrays.rows([(60, 1, 0), (1440, 1, 0)])
    >>> piece_counts(table, table, disjoint=True, fewest=True).tolist()
    [[0, 24], [0, 0]]
    >>> piece_counts(table, table, disjoint=False, fewest=False).tolist()
    [[0, 1381], [0, 0]]
    """
    length, slide = parents.range[:, None], parents.slide[:, None]
    gap = children.range[None, :] - length
    edge = (gap >= 0) & ((gap > 0) | (children.slide[None, :] != slide))
    edge &= children.slide[None, :] % slide == 0
    rows, columns = np.nonzero(edge)  # the rest is computed only where slides divide
    length, slide, gap = parents.range[rows], parents.slide[rows], gap[rows, columns]
    aligned = (gap % slide == 0) & ((children.offset[columns] - parents.offset[rows]) % slide == 0)
    if fewest:
        stride = length // slide * slide
        counts = 1 + -(-gap // stride)
        tiling = (gap % length == 0) & (stride == length)
    else:
        counts = 1 + gap // slide
        tiling = length == slide
    if disjoint:
        aligned &= (gap == 0) | tiling
    matrix = np.zeros(edge.shape, dtype=np.int64)
    matrix[rows, columns] = np.where(aligned, counts, 0)
    return matrix


def children_of(windows: Sequence[Window], idempotent: bool, fewest: bool) -> list[list[int]]:
    """For each window the places of those that can be computed from it, in the order given.

    >>> children_of([Window(20, 20), Window(10, 10), Window(30, 30)], True, True)
    [[], [0, 2], []]
    """
    table, found = WindowArrays.of(windows), list[list[int]]()
    for first in range(0, len(table), BLOCK):
        block = table.take(np.arange(first, min(first + BLOCK, len(table))))
        edges = piece_counts(block, table, not idempotent, fewest) > 0
        found += [np.flatnonzero(row).tolist() for row in edges]
    return found


def edge_costs(
    cost: CostModel, parents: WindowArrays, children: WindowArrays, idempotent: bool, fewest: bool
) -> Floats:
    """The cost of each child (column) from each parent (row); infinity for no edge."""
    counts = piece_counts(parents, children, not idempotent, fewest)
    return np.where(counts > 0, edge_matrix(cost, parents, children, counts), np.inf)

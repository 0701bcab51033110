"""What kernels take and give: pieces of groups, sorted, and the instances made of them.

A group is a key, numbered. Pieces of one node are sorted by group and start; they may overlap if
the node is a window that overlaps itself. `origin` is the position in the input of a row of the
same group, so that a caller finds the key again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from muntin.kernels.monoids import Array, Arrays
from muntin.model.windows import Window


@dataclass(frozen=True, slots=True)
class Pieces:
    """Pieces of one node, sorted by group and start, with a tuple of arrays for each column."""

    group: Array
    start: Array
    origin: Array
    columns: tuple[Arrays, ...]

    def take(self, rows: Array) -> Pieces:
        """These rows, in this order."""
        columns = tuple(tuple(a[rows] for a in arrays) for arrays in self.columns)
        return Pieces(self.group[rows], self.start[rows], self.origin[rows], columns)

    def within(self, low: Bound, high: Bound) -> Pieces:
        """The pieces that start in [low, high), bounds of all groups or of each."""
        first, stop = bound_of(low, self.group), bound_of(high, self.group)
        inside = (self.start >= first) & (self.start < stop)
        return self if inside.all() else self.take(np.flatnonzero(inside))

    def between(self, rows: slice) -> Pieces:
        """These neighbours, without a copy."""
        columns = tuple(tuple(a[rows] for a in arrays) for arrays in self.columns)
        return Pieces(self.group[rows], self.start[rows], self.origin[rows], columns)


@dataclass(frozen=True, slots=True)
class Results:
    """Instances, or slices, of one node: a portion of them, in any order.

    With `times` each stands for so many neighbours, a slide apart, of which it is the first.
    """

    node: int
    group: Array
    start: Array
    origin: Array
    columns: tuple[Arrays, ...]
    times: Array | None = None

    def where(self, keep: Array) -> Results:
        """Only those that are marked."""
        columns = tuple(tuple(a[keep] for a in arrays) for arrays in self.columns)
        kept = self.group[keep], self.start[keep], self.origin[keep]
        times = None if self.times is None else self.times[keep]
        return Results(self.node, *kept, columns, times)


Bound = int | Array
"""An instant for all groups, or one for each group by its number."""
Bounds = tuple[Bound, Bound]


def bound_of(bound: Bound, group: Array) -> Bound:
    """The bound of each of these groups."""
    return bound[group] if isinstance(bound, np.ndarray) and bound.ndim else bound


Keep = Callable[[Array, Array, Window], Array]
"""Which instances to emit, given their group, start and window."""


def as_pieces(parts: Sequence[Results]) -> Pieces:
    """The results of a node as pieces for the nodes below it."""
    columns = tuple(
        tuple(np.concatenate(arrays) for arrays in zip(*column, strict=True))
        for column in zip(*(part.columns for part in parts), strict=True)
    )
    group, start, origin = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("group", "start", "origin")
    )
    pieces = Pieces(group, start, origin, columns)
    return pieces if _is_sorted(group, start) else pieces.take(np.lexsort((start, group)))


def _is_sorted(group: Array, start: Array) -> bool:
    later = (group[1:] > group[:-1]) | ((group[1:] == group[:-1]) & (start[1:] >= start[:-1]))
    return bool(later.all())

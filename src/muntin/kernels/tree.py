"""Evaluate a whole tree of windows over sorted slices.

Every window is computed from its nearest ancestor whose pieces do not overlap (slices, or a
tumbling window): two scans and one combine a result, however much it overlaps itself. The results
of a tumbling window are slices again, fewer than before, for the windows below it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from muntin.kernels.evaluate import Halves, Scans, Segments, Unscanned
from muntin.kernels.instances import Instances, instances
from muntin.kernels.monoids import Array, Arrays, Monoid
from muntin.windows import Window

FEW = 3
"""Up to this many instances of a group are reduced one by one."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A window to compute from disjoint pieces, and the windows computed from its results."""

    node: int
    window: Window
    asked: bool
    branches: tuple[Branch, ...] = ()

    @property
    def widest(self) -> int:
        """The longest range in this branch."""
        return max(self.window.range, *(b.widest for b in self.branches), 0)


@dataclass(frozen=True, slots=True)
class Pieces:
    """Disjoint pieces, sorted by group and start; `origin` is each one's position in the input."""

    group: Array
    start: Array
    origin: Array
    columns: tuple[Arrays, ...]


@dataclass(frozen=True, slots=True)
class Results:
    """Instances of one node: their starts, a position in the input of the same group, partials."""

    node: int
    start: Array
    origin: Array
    columns: tuple[Arrays, ...]


Wanted = Callable[[Array, Array, Window], Array]
"""Which instances to emit, given their group, start and window."""


Between = Callable[[Window], tuple[int, int]]
"""The first and the last begin of a window's wanted instances; the last is before the first where
none is wanted."""


def evaluate_tree(
    branches: tuple[Branch, ...],
    pieces: Pieces,
    monoids: tuple[Monoid, ...],
    wanted: Wanted,
    between: Between | None = None,
) -> Iterator[Results]:
    """The wanted instances of every window that was asked for, in portions.

    Where they are known to lie between two begins, only the pieces there are looked at.
    """
    everything = pieces
    for branch in branches:
        limits = between(branch.window) if between and not branch.branches else None
        pieces = everything if limits is None else _within(everything, branch.window, limits)
        if not len(pieces.start):
            continue
        scans = _scans(pieces, branch.window, monoids, limits)
        below: list[Results] = []
        for found in instances(pieces.group, pieces.start, branch.window, between=limits):
            whose = pieces.group[found.first]
            keep = wanted(whose, found.start, branch.window) if branch.asked else None
            if branch.branches:
                results = _results(branch, found, pieces, scans)
                below.append(results)
                if keep is not None:
                    yield _where(results, keep)
            elif keep is not None:
                yield _results(branch, found.where(keep), pieces, scans)
        if below:
            inner = _as_pieces(below, pieces)
            yield from evaluate_tree(branch.branches, inner, monoids, wanted, between)


def _scans(
    pieces: Pieces, window: Window, monoids: tuple[Monoid, ...], limits: tuple[int, int] | None
) -> Sequence[Scans | Unscanned]:
    columns = zip(pieces.columns, monoids, strict=True)
    if limits is not None and (limits[1] - limits[0]) // window.slide < FEW:
        return [Unscanned(column, monoid) for column, monoid in columns]
    segments = Segments.of(pieces.group, pieces.start, window)
    return [segments.scan(column, monoid) for column, monoid in columns]


def _within(pieces: Pieces, window: Window, limits: tuple[int, int]) -> Pieces:
    """The pieces that lie in the instances between two begins."""
    low, high = limits
    inside = (pieces.start >= low) & (pieces.start < high + window.range) & (low <= high)
    if inside.all():
        return pieces
    rows = np.flatnonzero(inside)
    columns = tuple(tuple(a[rows] for a in arrays) for arrays in pieces.columns)
    return Pieces(pieces.group[rows], pieces.start[rows], pieces.origin[rows], columns)


def _results(
    branch: Branch, found: Instances, pieces: Pieces, scans: Sequence[Scans | Unscanned]
) -> Results:
    halves = Halves.of(found, pieces.start, branch.window)
    columns = tuple(scan.at(found, halves) for scan in scans)
    return Results(branch.node, found.start, pieces.origin[found.first], columns)


def _where(results: Results, keep: Array) -> Results:
    columns = tuple(tuple(a[keep] for a in arrays) for arrays in results.columns)
    return Results(results.node, results.start[keep], results.origin[keep], columns)


def _as_pieces(below: list[Results], pieces: Pieces) -> Pieces:
    """The results of a tumbling window as pieces for the windows below it."""
    origin = np.concatenate([r.origin for r in below])
    group = pieces.group[np.searchsorted(pieces.origin, origin)]
    columns = tuple(
        tuple(np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        for parts in zip(*(r.columns for r in below), strict=True)
    )
    return Pieces(group, np.concatenate([r.start for r in below]), origin, columns)

"""Windows over pieces that lie on a grid: no index, whole arrays at a time.

order  pieces sorted by group and start      needs  a monoid, which need not commute
time   one pass to lay the pieces out, then `sliding`: a few passes over the cells

Cells are as long as the greatest step that the pieces and the window have in common: a window is n
cells, its slide m. Pieces of a group that an instance may hold together are a run; all runs stand
on one line of cells, holes filled with the identity:

    run 1                      run 2
    · · · a b · c              · · · d e f            n = 4, m = 1
    ╰ every cell is the begin of an instance of the run before it or of its own

Between two runs there is room for the instances that begin before the second, so an instance never
holds pieces of both, and the k-th instance of the line is the window of n cells that begins at cell
k · m. Where n is a multiple of m, cells are first combined m by m.

A grid pays where most of its cells hold a piece or begin an instance; elsewhere pieces are
enumerated (`kernels.instances`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import gcd

import numpy as np

from muntin.kernels.monoids import Array, Arrays, Monoid, Ufuncs
from muntin.kernels.pieces import Bounds, Pieces, bound_of
from muntin.model.windows import Window

SPARSE = 4
"""A grid may have so many cells for each piece and each instance."""
PORTION = 1_000_000
"""About so many cells are filled at a time."""


@dataclass(frozen=True)
class Grid:
    """Some runs of pieces on one line of cells."""

    pieces: Pieces
    window: Window
    step: int
    place: Array
    """The cell of every piece."""
    first: Array
    """The first piece of each run."""
    begin: Array
    """The first instance of each run, in cells of time."""
    count: Array
    """The instances of each run."""
    room: Array
    """How many instances would fit before the next run begins: at least `count`."""

    def instances(self) -> tuple[Array, Array, Array]:
        """The group, start and origin of every instance, in order."""
        slide, pieces = self.window.slide, self.pieces
        ends = np.cumsum(self.count)
        base = self.begin * self.step + self.window.offset - (ends - self.count) * slide
        start = np.arange(int(ends[-1]), dtype=np.int64) * slide
        start += np.repeat(base, self.count)
        group, origin = (
            np.repeat(column[self.first], self.count) for column in (pieces.group, pieces.origin)
        )
        return group, start, origin

    def evaluate(self, arrays: Arrays, monoid: Monoid) -> Arrays:
        """The partial of every instance."""
        n, m = self.window.range // self.step, self.window.slide // self.step
        total = int(self.room.sum())
        cells = (total + -(-n // m)) * m
        line = tuple(
            _filled(array, self.place, cells, nothing)
            for array, nothing in zip(arrays, monoid.identity, strict=True)
        )
        if m > 1 and n % m == 0:
            line, n, m = monoid.reduce(tuple(a.reshape(-1, m) for a in line)), n // m, 1
        if n > 1:
            line = monoid.slide(line, n)
        found, kept = tuple(a[: total * m : m] for a in line), self._kept
        return found if kept is None else tuple(a.take(kept) for a in found)

    def held(self) -> Array:
        """How many pieces every instance holds."""
        ones = np.ones(len(self.place), dtype=np.int64)
        return self.evaluate((ones,), _COUNTING)[0]

    @cached_property
    def _kept(self) -> Array | None:
        """The places of instances among those that would fit; None where there is no more room."""
        spare = self.room - self.count
        if not spare.any():
            return None
        before = np.cumsum(spare) - spare
        kept: Array = np.arange(int(self.count.sum())) + np.repeat(before, self.count)
        return kept


def grids(pieces: Pieces, window: Window, limits: Bounds | None) -> Iterator[Grid] | None:
    """Pieces on grids of bounded size, or None where a grid would not pay.

    `limits` are the begins of the first and the last instance wanted, of all groups or of each.
    """
    step = _step(pieces.start - window.offset, window)
    n, m = window.range // step, window.slide // step
    cell = (pieces.start - window.offset) // step
    apart = (np.diff(cell) >= n) | (pieces.group[1:] != pieces.group[:-1])
    first = np.concatenate(([0], np.flatnonzero(apart) + 1))
    oldest, newest = cell[first], cell[np.append(first[1:], len(cell)) - 1]
    begin, end = (oldest - n) // m * m + m, newest // m * m
    if limits is not None:
        group = pieces.group[first]
        low, high = ((bound_of(x, group) - window.offset) // step for x in limits)
        begin, end = np.maximum(begin, low), np.minimum(end, high)
    count = (end - begin) // m + 1
    room = np.maximum(count, -(-(newest + 1 - begin) // m))
    room[:-1] += np.maximum(-(-(n - m - (oldest - begin)[1:]) // m), 0)
    cells = int(room.sum()) * m + n
    if cells > SPARSE * (len(cell) + int(count.sum())) or int(room.max()) * m + n > 4 * PORTION:
        return None
    return _portions(pieces, window, step, cell, first, begin, count, room)


def _portions(
    pieces: Pieces,
    window: Window,
    step: int,
    cell: Array,
    first: Array,
    begin: Array,
    count: Array,
    room: Array,
) -> Iterator[Grid]:
    """Runs in turn, so many at a time that their cells fit."""
    m = window.slide // step
    line = np.cumsum(room) * m
    cuts = np.flatnonzero(np.diff(line // PORTION)) + 1
    bounds = [0, *cuts.tolist(), len(first)]
    ends = np.append(first, len(cell))
    for low, high in pairwise(bounds):
        own, runs = slice(ends[low], ends[high]), slice(low, high)
        length = np.diff(ends[low : high + 1])
        origin = np.cumsum(room[runs]) * m - room[runs] * m - begin[runs]
        place = cell[own] + np.repeat(origin, length)
        part = pieces if len(bounds) == 2 else pieces.between(own)
        shape = first[runs] - ends[low], begin[runs], count[runs], room[runs]
        yield Grid(part, window, step, place, *shape)


def _step(shift: Array, window: Window) -> int:
    """The greatest length that divides range, slide and where pieces start."""
    step = gcd(window.range, window.slide)
    while step > 1:
        rest = shift % step
        off = np.flatnonzero(rest)
        if not len(off):
            break
        step = gcd(step, int(rest[off[0]]))
    return step


_COUNTING = Ufuncs((np.add,), (0,))


def _filled(values: Array, place: Array, cells: int, nothing: object) -> Array:
    line: Array = np.full(cells, nothing, dtype=values.dtype)
    line[place] = values
    return line
